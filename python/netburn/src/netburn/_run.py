"""Runs: simulated, or read from records."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from ._document import item, texts, verdict
from ._explanation import Cause, Explanation
from ._progress import Reporter
from ._runtime import native
from ._scenario import Scenario, scenario
from ._summary import Station

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars

    from ._document import Verdict
    from ._progress import Progress


class Run(Mapping[str, Station]):
    """The results of a run. It maps the names of the stations to their results.

    `operations`, `intervals`, `airtime`, `connections`, `link`, `observed` and `events` are its tables. Each has the columns that
    the reference of the record describes, for pandas, polars, DuckDB, pyarrow and others:

        polars.DataFrame(run.operations)
        pandas.DataFrame.from_arrow(run.operations)
        pyarrow.table(run.operations)
    """

    __slots__ = ("_causes", "_document", "_native", "_notes", "_stations", "_tables")

    def __init__(self, of: native.Run, notes: Sequence[str] = ()) -> None:
        self._native = of
        self._notes = list(notes)
        self._document: dict[str, Any] | None = None
        self._stations: dict[str, Station] | None = None
        self._causes: tuple[list[Cause], list[str]] | None = None
        self._tables: dict[str, native.Table] = {}

    @property
    def summary(self) -> dict[str, Any]:
        """The summary: the document that `netburn report --format json` prints."""
        if self._document is None:
            import json

            self._document = json.loads(self._native.summary())
        return self._document

    @property
    def stations(self) -> Mapping[str, Station]:
        """Stations by name, in the order of the scenario."""
        if self._stations is None:
            metrics: dict[str, dict[str, dict[str, float | None]]] = {}
            for station, workload, values in self._native.metrics():
                metrics.setdefault(station, {})[workload] = dict(values)
            self._stations = {of["name"]: Station(of, metrics[of["name"]]) for of in self.summary["stations"]}
        return self._stations

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """Numbers of the whole run by the names that sweeps, comparisons and exports use: "worst_p95_ms", …"""
        return dict(self._native.metrics()[0][2])

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the stations; "inconclusive" if one was not measured, unless one fails."""
        return verdict(self.summary)

    @property
    def provisional(self) -> bool:
        """True if there are too few samples to be sure."""
        return bool(self.summary["provisional"])

    @property
    def reasons(self) -> list[str]:
        """Reasons for which the whole run is inconclusive. Stations have their own."""
        return texts(self.summary["reasons"])

    @property
    def scenario_name(self) -> str:
        """Name of the scenario."""
        return str(self.summary["scenario"])

    @property
    def environment(self) -> str:
        """Environment of the run: "simulate", "lab", "local", "fleet" or "imported"."""
        return str(self.summary["environment"])

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return int(self.summary["seed"])

    @property
    def duration_s(self) -> float:
        """Planned duration of the load in s."""
        return float(self.summary["duration_s"])

    @property
    def throughput_mbps(self) -> float:
        """Content of all stations in the evaluated time in Mbit/s."""
        return float(self.summary["totals"]["throughput_mbps"])

    @property
    def path(self) -> Path | None:
        """Folder of the record; None for a run in memory."""
        return self._native.path

    @property
    def notes(self) -> list[str]:
        """Notes on keys of the scenario that had no effect in the simulator."""
        return self._notes

    @property
    def plan(self) -> dict[str, Any]:
        """The plan of the run: the scenario with all defaults."""
        import json

        plan: dict[str, Any] = json.loads(self._native.plan())
        return plan

    @property
    def causes(self) -> list[Cause]:
        """Likely causes of missed goals, the most severe first.

        Raises RecordError if the tables of a record can't be read.
        """
        return self._explained()[0]

    @property
    def explanation(self) -> list[str]:
        """Likely causes as lines of text, as `netburn report` prints them; empty if nothing was found."""
        return self._explained()[1]

    def _explained(self) -> tuple[list[Cause], list[str]]:
        if self._causes is None:
            import json

            document, lines = self._native.explain()
            self._causes = ([Cause(cause) for cause in json.loads(document)["causes"]], lines)
        return self._causes

    def table(self, name: str) -> native.Table:
        """Returns a table by name.

        Raises ValueError for an unknown name, and RecordError if the table of a record can't be read.
        """
        if name not in self._tables:
            self._tables[name] = self._native.table(name)
        return self._tables[name]

    @property
    def operations(self) -> native.Table:
        """Operations, with the due time, start, end and outcome of each."""
        return self.table("operations")

    @property
    def intervals(self) -> native.Table:
        """Bytes of each workload in every 100 ms."""
        return self.table("intervals")

    @property
    def airtime(self) -> native.Table:
        """Airtime, queue and drops of each station in every 100 ms."""
        return self.table("airtime")

    @property
    def connections(self) -> native.Table:
        """Samples of TCP connections: round-trip time, congestion window, delivery rate."""
        return self.table("connections")

    @property
    def link(self) -> native.Table:
        """Samples of each station's Wi-Fi link."""
        return self.table("link")

    @property
    def observed(self) -> native.Table:
        """Values that observed access points reported. Empty in a run that observed none."""
        return self.table("observed")

    @property
    def events(self) -> native.Table:
        """Events: stalls, roaming, changes, warnings."""
        return self.table("events")

    def to_pandas(self, table: str = "workloads") -> pandas.DataFrame:
        """Returns results for pandas: a row for each station and workload, or a table such as "operations".

        Whole numbers are int64, or the nullable Int64 if values can be missing.

        Raises ImportError without pandas and pyarrow, and as `table`.
        """
        import pandas

        if table == "workloads":
            return pandas.DataFrame(self._rows()).convert_dtypes()
        import pyarrow  # type: ignore[import-untyped,unused-ignore]

        types = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.uint64(): pandas.UInt64Dtype()}
        read = pyarrow.table(self.table(table))
        required = {field.name: field.type for field in read.schema if not field.nullable}
        frame = read.to_pandas(types_mapper=types.get)
        whole = {name: str(kind) for name, kind in required.items() if kind in types}
        return frame.astype(whole)

    def to_polars(self, table: str = "workloads") -> polars.DataFrame:
        """Returns results for polars: a row for each station and workload, or a table such as "operations".

        Raises ImportError without polars, and as `table`.
        """
        import polars

        return polars.DataFrame(self._rows() if table == "workloads" else self.table(table))

    def _rows(self) -> list[dict[str, Any]]:
        """A row for each station and workload."""
        return [
            {
                "station": station.name,
                "station_verdict": station.verdict,
                "airtime_share": station.airtime_share,
                "idle_ms": station.idle_latency_ms,
                "workload": workload.name,
                "kind": workload.kind,
                "verdict": workload.verdict,
                "goals_met": min((goal.met for goal in workload.goals if goal.met is not None), default=None),
                "throughput_mbps": workload.throughput_mbps,
                "operations": workload.operations,
                "failures": workload.failures,
                "p50_ms": workload.p50_ms,
                "p95_ms": workload.p95_ms,
                "p99_ms": workload.p99_ms,
                "max_ms": workload.latency.max_ms,
            }
            for station in self.stations.values()
            for workload in station.values()
        ]

    def _repr_html_(self) -> str:
        from html import escape

        from . import _html

        rows = (
            [
                escape(row["station"]),
                _html.badge(row["station_verdict"]),
                escape(row["workload"]),
                _html.badge(row["verdict"]),
                _html.percent(row["goals_met"]),
                *(_html.number(row[name]) for name in ("throughput_mbps", "p50_ms", "p95_ms")),
            ]
            for row in self._rows()
        )
        head = ["station", "verdict", "workload", "goal", "met", "Mbit/s", "p50 ms", "p95 ms"]
        caption = f"{_html.badge(self.verdict)} {escape(self.scenario_name)}, on {self.environment}, seed {self.seed}"
        return _html.table(caption, head, rows)

    def save(self, folder: str | os.PathLike[str]) -> Run:
        """Writes the record to a folder, or to FOLDER-2 and so on if it exists. Returns the run of that folder.

        The commands of netburn read it: `netburn report`, `compare`, `export`.

        Raises RecordError if the run is already recorded, or the folder can't be written.
        """
        return Run(self._native.save(os.fspath(folder)), self._notes)

    def __getitem__(self, name: str) -> Station:
        return item(self.stations, name, "station")

    def __iter__(self) -> Iterator[str]:
        return iter(self.stations)

    def __len__(self) -> int:
        return len(self.stations)

    def __repr__(self) -> str:
        return f"<Run of {self.scenario_name}: {self.verdict}, stations {', '.join(self)}>"


