"""Runs of a sweep, and fits, in a worker of an executor: another thread, process or machine."""

from __future__ import annotations

import json
import os
import tempfile
import time
import zlib

from . import _patch
from ._runtime import native
from ._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Union

    from ._run import Run

    Job = tuple[int, _patch.Patch]
    """Number of a run, and the difference between the base and its plan."""
    Answer = tuple[str, float, Union[bytes, None]]
    """Version, seconds, and the compressed results. None if the base is needed."""
    Fitted = tuple[str, Union[str, None], str]
    """Version, the document of a fit, and the reason if there is none."""


class VersionError(native.Error):
    """A worker has another version of netburn than the process that started the sweep."""


KEPT_BASES = 8
"""Bases that a worker keeps, so that each is sent once."""

_bases: dict[str, Any] = {}


def simulate(version: str, digest: str, base: str | None, jobs: Sequence[Job]) -> Answer:
    """Simulates a batch. The plan of a run is the base with the run's changes.

    `digest` identifies the base, a plan as a JSON document. A worker that does not know it needs `base`; it then returns
    no results, and the caller sends the batch again with the base.

    Raises VersionError if the caller's version differs from that of this worker.
    """
    check(worker=__version__, caller=version)
    if base is not None:
        while len(_bases) >= KEPT_BASES:
            # Another thread may have removed the same one.
            _bases.pop(next(iter(_bases)), None)
        _bases[digest] = json.loads(base)
    document = _bases.get(digest)
    if document is None:
        return __version__, 0.0, None
    begun = time.monotonic()
    results = []
    for run, patch in jobs:
        plan = json.dumps(_patch.apply(patch, document))
        results.append((run, native.simulate_plan(plan, str(run + 1))))
    compressed = zlib.compress(json.dumps(results).encode(), 1)
    return __version__, time.monotonic() - begun, compressed


def results(compressed: bytes) -> list[tuple[int, str]]:
    """Numbers of runs with their summaries.

    Raises ValueError if the content is not that of `simulate`.
    """
    try:
        found = json.loads(zlib.decompress(compressed))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not (isinstance(found, list) and all(isinstance(one, list) and len(one) == 2 for one in found)):
        raise ValueError("found another JSON document")
    return [(run, summary) for run, summary in found]


def packed(run: Run) -> dict[str, bytes]:
    """Files of the record of a run, without those that other commands added."""
    if run.path is None:
        with tempfile.TemporaryDirectory(prefix="netburn-") as folder:
            return _files(run.save(os.path.join(folder, "run")).path)
    return _files(run.path)


def _files(folder: str | os.PathLike[str] | None) -> dict[str, bytes]:
    assert folder is not None
    files = {}
    for entry in os.scandir(folder):
        if entry.is_file() and (entry.name == "run.json" or entry.name.endswith(".parquet")):
            with open(entry.path, "rb") as file:
                files[entry.name] = file.read()
    return files


def fit(version: str, record: dict[str, bytes], seed: int) -> Fitted:
    """Fits a model to a packed record on one processor.

    Raises VersionError if the caller's version differs from that of this worker.
    """
    check(worker=__version__, caller=version)
    with tempfile.TemporaryDirectory(prefix="netburn-") as folder:
        for name, content in record.items():
            with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                file.write(content)
        run = native.read_record(folder)
        try:
            return __version__, native.fit(run, seed, 1).document(), ""
        except native.RunError as error:
            return __version__, None, str(error)


def check(worker: str, caller: str) -> None:
    """Raises VersionError if the versions differ."""
    if worker != caller:
        raise VersionError(
            f"a worker has netburn {worker}, expected netburn {caller} as in the process that started the work\n"
            f"help: run `pip install netburn=={caller}` for the workers"
        )
