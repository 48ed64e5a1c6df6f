"""Linear solvers of the caller: functions and objects of Python that solve the systems of implicit steps."""

import copy
import gc
import pickle
import sys
import threading
import weakref

import hooke
import numpy as np
import pytest


IMPLICIT = ["backward_euler", "linear_implicit_euler", "beta", "implicit_midpoint", "trapezoidal", "bdf2"]


def make_net(**scene):
    """A net under tension, so that each step has one minimum."""
    scene = hooke.Scene(**{"integrator": "backward_euler", "step": 0.005, **scene})
    springs = {"k": 300, "shear": True, "rest_scale": 0.5}
    scene.add_body(hooke.shapes.grid(nx=6, ny=5), springs=springs, mass=0.3)
    scene.add_pin("corners")
    scene.add_force("gravity")
    return scene


def make_pressed_chain():
    """A chain that is pressed to 0.4 of its length: its Hessian is indefinite at a large step."""
    scene = hooke.Scene(integrator="backward_euler", step=0.05)
    scene.add_body(hooke.shapes.chain(n=12), springs={"k": 1e4}, stretch=[0.4, 1, 1])
    scene.add_pin("ends")
    scene.add_force("gravity")
    return scene


def ldlt(integrator):
    if integrator in ("linear_implicit_euler", "beta"):
        return {"type": integrator, "linear": "ldlt"}
    return {"type": integrator, "minimizer": {"type": "newton", "linear": "ldlt"}}


def dense(A):
    matrix = np.zeros(A.shape)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    matrix[rows, A.indices] = A.data
    return matrix


class Cholesky:
    """A direct solver; numpy raises LinAlgError where the matrix is not positive definite."""

    direct = True

    def __init__(self):
        self.prepared = self.solved = self.indefinite = 0

    def prepare(self, A):
        self.prepared += 1
        try:
            self.factor = np.linalg.cholesky(dense(A))
        except np.linalg.LinAlgError:
            self.indefinite += 1
            raise

    def solve(self, A, b, tolerance):
        self.solved += 1
        return np.linalg.solve(self.factor.T, np.linalg.solve(self.factor, b))


class Answers(Cholesky):
    """A direct solver that says by its answer whether the matrix is positive definite."""

    def prepare(self, A):
        try:
            super().prepare(A)
        except np.linalg.LinAlgError:
            return False
        return True


def conjugate_gradients(A, b, tolerance):
    x, r, p = np.zeros_like(b), b.copy(), b.copy()
    rr = start = r @ r
    while rr > tolerance**2 * start:
        Ap = A @ p
        curvature = p @ Ap
        if curvature <= 0:
            raise np.linalg.LinAlgError
        x += rr / curvature * p
        r -= rr / curvature * Ap
        rr, previous = r @ r, rr
        p = r + rr / previous * p
    return x


class Products:
    """An iterative solver by products alone."""

    needs_matrix = False
    solve = staticmethod(conjugate_gradients)


class Problem(Exception):
    """What solvers of the tests raise."""


def sim_with(solve, **solver):
    """A simulation of the net by a direct solver, some functions or attributes of which are others."""
    return hooke.Sim(make_net(), linear_solver=type("Wrong", (Cholesky,), {"solve": solve, **solver})())


def direct_answer(self, A, b, tolerance):
    return np.linalg.solve(dense(A), b)


# ---- Motion --------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("make", [Cholesky, Answers, Products, lambda: conjugate_gradients])
def test_a_solver_in_python_gives_the_motion_of_ldlt(integrator, make):
    solver = make()
    sim = hooke.Sim(make_net(), integrator=integrator, linear_solver=solver)
    expected = hooke.Sim(make_net(), integrator=ldlt(integrator))
    start = sim.x.copy()
    assert sim.step(8) and expected.step(8)
    moved = np.abs(expected.x - start).max()
    tolerance = 1e-9 if getattr(solver, "direct", False) else 1e-5
    assert moved > 1e-3 and np.abs(sim.x - expected.x).max() < tolerance * moved
    if isinstance(solver, Cholesky):
        assert solver.solved >= solver.prepared - solver.indefinite >= 8
    assert sim.linear_solver is solver and expected.linear_solver is None


def test_the_integrator_of_the_scene_takes_the_solver():
    solver = Cholesky()
    sim = hooke.Sim(make_net(integrator="bdf2"), linear_solver=solver)
    assert sim.integrator.name == "bdf2" and "linear" not in repr(sim.integrator)
    sim.step()
    assert solver.solved > 0 and sim.step_info.residual < 1e-10


