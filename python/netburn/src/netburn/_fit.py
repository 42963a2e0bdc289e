"""Models of measured networks."""

from __future__ import annotations

import os

from ._document import Document
from ._progress import Reporter
from ._run import Run, read_record
from ._runtime import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._progress import Progress


class Estimate(Document):
    """A parameter of a fitted model."""

    __slots__ = ()

    @property
    def key(self) -> str:
        """Key of the scenario, which is also the column of `Fit.samples`."""
        return str(self._document["key"])

    @property
    def unit(self) -> str:
        """Unit of the values: "ms", "Mbit/s", "KiB", "share", "packets" or "dBm"."""
        return str(self._document["unit"])

    @property
    def median(self) -> float:
        """Median."""
        return float(self._document["median"])

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the 90 % interval."""
        low, high = self._document["interval"]
        return float(low), float(high)

    @property
    def prior(self) -> tuple[float, float]:
        """Bounds of the 90 % interval before the measurement."""
        low, high = self._document["prior"]
        return float(low), float(high)

    @property
    def identified(self) -> bool:
        """True if the run identifies the parameter. Otherwise the median is one value among many possible ones."""
        return bool(self._document["identified"])

    @property
    def needs(self) -> str | None:
        """Measurement that would identify the parameter; None if it is identified."""
        needs = self._document["needs"]
        return None if needs is None else str(needs)

    def __repr__(self) -> str:
        low, high = self.interval
        found = "" if self.identified else ", not identified"
        return f"<Estimate {self.key}: {self.median:.4g} {self.unit} ({low:.4g} to {high:.4g}){found}>"


class Fit(Document):
    """A model that was fitted to a measured run. `document` is that of `netburn fit --format json`.

    `samples` and `observations` are tables for pandas, polars, DuckDB, pyarrow and others.
    """

    __slots__ = ("_native", "_observations", "_samples")

    def __init__(self, of: native.Fit) -> None:
        import json

        super().__init__(json.loads(of.document()))
        self._native = of
        self._samples: native.Table | None = None
        self._observations: native.Table | None = None

    @property
    def explains(self) -> bool:
        """True if the model explains the run. Otherwise do not rely on it."""
        return bool(self._document["explains"])

    @property
    def misfit(self) -> float:
        """Mean square of the differences between the run and the model, in standard deviations. 1 is expected, 4 is the
        limit."""
        return float(self._document["misfit"])

    @property
    def estimates(self) -> list[Estimate]:
        """Parameters of the model."""
        return [Estimate(estimate) for estimate in self._document["estimates"]]

    @property
    def disciplines(self) -> dict[str, float]:
        """Queue disciplines of the access point with their probabilities, the likeliest first."""
        return {str(one["queue"]): float(one["probability"]) for one in self._document["disciplines"]}

    @property
    def scenario(self) -> str:
        """The model as the text of a scenario, with a comment for each key: `parse_scenario(fit.scenario)`."""
        return str(self._document["scenario"])

    @property
    def assumptions(self) -> list[str]:
        """Assumptions of the model."""
        return list(self._document["assumptions"])

    @property
    def gaps(self) -> list[str]:
        """Properties of the network that the run can't show."""
        return list(self._document["gaps"])

    @property
    def unexplained(self) -> list[str]:
        """Measured values that are far from those of the model."""
        return list(self._document["unexplained"])

    @property
    def samples(self) -> native.Table:
        """Samples of the posterior: a row for each model.

        The columns are `discipline`, `probability`, and one for each parameter with its unit. The probabilities sum to 1.
        A parameter that the discipline does not have is null.
        """
        if self._samples is None:
            self._samples = self._native.samples()
        return self._samples

    @property
    def observations(self) -> native.Table:
        """Measured values beside those of the models: a row for each phase, station and quantity.

        `low` and `high` are the bounds of the 90 % interval of a measured value, if the model is right.
        """
        if self._observations is None:
            self._observations = self._native.observations()
        return self._observations

    def __repr__(self) -> str:
        found = sum(estimate.identified for estimate in self.estimates)
        explains = "explains" if self.explains else "does not explain"
        return f"<Fit: {explains} the run, {found} of {len(self.estimates)} parameters identified>"

    def _repr_html_(self) -> str:
        from html import escape

        from . import _html

        rows = (
            [
                escape(one.key),
                _html.number(one.median),
                f"{_html.number(one.interval[0])} to {_html.number(one.interval[1])}",
                escape(one.unit),
                "yes" if one.identified else escape(f"no, would need {one.needs}"),
            ]
            for one in self.estimates
        )
        head = ["parameter", "median", "90 % interval", "unit", "identified"]
        return _html.table(escape(repr(self)), head, rows)


def fit(
    run: Run | str | os.PathLike[str], seed: int = 1, threads: int | None = None, *, progress: Progress = None
) -> Fit:
    """Fits a model of the network to a measured run, as `netburn fit` does. It simulates some hundred models.

    `run`: a run or the folder of its record. It must be a measurement: of `netburn measure`, or of a scenario that
    `netburn scenarios measure` prints.
    `seed`: seed of the fit. The same seed gives the same result on any number of processors.
    `threads`: number of processors; default: all.
    `progress`: as for `simulate`.

    Nothing is stored in the folder of the run.

    Raises RecordError if the folder is not a record, RunError if the run is no measurement or is not reliable, and
    KeyboardInterrupt after Ctrl-C.
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads: found {threads}, expected at least 1")
    if not isinstance(run, Run):
        run = read_record(run)
    with Reporter("fitting", progress) as reporter:
        return Fit(native.fit(run._native, seed, threads, reporter.report))
