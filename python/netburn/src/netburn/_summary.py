"""The summary of a run: its stations, their workloads and goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ._document import Document, Judged, item, number, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Latency(Document):
    """A distribution of times in ms.

    Operations that never ended rank above all others. A percentile among them is None, as one that the number of
    samples does not support.
    """

    __slots__ = ()

    @property
    def count(self) -> int:
        """Samples, those without an end included."""
        return int(self._document["count"])

    @property
    def unbounded(self) -> int:
        """Operations that never ended."""
        return int(self._document["unbounded"])

    @property
    def min_ms(self) -> float | None:
        """Minimum in ms."""
        return number(self._document["min"])

    @property
    def p50_ms(self) -> float | None:
        """Median in ms; from 6 samples."""
        return number(self._document["p50"])

    @property
    def p75_ms(self) -> float | None:
        """75th percentile in ms; from 12 samples."""
        return number(self._document["p75"])

    @property
    def p90_ms(self) -> float | None:
        """90th percentile in ms; from 30 samples."""
        return number(self._document["p90"])

    @property
    def p95_ms(self) -> float | None:
        """95th percentile in ms; from 60 samples."""
        return number(self._document["p95"])

    @property
    def p99_ms(self) -> float | None:
        """99th percentile in ms; from 300 samples."""
        return number(self._document["p99"])

    @property
    def max_ms(self) -> float | None:
        """Maximum in ms of those that ended."""
        return number(self._document["max"])

    def __repr__(self) -> str:
        return f"<Latency of {self.count}: {self.p50_ms} ms median, {self.p95_ms} ms p95>"


class Goal(Judged):
    """A goal with its verdict."""

    __slots__ = ()

    @property
    def goal(self) -> str:
        """Text: "page load ≤ 500 ms"."""
        return str(self._document["goal"])

    @property
    def kind(self) -> str:
        """Kind: "latency" and others."""
        return str(self._document["kind"])

    @property
    def met(self) -> float | None:
        """Share of the samples within the limit, 0 to 1."""
        return number(self._document["met"])

    @property
    def excess(self) -> float | None:
        """The worst sample divided by the limit."""
        return number(self._document["excess"])

    @property
    def samples(self) -> int:
        """Number of samples."""
        return int(self._document["samples"])

    def __repr__(self) -> str:
        return f"<Goal {self.goal}: {self.verdict}>"


class Workload(Judged):
    """The results of a workload of a station.

    Results of one kind of workload only are in `metrics`, and in `document`: "player", "probe", "voice", "segments",
    "streams", "responsiveness".
    """

    __slots__ = ("_metrics",)

    def __init__(self, document: dict[str, Any], metrics: Mapping[str, float | None]) -> None:
        super().__init__(document)
        self._metrics = metrics

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """All numbers by the names that sweeps, comparisons and exports use: "p95_ms", "lost_share", "stalls", …"""
        return self._metrics

    @property
    def name(self) -> str:
        """Name."""
        return str(self._document["name"])

    @property
    def kind(self) -> str:
        """Kind: "pages", "stream", "calls", "download", "upload", "probe", "voice", "datagrams", "game", …"""
        return str(self._document["kind"])

    @property
    def operations(self) -> int:
        """Operations that count: finished, failed, timed out, not started, unfinished."""
        return int(self._document["operations"])

    @property
    def goal_misses(self) -> int:
        """Operations that missed the latency goal for any reason; without such a goal, those that never started."""
        return int(self._document["goal_misses"])

    @property
    def failures(self) -> int:
        """Operations that failed or timed out."""
        return int(self._document["failures"])

    @property
    def timeouts(self) -> int:
        """Operations that timed out."""
        return int(self._document["timeouts"])

    @property
    def unfinished(self) -> int:
        """Operations in progress after the end of the run, and older than their goal."""
        return int(self._document["unfinished"])

    @property
    def not_started(self) -> int:
        """Operations that never started, because too many were running."""
        return int(self._document["not_started"])

    @property
    def throughput_mbps(self) -> float:
        """Content in the evaluated time in Mbit/s, both directions."""
        return float(self._document["throughput_mbps"])

    @property
    def latency(self) -> Latency:
        """From the due time of an operation to its end. Without answers (voice, datagrams, games): the one-way delay."""
        return Latency(self._document["latency_ms"])

    @property
    def p50_ms(self) -> float | None:
        """Median latency in ms; None if there are too few samples."""
        return self.latency.p50_ms

    @property
    def p95_ms(self) -> float | None:
        """95th percentile of the latency in ms; None if there are too few samples."""
        return self.latency.p95_ms

    @property
    def p99_ms(self) -> float | None:
        """99th percentile of the latency in ms; None if there are too few samples."""
        return self.latency.p99_ms

    @property
    def goals(self) -> list[Goal]:
        """Goals with their verdicts."""
        return [Goal(goal) for goal in self._document["goals"]]

    def __repr__(self) -> str:
        return f"<Workload {self.name}: {self.verdict}>"


class Station(Judged, Mapping[str, Workload]):
    """The results of a station. It maps the names of its workloads to their results."""

    __slots__ = ("_metrics", "_workloads")

    def __init__(self, document: dict[str, Any], metrics: Mapping[str, Mapping[str, float | None]]) -> None:
        """`metrics`: those of each workload, and those of the station under an empty name."""
        super().__init__(document)
        self._metrics = metrics[""]
        self._workloads = {
            workload["name"]: Workload(workload, metrics[workload["name"]]) for workload in document["workloads"]
        }

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """Numbers of the station by the names that sweeps, comparisons and exports use: "airtime_share", …"""
        return self._metrics

    @property
    def name(self) -> str:
        """Name."""
        return str(self._document["name"])

    @property
    def reasons(self) -> list[str]:
        """Reasons for which the results are inconclusive."""
        return texts(self._document["reasons"])

    @property
    def throughput_mbps(self) -> float:
        """Content in the evaluated time in Mbit/s, both directions."""
        return float(self._document["throughput_mbps"])

    @property
    def airtime_share(self) -> float | None:
        """Share of the airtime of all stations, 0 to 1. None if there is no airtime or it is unknown."""
        return number(self._document["airtime_share"])

    @property
    def idle_latency_ms(self) -> float | None:
        """Median round trip before the load in ms."""
        return number(self._document["idle_latency_ms"])

    @property
    def workloads(self) -> Mapping[str, Workload]:
        """Workloads by name."""
        return self._workloads

    def __getitem__(self, name: str) -> Workload:
        return item(self._workloads, name, "workload")

    def __iter__(self) -> Iterator[str]:
        return iter(self._workloads)

    def __len__(self) -> int:
        return len(self._workloads)

    def __repr__(self) -> str:
        return f"<Station {self.name}: {self.verdict}, workloads {', '.join(self)}>"
