"""Comparisons of runs."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ._document import Document, number
from ._run import Run
from ._runtime import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, Union

    from ._document import Verdict

    Judgement = Literal["better", "worse", "same", "can't tell"]
    Runs = Union[Run, Iterable[Run]]


class MetricComparison(Document):
    """A metric of both sides of a comparison."""

    __slots__ = ()

    @property
    def metric(self) -> str:
        """Name of the metric, such as "laptop.probe.p95_ms"."""
        return str(self._document["metric"])

    @property
    def baseline(self) -> float | None:
        """Median of the runs of the baseline; None for a time that never ended."""
        return number(self._document["baseline"])

    @property
    def value(self) -> float | None:
        """Median of the compared runs; None for a time that never ended."""
        return number(self._document["value"])

    @property
    def difference(self) -> float | None:
        """Difference between both sides (Hodges-Lehmann estimate); None if it is infinite."""
        return number(self._document["difference"])

    @property
    def judgement(self) -> Judgement:
        """ "better", "worse", "same" or "can't tell"."""
        found: Judgement = self._document["judgement"]
        return found

    def __repr__(self) -> str:
        return f"<MetricComparison {self.metric}: {self.baseline} → {self.value}, {self.judgement}>"


class Comparison(Document):
    """A comparison of runs with a baseline. `document` is that of `netburn compare --format json`."""

    __slots__ = ("_text",)

    def __init__(self, document: dict[str, Any], text: str) -> None:
        super().__init__(document)
        self._text = text

    @property
    def judgement(self) -> Judgement:
        """ "worse" if any metric is worse, else "better" if any is better; "same" if all are."""
        found: Judgement = self._document["judgement"]
        return found

    @property
    def verdict(self) -> Verdict:
        """Worst verdict of the compared runs."""
        found: Verdict = self._document["these"]["verdict"]
        return found

    @property
    def baseline_verdict(self) -> Verdict:
        """Worst verdict of the runs of the baseline."""
        found: Verdict = self._document["against"]["verdict"]
        return found

    @property
    def metrics(self) -> list[MetricComparison]:
        """Metrics that both sides have."""
        return [MetricComparison(metric) for metric in self._document["metrics"]]

    @property
    def better(self) -> list[str]:
        """Metrics that became better, such as "laptop.probe.p95_ms"."""
        return [metric.metric for metric in self.metrics if metric.judgement == "better"]

    @property
    def worse(self) -> list[str]:
        """Metrics that became worse."""
        return [metric.metric for metric in self.metrics if metric.judgement == "worse"]

    @property
    def runs_needed(self) -> int | None:
        """Number of runs of each side that a decision needs; None if there are enough."""
        needed = self._document["runs_needed"]
        return None if needed is None else int(needed)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        counts = f"{len(self.better)} better, {len(self.worse)} worse"
        return f"<Comparison: {self.judgement}, {counts}; verdict {self.baseline_verdict} → {self.verdict}>"

    def _repr_html_(self) -> str:
        from . import _html

        verdicts = f"{_html.badge(self.baseline_verdict)} → {_html.badge(self.verdict)}"
        rows = (
            [escape(m.metric), _html.number(m.baseline), _html.number(m.value), _html.badge(m.judgement)]
            for m in self.metrics
        )
        caption = f"{_html.badge(self.judgement)} verdict {verdicts}"
        return _html.table(caption, ["metric", "baseline", "value", "result"], rows)


def compare(these: Runs, against: Runs, *, tolerance: float | None = None) -> Comparison:
    """Compares runs with those of a baseline, as `netburn compare THESE --against AGAINST`.

        before = [nb.simulate("slow-neighbour", seed=seed) for seed in range(1, 9)]
        after = [nb.simulate(changed, seed=seed) for seed in range(1, 9)]
        nb.compare(after, against=before)

    Simulated runs with the same seed are compared in pairs. Fewer than three runs of a side decide nothing.

    `these`, `against`: a run or several runs each.
    `tolerance`: relative difference that is too small to matter, such as 0.05; default: that of each metric.

    Raises ValueError if a side has no run.
    """
    import json

    sides = [[runs] if isinstance(runs, Run) else list(runs) for runs in (these, against)]
    if not all(sides):
        raise ValueError("found no run, expected one or more of each side")
    names = [side[0].path.name if side[0].path else side[0].scenario_name for side in sides]
    if names[0] == names[1]:
        names = [f"{names[0]} (compared)", f"{names[1]} (baseline)"]
    natives = [[run._native for run in side] for side in sides]
    document, text = native.compare(natives[0], natives[1], names[0], names[1], tolerance)
    return Comparison(json.loads(document), text)