def simulate(of: Scenario | str | os.PathLike[str], seed: int | None = None, progress: Progress = None) -> Run:
    """Simulates one run of a scenario, and keeps the results in memory.

    The same scenario, seed and version give the same results on every machine. Other threads of Python continue.

    `of`: a scenario, or the path or name of one.
    `seed`: seed of all random numbers, 0 to 2⁶⁴ − 1; default: that of the scenario.
    `progress`: a function that gets the finished share, 0 to 1, a few times a second; False: no progress; default: a
    line on standard error, on a terminal and in a notebook, from one second on.

    Raises ScenarioError if the scenario is invalid, ValueError if its `repeat` is not 1, RunError if there is no result,
    KeyboardInterrupt after Ctrl-C.
    """
    if not isinstance(of, Scenario):
        of = scenario(of)
    with Reporter("simulating", progress) as reporter:
        return Run(*native.simulate(of._native, seed, reporter.report))


def explain(
    run: Run, runs: int = 8, duration: str | None = None, *, threads: int | None = None, progress: Progress = None
) -> Explanation:
    """Returns the likely causes of missed goals, and simulates changes that may remove them.

    Each change and the unchanged scenario are simulated with the same seeds, also for a run of another environment. The
    statistics are those of `netburn explain`.

    `runs`: number of simulations of each change; fewer than 3 give no result; 0 simulates nothing.
    `duration`: duration of each simulation, such as "20 s"; default: that of the run.
    `threads`: number of threads; default: one for each processor.
    `progress`: as for `simulate`.

    Raises RecordError if the tables of the record can't be read, and ScenarioError if the duration is invalid.
    """
    import json

    with Reporter("explaining", progress) as reporter:
        document, lines = run._native.explain_with_changes(runs, duration, threads, reporter.report)
    return Explanation(json.loads(document), lines)


def read_record(folder: str | os.PathLike[str]) -> Run:
    """Reads the record of a run in any environment, without changes to it.

    Raises RecordError if it is not a record, is still written, is damaged, or is of a newer version.
    """
    return Run(native.read_record(os.fspath(folder)))