def test_steps_in_pieces_and_at_once_give_the_same_bits():
    sims = [hooke.Sim(make_net(), linear_solver=Cholesky()) for _ in range(2)]
    sims[0].step(7)
    for _ in range(7):
        sims[1].step()
    assert np.array_equal(sims[0].x, sims[1].x) and sims[0].time == sims[1].time


@pytest.mark.parametrize("make", [Cholesky, Answers])
def test_an_indefinite_matrix_is_projected(make):
    solver = make()
    sim = hooke.Sim(make_pressed_chain(), linear_solver=solver)
    expected = hooke.Sim(make_pressed_chain(), integrator=ldlt("backward_euler"))
    sim.step(), expected.step()
    assert solver.indefinite > 0 and sim.step_info.projections > 0
    assert sim.step_info.iterations == expected.step_info.iterations
    assert sim.x == pytest.approx(expected.x, abs=1e-9)


@pytest.mark.parametrize("solver", [conjugate_gradients, Products()], ids=["entries", "products"])
def test_a_solve_may_find_out_that_the_matrix_is_indefinite(solver):
    sim = hooke.Sim(make_pressed_chain(), linear_solver=solver)
    assert sim.step() and sim.step_info.projections > 0


def test_a_solver_that_does_not_solve_shows_in_the_report():
    sim = sim_with(lambda self, A, b, tolerance: 0.5 * direct_answer(self, A, b, tolerance))
    sim.step()
    assert sim.step_info.residual == pytest.approx(0.5, abs=1e-6)


# ---- The matrix ----------------------------------------------------------------------------------


def test_the_matrix_is_that_of_the_step():
    seen = []

    def look(A, b, tolerance):
        matrix = dense(A)
        p = np.linspace(-1, 1, len(b))
        seen.append((A.pattern, matrix, np.abs(A @ p - matrix @ p).max(), tolerance))
        assert np.array_equal(A @ p, A.matvec(p)) and (A @ list(p)).shape == A.shape[:1]
        return np.linalg.solve(matrix, b)

    sim = hooke.Sim(make_net(), integrator="linear_implicit_euler", linear_solver=look)
    M, K = np.repeat(sim.model.masses, 3), sim.stiffness()
    sim.step()
    pattern, matrix, difference, tolerance = seen[0]
    free = np.repeat(~np.isin(np.arange(len(sim.x)), sim.model.pins), 3)
    expected = np.diag(M) - sim.h**2 * K.toarray() if hasattr(K, "toarray") else None
    assert matrix.shape == (90, 90) and 0 < tolerance < 1
    assert matrix == pytest.approx(matrix.T, abs=1e-12 * np.abs(matrix).max())
    assert difference < 1e-12 * np.abs(matrix).max()
    assert not matrix[np.ix_(~free, free)].any() and (matrix.diagonal() > 0).all()
    if expected is not None:
        assert matrix[np.ix_(free, free)] == pytest.approx(expected[np.ix_(free, free)], abs=1e-9)


def test_the_pattern_changes_with_a_force_between_other_vertices():
    patterns = []

    def solve(A, b, tolerance):
        patterns.append((A.pattern, len(A.data)))
        return np.linalg.solve(dense(A), b)

    sim = hooke.Sim(make_net(), linear_solver=solve)
    sim.step(3)
    assert len(set(patterns)) == 1
    blocks = [7, 7, 22, 22], [7, 22, 7, 22], np.array([np.eye(3), -np.eye(3), -np.eye(3), np.eye(3)])
    sim.model.add_force(
        lambda t, x, v: None, energy=lambda t, x: 0.0, hessian=lambda t, x: blocks
    )
    sim.step()
    assert patterns[-1][0] != patterns[0][0] and patterns[-1][1] == patterns[0][1] + 2 * 9


def test_arrays_of_the_matrix_are_read_only_views():
    def solve(A, b, tolerance):
        for array in (A.indptr, A.indices, A.data, b):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        assert A.data is A.data and not A.data.flags.owndata
        assert (A.indptr.dtype, A.indices.dtype, A.data.dtype) == (np.int64, np.int32, np.float64)
        assert len(A.indices) == len(A.data) == A.indptr[-1] and "90 rows" in repr(A)
        return np.linalg.solve(dense(A), b)

    assert hooke.Sim(make_net(), linear_solver=solve).step()


