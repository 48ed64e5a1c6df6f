"""Models on ranks: programs that mpirun starts twice or more. Without the plug-in, mpirun or mpi4py these tests skip."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import hooke
import pytest

petsc = pytest.mark.skipif(
    "HOOKE_TEST_PETSC" not in os.environ or shutil.which("mpirun") is None,
    reason="no plug-in libhooke_petsc was built, or there is no mpirun")

BEGIN = """
import gc, os, sys
import hooke, numpy as np

def make(ranks, **more):
    return hooke.Sim("curtain", integrator="verlet", h=1e-4, ranks=ranks, threads=1, **more)
"""


def start(program, folder, count=2, needs_mpi4py=True):
    """What a program prints that mpirun starts on some ranks, and its exit status."""
    if needs_mpi4py:
        pytest.importorskip("mpi4py")
    path = folder / "program.py"
    path.write_text(BEGIN + textwrap.dedent(program))
    environment = {**os.environ, "HOOKE_PLUGINS": os.environ["HOOKE_TEST_PETSC"], "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader", "-n", str(count),
         sys.executable, str(path)], capture_output=True, text=True, timeout=120, env=environment, cwd=folder)
    return done.stdout, done.returncode, done.stderr


def check(program, folder, count=2, needs_mpi4py=True):
    """The program ends well on all ranks, each of which prints the word good."""
    output, status, errors = start(program, folder, count, needs_mpi4py)
    assert status == 0, errors
    assert output.count("good") == count, output + errors


@petsc
@pytest.mark.parametrize("count", [1, 2, 3])
def test_positions_are_those_of_one_process(tmp_path, count):
    check("""
        with hooke.Ranks() as ranks:
            sim, one = make(ranks), make(None)
            sim.step(50)
            one.step(50)
            part = sim.model.part
            assert (ranks.size, ranks.rank) == (int(os.environ["OMPI_COMM_WORLD_SIZE"]), int(os.environ["OMPI_COMM_WORLD_RANK"]))
            assert part.total == len(one.model) and part.owned == (~part.ghost).sum() and part.number.dtype == np.int64
            assert (sim.x == one.x[part.number])[~part.ghost].all()
            assert sim.device == sim.model.device == "petsc" and sim.model.ranks is ranks and one.model.part is None
            assert abs(sim.state_info().kinetic / one.state_info().kinetic - 1) < 1e-12
            print("good")
    """, tmp_path, count, needs_mpi4py=False)


@petsc
def test_a_communicator_of_mpi4py_joins_some_processes(tmp_path):
    check("""
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        some = world.Split(world.rank % 2, world.rank)
        if world.rank % 2 == 0:
            sim = hooke.Scene.builtin("curtain").compile(ranks=hooke.Ranks(some), threads=1)
            assert sim.ranks.size == 2 and world.size == 3
            assert some.allreduce(sim.part.owned) == sim.part.total
        print("good")
    """, tmp_path, 3)


@petsc
def test_ranks_may_be_opened_again(tmp_path):
    check("""
        for _ in range(3):
            with hooke.Ranks(options=["-mat_type", "baij"]) as ranks:
                make(ranks).step(2)
            try:
                make(ranks)
            except hooke.InvalidError as error:
                assert "closed" in str(error)
        print("good")
    """, tmp_path, needs_mpi4py=False)


@petsc
@pytest.mark.parametrize("mpi", ["", "from mpi4py import MPI"])
def test_objects_may_outlive_their_ranks_and_the_interpreter(tmp_path, mpi):
    check(f"""
        {mpi}
        with hooke.Ranks() as ranks:
            sim = make(ranks)
        sim.step(2)
        x, hooke.kept = sim.x, [sim, sim.copy()]
        hooke.kept.append(hooke.kept)
        del sim, ranks
        gc.collect()
        assert np.isfinite(x).all()
        print("good")
    """, tmp_path, needs_mpi4py=bool(mpi))


@petsc
@pytest.mark.parametrize("deleted", [True, False])
def test_objects_may_outlive_mpi(tmp_path, deleted):
    check(f"""
        from mpi4py import MPI
        ranks = hooke.Ranks(MPI.COMM_WORLD)
        sim = make(ranks)
        sim.step(2)
        MPI.Finalize()
        if {deleted}:
            del sim, ranks
            gc.collect()
        try:
            hooke.Ranks()
        except hooke.UnsupportedError as error:
            assert "MPI has ended" in str(error)
            print("good")
    """, tmp_path)


@petsc
def test_an_exception_on_one_rank_ends_all(tmp_path):
    output, status, errors = start("""
        ranks = hooke.Ranks()
        sim = make(ranks)
        if ranks.rank == 1:
            raise RuntimeError("of one rank")
        sim.step(10)
    """, tmp_path, needs_mpi4py=False)
    assert status != 0 and "of one rank" in errors


@petsc
def test_what_ranks_cannot_do_is_refused(tmp_path):
    check("""
        import copy, pickle
        ranks = hooke.Ranks()
        sim = make(ranks)
        for wrong, exception in [
            (lambda: pickle.dumps(sim), TypeError),
            (lambda: sim.page(), hooke.UnsupportedError),
            (lambda: make(ranks, device="cuda"), hooke.InvalidError),
            (lambda: hooke.Sim(sim.model, ranks=hooke.Ranks()), hooke.InvalidError),
            (lambda: hooke.Ranks(options="-log_view"), TypeError),
            (lambda: hooke.Ranks(5), TypeError),
        ]:
            try:
                wrong()
            except exception:
                continue
            raise AssertionError(exception)
        fork, model = sim.copy(), sim.model.copy()
        fork.step(3)
        sim.step(3)
        assert (fork.x == sim.x).all() and model.ranks is ranks and len(model) == len(sim.model)
        motion = sim.advance(0.01)
        assert len(motion.energies) == 2
        print("good")
    """, tmp_path)


@petsc
def test_the_program_of_the_document_runs(tmp_path):
    text = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()
    code = text.split("## On several processes")[1].split("```python")[1].split("```")[0]
    output, status, errors = start(code, tmp_path, needs_mpi4py=False)
    assert status == 0 and "2 ranks" in output, errors


def test_the_device_petsc_needs_ranks(cloth):
    with pytest.raises(hooke.InvalidError, match="ranks="):
        hooke.Sim(cloth, device="petsc")
    assert hooke.Sim(cloth).model.part is None


def test_without_the_plug_in_ranks_are_refused(tmp_path):
    if "HOOKE_TEST_PETSC" in os.environ:
        pytest.skip("the plug-in is there")
    with pytest.raises(hooke.UnsupportedError, match="petsc"):
        hooke.Ranks()
