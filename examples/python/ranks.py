"""A block of jelly on several processes, which a communicator of mpi4py joins: how its energy goes from one kind to another.

    mpirun -n 2 python3 ranks.py [PICTURE]
"""

import sys

import numpy as np
from mpi4py import MPI

import hooke

world = MPI.COMM_WORLD
scene = hooke.Scene("A block of jelly", integrator="verlet", step=2e-4)
scene.add_body(hooke.shapes.block(nx=13, ny=13, nz=13), springs={"k": 500}, mass=2)
scene.add_pin("left")
scene.add_force("gravity")

with hooke.Ranks(world) as ranks:
    sim = hooke.Sim(scene, ranks=ranks)
    part = sim.model.part  # the vertices of this rank, and ghosts of those of others
    infos = [sim.state_info()]  # of all ranks, on every rank
    for _ in range(20):
        sim.step(50)
        infos.append(sim.state_info())
    sag = world.allreduce(float(sim.x[~part.ghost, 1].min()), op=MPI.MIN)
    owned = world.gather(part.owned)
    del sim

energies = hooke.Energies(infos)
if world.rank == 0:
    print(f"{part.total} vertices, of which the ranks own {owned}; lowest point {sag:.4f} m")
    for time, kinetic, spring, total in zip(energies.time[::5], energies.kinetic[::5], energies.spring[::5], energies.total[::5]):
        print(f"{time:.2f} s: kinetic {kinetic:.4f} J, springs {spring:.4f} J, total {total:.4f} J")
    assert sum(owned) == part.total
    assert np.ptp(energies.total) < 1e-3 * energies.kinetic.max()

if world.rank == 0 and len(sys.argv) > 1:
    from matplotlib import pyplot

    pyplot.plot(energies.time, energies.kinetic, label="kinetic")
    pyplot.plot(energies.time, energies.spring, label="springs")
    pyplot.xlabel("t (s)")
    pyplot.ylabel("energy (J)")
    pyplot.legend()
    pyplot.savefig(sys.argv[1])