def test_a_csr_matrix_is_a_copy_that_may_be_kept():
    sparse = pytest.importorskip("scipy.sparse")
    kept = []

    def solve(A, b, tolerance):
        kept.append((A.tocsr(), dense(A), b))
        return np.linalg.solve(kept[-1][1], b)

    sim = hooke.Sim(make_net(), linear_solver=solve)
    sim.step(2)
    del sim
    gc.collect()
    for matrix, expected, b in kept:
        assert isinstance(matrix, sparse.csr_matrix) and b.shape == (90,)
        assert np.array_equal(matrix.toarray(), expected)


def test_scipy_takes_the_matrix_as_a_linear_operator():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    sim = hooke.Sim(make_net(), linear_solver=lambda A, b, tolerance: linalg.minres(A, b)[0])
    expected = hooke.Sim(make_net(), integrator=ldlt("backward_euler"))
    sim.step(3), expected.step(3)
    assert sim.x == pytest.approx(expected.x, abs=1e-5)


def test_a_solver_by_products_has_no_entries():
    pytest.importorskip("scipy")  # of tocsr

    def solve(A, b, tolerance):
        for name in ("indptr", "indices", "data", "tocsr"):
            with pytest.raises(hooke.InvalidError, match="needs_matrix = False"):
                value = getattr(A, name)
                value()
        return conjugate_gradients(A, b, tolerance)

    solve.needs_matrix = False
    assert hooke.Sim(make_net(), linear_solver=solve).step()


def test_wrong_vectors_of_a_product_are_refused():
    wrong = [(np.zeros(3), r"A @ p: expected the shape \(90,\), got \(3,\)"), (np.full(90, np.nan), "not finite"),
             ("p", "expected numbers")]

    def solve(A, b, tolerance):
        for p, message in wrong:
            with pytest.raises((hooke.InvalidError, TypeError), match=message):
                A @ p
        return np.linalg.solve(dense(A), b)

    assert hooke.Sim(make_net(), linear_solver=solve).step()


def test_a_matrix_is_not_valid_after_the_call():
    kept = []

    def solve(A, b, tolerance):
        kept.append(A)
        return np.linalg.solve(dense(A), b)

    sim = hooke.Sim(make_net(), linear_solver=solve)
    assert sim.step()
    del sim
    for use in (lambda A: A.data, lambda A: A @ np.zeros(90), lambda A: A.indices, lambda A: A.indptr):
        with pytest.raises(hooke.InvalidError, match="valid only during the call"):
            use(kept[0])
    assert "no longer valid" in repr(kept[0]) and kept[0].shape == (90, 90)


@pytest.mark.parametrize("keep", [lambda A: A.data, lambda A: A.indices[3:5], lambda A: memoryview(A.indptr)])
@pytest.mark.parametrize("function", ["prepare", "solve"])
def test_a_solver_that_keeps_arrays_of_the_matrix_is_refused(function, keep):
    kept = []

    class Keeps(Cholesky):
        def prepare(self, A):
            super().prepare(A)
            if function == "prepare":
                kept.append(keep(A))

        def solve(self, A, b, tolerance):
            if function == "solve":
                kept.append(keep(A))
            return super().solve(A, b, tolerance)

    sim = hooke.Sim(make_net(), linear_solver=Keeps())
    with pytest.raises(hooke.InvalidError, match=rf"{function}\(\) of linear solver 'Keeps': keeps arrays of A"):
        sim.step()
    kept.clear()
    assert sim.time == 0


def test_arrays_in_a_cycle_are_not_kept():
    def solve(A, b, tolerance):
        cycle = [A.data]
        cycle.append(cycle)
        return np.linalg.solve(dense(A), b)

    assert hooke.Sim(make_net(), linear_solver=solve).step()


def test_the_matrix_is_for_the_thread_of_the_call():
    raised = []

    def solve(A, b, tolerance):
        def use():
            with pytest.raises(RuntimeError, match="thread"):
                A @ b
            raised.append(True)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        return np.linalg.solve(dense(A), b)

    assert hooke.Sim(make_net(), linear_solver=solve).step() and raised


