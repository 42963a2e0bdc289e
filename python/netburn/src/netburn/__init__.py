"""Tests and simulates networks with several simultaneous clients, and explains slow results.

    import netburn as nb

    scenario = nb.scenario("slow-neighbour", {"ap.home.queue": "airtime"})
    run = nb.simulate(scenario, seed=1)
    run.verdict                      # "fail", "marginal", "pass", …
    run["laptop"]["probe"].p95_ms    # 95th percentile of the round trips in ms
    run.operations                   # a table for pandas, polars, DuckDB or pyarrow

Times are in ms, rates in Mbit/s (10⁶ bit/s), shares 0 to 1. A value that is unknown, or that has too few samples, is
None. A simulation with the same scenario, seed and version gives the same result on every machine.
"""

from ._runtime import native as _native
from ._comparison import Comparison, MetricComparison, compare
from ._decode import decode
from ._explanation import Cause, Change, Explanation
from ._fit import Estimate, Fit, fit
from ._run import Run, explain, read_record, simulate
from ._scenario import Scenario, built_in_scenarios, parse_scenario, scenario
from ._summary import Goal, Latency, Station, Workload
from ._sweep import Sweep, steps, sweep
from ._version import __version__
from ._worker import VersionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._execute import run
    from ._fits import fits
    from ._lab import Counters, Lab, LabError, LinkEvent, Node, lab
    from ._process import Process

Error = _native.Error
Problem = _native.Problem
RecordError = _native.RecordError
RunError = _native.RunError
ScenarioError = _native.ScenarioError
Table = _native.Table

__all__ = [
    "Cause",
    "Change",
    "Comparison",
    "Counters",
    "Error",
    "Estimate",
    "Explanation",
    "Fit",
    "Goal",
    "Lab",
    "LabError",
    "Latency",
    "LinkEvent",
    "MetricComparison",
    "Node",
    "Problem",
    "Process",
    "RecordError",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Station",
    "Sweep",
    "Table",
    "VersionError",
    "Workload",
    "__version__",
    "built_in_scenarios",
    "compare",
    "decode",
    "explain",
    "fit",
    "fits",
    "lab",
    "parse_scenario",
    "read_record",
    "run",
    "scenario",
    "simulate",
    "steps",
    "sweep",
]

_LATER = {
    **dict.fromkeys(("Counters", "Lab", "LabError", "LinkEvent", "Node", "lab"), "_lab"),
    "Process": "_process",
    "fits": "_fits",
    "run": "_execute",
}
"""Names whose modules need processes or executors: they are imported when they are used, because the import takes time."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'netburn' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
