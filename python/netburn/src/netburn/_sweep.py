"""Sweeps: a scenario simulated for every combination of the values of some keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from . import _values
from ._progress import Reporter
from ._runtime import native
from ._scenario import Scenario, scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path
    from typing import Union

    from ._progress import Progress

    Values = Union[Sequence[_values.Value], Iterable[_values.Value]]


def steps(first: str | float, last: str | float, step: str | float) -> list[str]:
    """Returns the values from `first` to `last`, both included if the last step ends there.

    `steps("-82 dBm", "-62 dBm", "5 dB")` is "-82 dBm", "-77 dBm", …, "-62 dBm". The values have the unit of the ends.
    The step can have the unit of the ends or none; steps of dBm are in dB. Decimals are exact: `steps(0.1, 0.3, 0.1)`.

    Raises ValueError for units that differ, a step that is not positive, or a first value above the last.
    """
    from decimal import Decimal

    def split(value: str | float) -> tuple[Decimal, str]:
        text = str(value).strip()
        end = next((place for place, c in enumerate(text) if c not in "+-.0123456789"), len(text))
        try:
            return Decimal(text[:end]), text[end:]
        except ArithmeticError:
            raise ValueError(f"found `{text}`, expected a number with an optional unit") from None

    (low, unit), (high, other), (by, by_unit) = split(first), split(last), split(step)
    if unit.strip() != other.strip():
        raise ValueError(f"the ends `{first}` and `{last}` have different units")
    if by_unit.strip() not in ("", unit.strip(), "dB" if unit.strip() == "dBm" else unit.strip()):
        raise ValueError(f"the step `{step}` has another unit than the ends, `{unit.strip()}`")
    if by <= 0:
        raise ValueError(f"found the step `{step}`, expected a positive number")
    if low > high:
        raise ValueError(f"found `{first}` to `{last}`; write the smaller number first")
    count = int((high - low) / by) + 1
    return [f"{low + by * number:f}{unit}" for number in range(count)]


class Sweep:
    """A sweep. All its cells were checked."""

    __slots__ = ("_effects", "_left", "_medians", "_native", "_out", "_path")

    def __init__(self, of: native.Sweep, out: str | os.PathLike[str] | None) -> None:
        self._native = of
        self._out = out
        self._path: Path | None = None
        self._medians: native.Table | None = None
        self._effects: list[str] = []
        self._left: int | None = None

    @property
    def keys(self) -> list[str]:
        """Varied keys. The last one varies fastest."""
        return self._native.keys

    @property
    def cells(self) -> int:
        """Number of cells: combinations of values."""
        return self._native.cells

    @property
    def runs(self) -> int:
        """Number of runs: cells × repeat."""
        return self._native.runs

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, which are columns of the rows: "worst_p95_ms", "laptop.probe.p95_ms", …"""
        return self._native.metrics

    @property
    def skipped(self) -> str | None:
        """Message for invalid cells, if they are skipped."""
        return self._native.skipped

    @property
    def path(self) -> Path | None:
        """Folder of the sweep; None before the first run without `out`."""
        return self._path

    @property
    def medians(self) -> native.Table | None:
        """Table of the last execution with one row for each cell; None before the first.

        Columns: the keys, "runs", and for each metric the median over the runs and the ends of its 95 % confidence
        interval: "worst_p95_ms", "worst_p95_ms low", "worst_p95_ms high". Fewer than six runs have no interval.
        """
        return self._medians

    @property
    def effects(self) -> list[str]:
        """Effects of the keys and of their pairs on the metric of the last execution, as sentences."""
        return self._effects

    @property
    def left(self) -> int | None:
        """Runs that are unfinished after the last execution, those of all shards included; None before the first."""
        return self._left

    def run(
        self,
        *,
        threads: int | None = None,
        executor: Executor | None = None,
        metric: str | None = None,
        precision: str | float | None = None,
        shard: str | None = None,
        merge: Iterable[str | os.PathLike[str]] = (),
        progress: Progress = None,
    ) -> native.Table:
        """Simulates the unfinished runs, and returns the rows of all finished runs as a table.

        Each finished run is stored at once. After an interruption or an error, another call continues the sweep, and so
        does `netburn sweep` with the same arguments. The folder gets the files that the command writes.

        `threads`: number of threads; default: one for each processor.
        `executor`: an executor of concurrent.futures or with the same interface, such as `client.get_executor()` of dask.
        Its workers simulate batches of runs and need the same version of netburn. They need no access to the folder.
        `metric`: column of the chart and of the effects; default: "worst_p95_ms".
        `precision`, with `metric`: repeat each cell only until half of the 95 % confidence interval of the metric's median is at most
        this: "5%" of the median, or a number in the metric's unit. `repeat` of the sweep is then the maximum.
        `shard`: "3/16" for the third of sixteen shards. Other processes can execute the other shards in the same folder.
        `merge`: folders of the same sweep whose finished runs are added first.
        `progress`: as for `simulate`.

        Raises VersionError if a worker has another version, RecordError if a folder is of another sweep, is in use or
        can't be written, RunError if a run fails or an executor loses results, KeyboardInterrupt after Ctrl-C.
        """
        if threads is not None and (threads < 1 or executor is not None):
            raise ValueError("found both threads and an executor" if executor is not None else f"found {threads} threads, expected 1 or more")
        if metric is not None and metric not in self.metrics:
            raise ValueError(f"unknown metric `{metric}`; expected one of {', '.join(self.metrics)}")
        if shard is not None and self._out is None and self._path is None:
            raise ValueError("a shard needs a folder: use the argument `out` of `sweep`")
        out = self._out if self._path is None else self._path
        width = None if precision is None else str(precision)
        folder = self._native.open(None if out is None else os.fspath(out), shard, metric, width)
        self._path = folder.path
        with Reporter("sweep", progress) as reporter:
            try:
                for other in merge:
                    folder.merge(other)
                if executor is None:
                    folder.run(threads, reporter.report)
                else:
                    # Only for executors: the import takes time.
                    from ._batches import Batches

                    Batches(folder, executor).simulate(reporter)
            finally:
                # Also with the runs that were finished before an error.
                try:
                    rows, self._medians, self._effects, self._left = folder.finish()
                finally:
                    folder.close()
        return rows

    def _repr_html_(self) -> str:
        from html import escape

        caption = escape(f"Sweep of {', '.join(self.keys)}: {self.cells} cells, {self.runs} runs")
        effects = "".join(f"<li>{escape(effect)}</li>" for effect in self.effects)
        medians = "" if self.medians is None else self.medians._repr_html_()
        return f"<p>{caption}</p>{medians}<ul>{effects}</ul>" if effects else f"<p>{caption}</p>{medians}"

    def __repr__(self) -> str:
        return f"<Sweep of {', '.join(self.keys)}: {self.cells} cells, {self.runs} runs>"