# ---- Exceptions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("problem", [Problem, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("function", ["prepare", "solve"])
def test_an_exception_of_a_solver_is_that_of_the_step(function, problem, integrator):
    class Failing(Cholesky):
        fails = failed = 0

        def check(self, name):
            if self.fails and name == function:
                self.failed += 1
                raise problem("here")

        def prepare(self, A):
            self.check("prepare")
            super().prepare(A)

        def solve(self, A, b, tolerance):
            self.check("solve")
            return super().solve(A, b, tolerance)

    solver = Failing()
    sim, expected = (hooke.Sim(make_net(), integrator=integrator, linear_solver=s) for s in (solver, Cholesky()))
    sim.step(3), expected.step(6)
    before = [sim.x.copy(), sim.v.copy(), sim.time]
    solver.fails = True
    with pytest.raises(problem, match="here"):
        sim.step(3)
    assert solver.failed == 1 and sim.time == before[2]
    assert np.array_equal(sim.x, before[0]) and np.array_equal(sim.v, before[1])
    solver.fails = False
    sim.step(3)
    assert np.array_equal(sim.x, expected.x) and sim.time == expected.time


@pytest.mark.parametrize("integrator", ["backward_euler", "linear_implicit_euler", "trapezoidal"])
def test_an_exception_ends_an_adaptive_step_with_moving_pins(integrator):
    calls = []

    def solve(A, b, tolerance):
        calls.append(tolerance)
        if len(calls) == fails_at:
            raise Problem
        return np.linalg.solve(dense(A), b)

    def make():
        scene = make_net(tolerance=1e-3, step=0.02)
        scene.add_pin([14], motion=hooke.motions.oscillation(frequency=2))
        return hooke.Sim(scene, integrator=integrator, linear_solver=solve)

    fails_at = 0
    sim = make()
    sim.step()
    before, total = [sim.x.copy(), sim.v.copy(), sim.time], len(calls)
    sim.step()
    assert len(calls) - total > 6 and sim.step_info.substeps > 2
    sim, fails_at = make(), len(calls) + total + (len(calls) - total) // 2  # in the middle of the second step
    for _ in range(2):
        with pytest.raises(Problem):
            sim.step(5)
        assert np.array_equal(sim.x, before[0]) and np.array_equal(sim.v, before[1]) and sim.time == before[2]
        fails_at = len(calls) + 3


def test_an_exception_of_a_force_ends_the_solves():
    solver, calls = Cholesky(), []

    def hessian(t, x):
        calls.append(solver.prepared)
        raise Problem

    sim = hooke.Sim(make_net(), linear_solver=solver)
    sim.model.add_force(lambda t, x, v: None, energy=lambda t, x: 0.0, hessian=hessian)
    with pytest.raises(Problem):
        sim.step()
    assert calls == [0] and solver.prepared == solver.solved == 0 and sim.time == 0


def test_an_exception_ends_a_traced_step():
    def solve(A, b, tolerance):
        raise Problem

    sim = hooke.Sim(make_net(), linear_solver=solve)
    with pytest.raises(Problem):
        sim.trace_step()
    assert sim.time == 0


def test_a_solver_cannot_step_its_simulation():
    def solve(A, b, tolerance):
        sim.step()

    sim = hooke.Sim(make_net(), linear_solver=solve)
    with pytest.raises(RuntimeError, match="another thread is using this simulation"):
        sim.step()
    assert sim.time == 0


