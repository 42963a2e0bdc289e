from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, final

__all__ = [
    "Error",
    "Fit",
    "Problem",
    "RecordError",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "SweepFolder",
    "Table",
    "__version__",
    "built_in",
    "check_measurement",
    "compare",
    "decode",
    "fit",
    "fit_of_document",
    "load",
    "parse",
    "read_record",
    "simulate",
    "simulate_plan",
]

__version__: str

class Error(Exception):
    """Base class of all errors of netburn."""

class ScenarioError(Error):
    """A scenario, or a change of one, is invalid.

    The text is that of the command, with the lines of the file. `problems` has all problems; the other attributes are
    those of the first one.
    """

    file: str
    """Path of the file, or name of the built-in scenario."""
    key: str | None
    """Path of the key; None if the problem concerns no key."""
    message: str
    """Description of the problem, with the value found."""
    help: str | None
    """Expected value, or a suggestion."""
    line: int | None
    """Line in the file, from 1; None for a change."""
    column: int | None
    """Column in the line, in characters, from 1."""
    problems: list[Problem]
    """All problems, in the order of the file."""

class RunError(Error):
    """A run, a sweep or a fit has no result, or its result can't be stored."""

class RecordError(Error):
    """A folder is not a record, or can't be read or written."""

@final
class Problem:
    """One problem of a scenario."""

    def __new__(
        cls, key: str | None, message: str, help: str | None, line: int | None, column: int | None
    ) -> Problem: ...
    def __getnewargs__(self) -> tuple[str | None, str, str | None, int | None, int | None]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @property
    def key(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    @property
    def help(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...

@final
class Scenario:
    @property
    def origin(self) -> str: ...
    def with_changes(self, changes: list[tuple[str, str]]) -> Scenario: ...
    def check(self) -> None: ...
    def plan(self, environment: str) -> tuple[str, list[str]]: ...
    def describe(self, environment: str) -> list[str]: ...

@final
class Run:
    @property
    def path(self) -> Path | None: ...
    @staticmethod
    def table_names() -> list[str]: ...
    def summary(self) -> str: ...
    def metrics(self) -> list[tuple[str, str, list[tuple[str, float | None]]]]: ...
    def plan(self) -> str: ...
    def explain(self) -> tuple[str, list[str]]: ...
    def explain_with_changes(
        self,
        runs: int,
        duration: str | None = None,
        threads: int | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> tuple[str, list[str]]: ...
    def table(self, name: str) -> Table: ...
    def save(self, folder: str | PathLike[str]) -> Run: ...

@final
class Table:
    """A table in memory. pandas, polars, DuckDB, pyarrow and others read it through the Arrow PyCapsule interface."""

    def __len__(self) -> int:
        """Number of rows."""
    @property
    def columns(self) -> list[tuple[str, str, str]]:
        """Name, unit and meaning of each column, in order. The unit is empty without one."""
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class Fit:
    def document(self) -> str: ...
    def samples(self) -> Table: ...
    def observations(self) -> Table: ...

@final
class Sweep:
    def __new__(
        cls,
        scenario: Scenario,
        varied: list[tuple[str, list[str]]],
        repeat: int | None = None,
        skip_impossible: bool = False,
        progress: Callable[[float], object] | None = None,
    ) -> Sweep: ...
    @property
    def cells(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def keys(self) -> list[str]: ...
    @property
    def skipped(self) -> str | None: ...
    @property
    def metrics(self) -> list[str]: ...
    def open(
        self,
        path: str | PathLike[str] | None = None,
        shard: str | None = None,
        metric: str | None = None,
        precision: str | None = None,
    ) -> SweepFolder: ...

@final
class SweepFolder:
    @property
    def path(self) -> Path: ...
    def due(self) -> tuple[list[int], int]: ...
    def merge(self, other: str | PathLike[str]) -> int: ...
    def run(self, threads: int | None = None, progress: Callable[[float], object] | None = None) -> int: ...
    def plan(self, run: int) -> str: ...
    def keep(self, run: int, summary: str) -> None: ...
    def finish(self) -> tuple[Table, Table, list[str], int]: ...
    def close(self) -> None: ...

def load(name_or_path: str) -> Scenario: ...
def parse(text: str, origin: str) -> Scenario: ...
def built_in() -> list[str]: ...
def decode(rating: str, client: str, stations: int, nodes: int) -> str: ...
def simulate(
    scenario: Scenario, seed: int | None = None, progress: Callable[[float], object] | None = None
) -> tuple[Run, list[str]]: ...
def compare(
    these: list[Run], against: list[Run], name: str, baseline: str, tolerance: float | None = None
) -> tuple[str, str]: ...
def fit(
    run: Run, seed: int, threads: int | None = None, progress: Callable[[float], object] | None = None
) -> Fit: ...
def check_measurement(run: Run) -> None: ...
def fit_of_document(run: Run, document: str) -> Fit: ...
def read_record(folder: str | PathLike[str]) -> Run: ...
def simulate_plan(plan: str, name: str) -> str: ...
