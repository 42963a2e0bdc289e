"""Ctrl-C during a simulation."""

PROGRAM = """
try:
    nb.simulate(nb.scenario("slow-neighbour", {"duration": "24h"}), progress=progress)
except KeyboardInterrupt:
    print("interrupted", flush=True)
# The interpreter still works.
print(nb.simulate(nb.scenario("slow-neighbour", {"duration": "31s"})).seed)
"""


def test_ctrl_c_ends_a_simulation(interrupted):
    assert interrupted(PROGRAM) == ("interrupted\n1\n", 0)
