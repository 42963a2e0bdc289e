"""Batches of a sweep's runs for the workers of an executor."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait

from . import _patch, _worker
from ._runtime import native
from ._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor, Future
    from typing import Any

    from ._progress import Reporter

BATCH_S = 1.0
"""Duration of a batch. Shorter batches cost more for each run, longer ones lose more when a worker dies."""

FIRST_RUNS = 1
"""Runs of a batch before the duration of a run is known."""

MAX_RUNS = 1000
"""Maximum number of runs of a batch."""

AHEAD = 64
"""Maximum number of batches that wait or run if the number of workers is unknown."""


class Batches:
    """Simulates runs of an open sweep folder in the workers of an executor. Each result is stored when it arrives."""

    def __init__(self, folder: native.SweepFolder, executor: Executor) -> None:
        self._folder = folder
        self._executor = executor
        self._workers: int | None = getattr(executor, "_max_workers", None)
        self._run_s: float | None = None
        self._base: Any = None
        self._base_text = ""
        self._digest = ""

    def simulate(self, reporter: Reporter) -> None:
        """Simulates all runs that are due, and then those that are due because of their results.

        Raises VersionError if a worker has another version, RunError if the executor lost or changed results, and any
        error of the executor. All results that arrived before are stored.
        """
        runs, at_first = self._folder.due()
        left = at_first
        while runs:
            done = self._round(runs, lambda finished: reporter.share(1 - (left - finished) / at_first))
            assert done == len(runs)
            runs, left = self._folder.due()

    def _round(self, runs: Sequence[int], report: Any) -> int:
        waiting: dict[Future[_worker.Answer], list[_worker.Job]] = {}
        left = deque(runs)
        again: deque[list[_worker.Job]] = deque()
        done = 0
        try:
            while left or again or waiting:
                while (left or again) and len(waiting) < self._ahead():
                    # A worker that did not know the base gets it with the batch.
                    base = self._base_text if again else None
                    jobs = again.popleft() if again else self._jobs(left)
                    future = self._executor.submit(_worker.simulate, __version__, self._digest, base, jobs)
                    waiting[future] = jobs
                wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                # `wait` does not return a future that was cancelled before it began.
                ended = [future for future in waiting if future.done()]
                errors: list[BaseException] = []
                for future in ended:
                    jobs = waiting.pop(future)
                    try:
                        stored = self._store(future, jobs)
                    except (Exception, CancelledError) as error:
                        errors.append(error)
                        continue
                    if stored is None:
                        again.append(jobs)
                    else:
                        done += stored
                if errors:
                    # The results of all other batches that ended are stored.
                    raise errors[0]
                report(done)
        except BaseException:
            # Also of an executor that takes no more batches: results that have arrived are stored.
            for future in [future for future in waiting if future.done()]:
                with contextlib.suppress(Exception, CancelledError):
                    self._store(future, waiting.pop(future))
            raise
        finally:
            for future in waiting:
                future.cancel()
        return done

    def _jobs(self, left: deque[int]) -> list[_worker.Job]:
        """The next batch."""
        if self._run_s is None:
            size = FIRST_RUNS
        else:
            size = max(1, min(MAX_RUNS, round(BATCH_S / max(self._run_s, 1e-6))))
            if self._workers:
                # At the end smaller batches, down to half of the duration, so that all workers end at about the same time.
                share = -(-len(left) // (2 * self._workers))
                size = max(1, min(size, max(share, size // 2)))
        jobs: list[_worker.Job] = []
        while left and len(jobs) < size:
            run = left.popleft()
            plan = self._folder.plan(run)
            document = json.loads(plan)
            if self._base is None:
                self._base, self._base_text = document, plan
                self._digest = hashlib.sha256(plan.encode()).hexdigest()
            jobs.append((run, _patch.difference(self._base, document)))
        return jobs

    def _ahead(self) -> int:
        """Maximum number of batches that wait or run. The jobs of all batches at once would need much memory."""
        if self._run_s is None:
            # Only until the duration is known: otherwise many batches of one run would be waiting.
            return 2 * (self._workers or 8)
        return AHEAD if self._workers is None else 2 * self._workers + 2

    def _store(self, future: Future[_worker.Answer], jobs: list[_worker.Job]) -> int | None:
        """Stores the results of a batch and returns their number; None if the worker needs the base."""
        try:
            answer = future.result()
        except CancelledError:
            raise native.RunError("the executor cancelled a batch; finished runs are saved") from None
        try:
            version, seconds, compressed = answer
            found = None if compressed is None else _worker.results(compressed)
        except (TypeError, ValueError) as error:
            raise native.RunError(f"the executor returned something else than the results of a batch: {error}") from None
        _worker.check(worker=version, caller=__version__)
        if found is None:
            return None
        numbers, expected = [run for run, _ in found], [run for run, _ in jobs]
        if numbers != expected:
            # Results of expected runs are valid.
            for run, summary in dict(found).items():
                if run in expected:
                    self._folder.keep(run, summary)
            raise native.RunError(
                f"the executor returned the results of runs {_shown(numbers)}, expected {_shown(expected)}; "
                "finished runs are saved"
            )
        for run, summary in found:
            self._folder.keep(run, summary)
        self._run_s = seconds / len(jobs)
        return len(found)


def _shown(runs: Sequence[int]) -> str:
    """Numbers of runs as in the folder, from 1."""
    few = ", ".join(str(run + 1) for run in runs[:10])
    return (few or "none") if len(runs) <= 10 else f"{few}, …"