def _listed(text: str) -> str:
    """The list that was probably meant by a value in the notation of `--vary`."""
    import re

    part = r"\s*([-+\u2212]?[0-9]+(?:\.[0-9]+)?)\s*([^.]*?)\s*"
    found = re.fullmatch(rf"{part}\.\.{part}(?:\.\.{part})?", text)
    if not found:
        return f"write it as [{text!r}]" if "," not in text else f"write it as {[value.strip() for value in text.split(',')]!r}"
    first, unit, last, _, step, step_unit = found.groups()
    if not unit and step is None and all(re.fullmatch(r"[-+]?[0-9]+", end) for end in (first, last)):
        return f"write it as range({int(first)}, {int(last) + 1})"
    ends = [f"{value} {of}".strip() if of else value for value, of in ((first, unit), (last, unit), (step or "1", step_unit or ""))]
    return f"write it as nb.steps({', '.join(map(repr, ends))})"


def sweep(
    of: Scenario | str | os.PathLike[str],
    vary: Mapping[str, Values],
    repeat: int | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    skip_impossible: bool = False,
    progress: Progress = None,
) -> Sweep:
    """Prepares the simulation of a scenario for every combination of values.

        sweep = nb.sweep(scenario, {"ap.home.queue": ["fifo", "airtime"],
                                    "station.tablet.signal": nb.steps("-82 dBm", "-62 dBm", "5 dB")}, repeat=20)
        rows = sweep.run()

    `of`: a scenario, or the path or name of one.
    `vary`: keys with their values, as for `Scenario.with_changes`. The last key varies fastest.
    `repeat`: number of runs of each cell, each with its own seed; default: that of the scenario.
    `out`: folder; the folder of the same sweep continues it. Default: sweeps/TIME-SCENARIO.
    `skip_impossible`: cells that are invalid become rows with the verdict "impossible", instead of an error.
    `progress`: as for `simulate`, for the check of all cells.

    Raises ScenarioError if a key is unknown or a cell is invalid.
    """
    if not isinstance(of, Scenario):
        of = scenario(of)
    varied = []
    for key, values in vary.items():
        if isinstance(values, (str, bytes)):
            raise TypeError(f"{key}: found one value, `{values!s}`, expected a list of values\nhelp: {_listed(str(values))}")
        varied.append((key, [_values.text(value) for value in values]))
    with Reporter("checking", progress) as reporter:
        return Sweep(native.Sweep(of._native, varied, repeat, skip_impossible, reporter.report), out)
