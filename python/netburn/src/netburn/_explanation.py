"""Likely causes of missed goals, and simulated changes."""

from __future__ import annotations

from ._document import Document, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._document import Verdict


class Cause(Document):
    """A likely cause of missed goals, with its evidence."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """Name of the rule: "slow-neighbour", "download-bloat", …"""
        return str(self._document["kind"])

    @property
    def severity(self) -> str:
        """ "notable", "serious" or "measurement"."""
        return str(self._document["severity"])

    @property
    def title(self) -> str:
        """The cause in one line."""
        return str(self._document["title"])

    @property
    def evidence(self) -> str:
        """One or two sentences with values."""
        return str(self._document["evidence"])

    @property
    def advice(self) -> str:
        """Suggested remedy."""
        return str(self._document["advice"])

    @property
    def stations(self) -> list[str]:
        """Affected stations."""
        return list(self._document["stations"])

    @property
    def by(self) -> list[str]:
        """Stations that cause the problem."""
        return list(self._document["by"])

    def __repr__(self) -> str:
        return f"<Cause {self.kind}: {self.title}>"


class Change(Document):
    """A simulated change that may remove a cause, compared with the unchanged scenario."""

    __slots__ = ()

    @property
    def cause(self) -> str:
        """Kind of the cause."""
        return str(self._document["cause"])

    @property
    def label(self) -> str:
        """Description of the change."""
        return str(self._document["label"])

    @property
    def effort(self) -> str:
        """Effort: "setting", "program", "place", "firmware", "software", "cable", "purchase" or "provider"."""
        return str(self._document["effort"])

    @property
    def changes(self) -> dict[str, str]:
        """Keys and values, for `Scenario.with_changes`."""
        return dict(self._document["set"])

    @property
    def verdict(self) -> Verdict:
        """Worst verdict of the runs with the change."""
        return verdict(self._document)

    @property
    def better(self) -> list[str]:
        """Metrics that became better, such as "laptop.probe.p95_ms"."""
        return self._judged("better")

    @property
    def worse(self) -> list[str]:
        """Metrics that became worse."""
        return self._judged("worse")

    def _judged(self, judgement: str) -> list[str]:
        metrics = self._document["metrics"]
        return [str(metric["metric"]) for metric in metrics if metric["judgement"] == judgement]

    def __repr__(self) -> str:
        return f"<Change {self.label}: {self.verdict}, {len(self.better)} better, {len(self.worse)} worse>"


class Explanation(Document):
    """Likely causes of missed goals, and simulated changes. `document` is that of `netburn explain --format json`."""

    __slots__ = ("_lines",)

    def __init__(self, document: dict[str, Any], lines: list[str]) -> None:
        super().__init__(document)
        self._lines = lines

    @property
    def causes(self) -> list[Cause]:
        """Likely causes, the most severe first."""
        return [Cause(cause) for cause in self._document["causes"]]

    @property
    def changes(self) -> list[Change]:
        """Simulated changes, in the order of the causes."""
        return [Change(change) for change in self._document["what_ifs"]]

    @property
    def not_simulated(self) -> list[str]:
        """Reasons why the simulator has no change for a cause."""
        return list(self._document["not_simulated"])

    @property
    def verdict(self) -> Verdict | None:
        """Worst verdict of the simulated runs without a change; None if nothing was simulated."""
        return None if self._document["verdict"] is None else verdict(self._document)

    def __str__(self) -> str:
        return "\n".join([*self._lines, *map(repr, self.changes), *self.not_simulated])

    def _repr_html_(self) -> str:
        from html import escape

        from . import _html

        causes = "".join(
            f"<li><strong>{escape(cause.title)}.</strong> {escape(cause.evidence)}<br><em>{escape(cause.advice)}</em></li>"
            for cause in self.causes
        )
        text = f"<p>Likely causes:</p><ol>{causes}</ol>" if causes else "<p>No likely cause was found.</p>"
        if not self.changes:
            return text
        rows = (
            [_html.badge(change.verdict), str(len(change.better)), str(len(change.worse)), escape(change.label)]
            for change in self.changes
        )
        return text + _html.table("Simulated changes", ["verdict", "better", "worse", "change"], rows)

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.causes)} causes, {len(self.changes)} changes>"