WRONG = {
    "none": (lambda self, A, b, tolerance: None, r"solve\(\) of linear solver 'Wrong': expected numbers, got None"),
    "short": (lambda self, A, b, tolerance: b[:5], r"expected the shape \(90,\), got \(5,\)"),
    "matrix": (lambda self, A, b, tolerance: b.reshape(30, 3), r"expected the shape \(90,\), got \(30, 3\)"),
    "words": (lambda self, A, b, tolerance: "x", "expected numbers, got 'x'"),
    "complex": (lambda self, A, b, tolerance: b * 1j, "expected numbers, got an array of complex128"),
    "nan": (lambda self, A, b, tolerance: b * np.nan, r"solve\(\) of linear solver 'Wrong': .*not finite"),
    "infinite": (lambda self, A, b, tolerance: b + np.inf, "not finite"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_answers_of_a_solver_are_refused(case):
    solve, message = WRONG[case]
    sim = sim_with(solve)
    before = sim.x.copy()
    with pytest.raises((hooke.InvalidError, TypeError), match=message):
        sim.step()
    assert sim.time == 0 and np.array_equal(sim.x, before)


def test_a_wrong_answer_of_prepare_is_refused():
    sim = sim_with(direct_answer, prepare=lambda self, A: "yes")
    with pytest.raises(TypeError, match=r"prepare\(\) of linear solver 'Wrong': expected True, False or None, got 'yes'"):
        sim.step()


def test_what_is_no_solver_is_refused():
    class Empty:
        solve = 3

    class Odd(Cholesky):
        direct = "yes"

    class Unprepared(Cholesky):
        prepare = 3

    wrong = [(3, "expected a function solve"), ("ldlt", "expected a function solve"), (Cholesky, "make one of it"),
             (Empty(), r"solve\(\) of linear solver 'Empty': expected a function, got 3"),
             (Odd(), "direct of linear solver 'Odd': expected True or False, got 'yes'"),
             (Unprepared(), r"prepare\(\) of linear solver 'Unprepared': expected a function")]
    for solver, message in wrong:
        with pytest.raises(TypeError, match=message):
            hooke.Sim(make_net(), linear_solver=solver)
    with pytest.raises(hooke.InvalidError, match="verlet solves no linear systems"):
        hooke.Sim(make_net(), integrator="verlet", linear_solver=Cholesky())


# ---- Lifetimes -----------------------------------------------------------------------------------


def test_a_solver_lives_as_long_as_its_simulation():
    solver = Cholesky()
    alive = weakref.ref(solver)
    sim = hooke.Sim(make_net(), linear_solver=solver)
    handle, state = sim._handle, sim.state
    del solver, sim
    gc.collect()
    assert alive() is not None and handle.steps(2) and alive().solved > 0 and state.time > 0
    del handle
    assert alive() is None


def test_a_solver_of_a_refused_simulation_is_released():
    solver = Cholesky()
    alive = weakref.ref(solver)
    with pytest.raises(hooke.InvalidError):
        hooke.Sim(make_net(), integrator="verlet", linear_solver=solver)
    del solver
    gc.collect()
    assert alive() is None


def test_a_solver_that_holds_its_simulation_is_collected():
    class Holds(Cholesky):
        sim = None

    solver = Holds()
    sim = solver.sim = hooke.Sim(make_net(), linear_solver=solver)
    sim.step()
    alive = [weakref.ref(sim), weakref.ref(solver)]
    del sim, solver
    gc.collect()
    assert [reference() for reference in alive] == [None, None]


def test_a_solver_may_step_while_the_collector_finalizes_it():
    steps = []

    class Last(Cholesky):
        def __del__(self):
            steps.append(self.handle.steps(1))

    solver = Last()
    solver.handle = hooke.Sim(make_net(), linear_solver=solver)._handle
    del solver
    gc.collect()
    assert steps == [True]


def test_calls_and_exceptions_do_not_leak():
    def fail(self, A, b, tolerance):
        raise Problem

    def work(count):
        for _ in range(count):
            for solver in (Cholesky(), Products()):
                hooke.Sim(make_net(), integrator="linear_implicit_euler", linear_solver=solver).step(2)
            sim = sim_with(fail)
            with pytest.raises(Problem):
                sim.step()
        gc.collect()
        return sys.getallocatedblocks()

    count = 30
    blocks = [work(count) for _ in range(12)]
    assert min(np.diff(blocks)) < count  # less than one block each; caches fill up in the first rounds


def test_simulations_with_solvers_run_in_threads():
    sims = [hooke.Sim(make_net(), linear_solver=Cholesky()) for _ in range(3)]
    sims[0].step(20)
    threads = [threading.Thread(target=sim.step, args=(20,)) for sim in sims[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(sims[0].x, sims[1].x) and np.array_equal(sims[0].x, sims[2].x)


# ---- Copies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_have_the_solver(again):
    sim = hooke.Sim(make_net(), linear_solver=Cholesky())
    sim.step(3)
    other = again(sim)
    before = other.linear_solver.solved
    assert isinstance(other.linear_solver, Cholesky)
    for _ in range(5):  # one after the other: copies that share the solver do not disturb each other
        sim.step(), other.step()
    assert np.array_equal(sim.x, other.x) and other.linear_solver.solved > before


def test_a_simulation_with_a_local_solver_cannot_be_pickled():
    sim = hooke.Sim(make_net(), linear_solver=lambda A, b, tolerance: np.linalg.solve(dense(A), b))
    with pytest.raises(hooke.InvalidError, match="and so its simulation, cannot be pickled"):
        pickle.dumps(sim)
    assert copy.deepcopy(sim).step()
