"""Models of several measurements, also in the workers of an executor."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait

from . import _worker
from ._fit import Fit, fit
from ._progress import Reporter
from ._run import Run, read_record
from ._runtime import native
from ._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Executor, Future
    from typing import Union

    from ._progress import Progress

    Result = Union[Fit, native.Error]

AHEAD = 64
"""Maximum number of fits that wait or run if the number of workers is unknown. Each needs its record in memory."""


def fits(
    runs: Iterable[Run | str | os.PathLike[str]],
    seed: int = 1,
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    skip_unusable: bool = False,
    progress: Progress = None,
) -> list[Fit | native.Error]:
    """Fits a model to each of several measured runs, and returns the models in the order of the runs.

        with distributed.Client(address) as client:
            models = nb.fits(["home-1", "home-2", "home-3"], executor=client.get_executor())

    `runs`, `seed`, `progress`: as for `fit`. Each fit equals that of `fit` with this seed.
    `threads`: number of processors; default: all.
    `executor`: an executor of concurrent.futures or with the same interface, such as `client.get_executor()` of dask.
    Each of its workers makes one fit at a time on one processor. Workers need the same version of netburn, and no access
    to the folders, because they receive the records.
    `skip_unusable`: the result of a run that can't be read or fitted is its error, instead of an exception.

    Raises the error of the first run that can't be read or fitted, as `fit` does, before any fit begins. Also raises
    VersionError if a worker has another version, RunError if the executor loses a fit, any other error of the executor,
    and KeyboardInterrupt after Ctrl-C.
    """
    if threads is not None and (threads < 1 or executor is not None):
        raise ValueError("found both threads and an executor" if executor is not None else f"found {threads} threads, expected 1 or more")
    if isinstance(runs, (str, bytes, os.PathLike, Run)):
        raise TypeError("found one run, expected a list of runs\nhelp: use `fit` for one run")
    usable = [_usable(run, skip_unusable) for run in runs]
    with Reporter("fitting", progress) as reporter:
        if executor is None:
            return _here(usable, seed, threads, skip_unusable, reporter)
        return _Fits(usable, seed, executor, skip_unusable).results(reporter)


def _usable(run: Run | str | os.PathLike[str], skip: bool) -> Run | native.Error:
    """A run that is a reliable measurement. Its error, if such runs are skipped."""
    try:
        found = run if isinstance(run, Run) else read_record(run)
        native.check_measurement(found._native)
    except native.Error as error:
        if not skip:
            raise
        return error
    return found


def _here(runs: Sequence[Run | native.Error], seed: int, threads: int | None, skip: bool, reporter: Reporter) -> list[Result]:
    """Fits in this process, one after the other."""
    results: list[Result] = []

    def report(share: float) -> None:
        reporter.share((len(results) + share) / len(runs))

    for run in runs:
        if not isinstance(run, Run):
            results.append(run)
            continue
        try:
            results.append(fit(run, seed, threads, progress=report))
        except native.Error as error:
            if not skip:
                raise
            results.append(error)
    return results


class _Fits:
    """Fits in the workers of an executor."""

    def __init__(self, runs: Sequence[Run | native.Error], seed: int, executor: Executor, skip: bool) -> None:
        self._results: list[Run | Result] = list(runs)
        self._seed = seed
        self._executor = executor
        self._skip = skip

    def results(self, reporter: Reporter) -> list[Result]:
        workers: int | None = getattr(self._executor, "_max_workers", None)
        ahead = AHEAD if workers is None else 2 * workers
        left = deque(place for place, run in enumerate(self._results) if isinstance(run, Run))
        waiting: dict[Future[_worker.Fitted], int] = {}
        try:
            while left or waiting:
                while left and len(waiting) < ahead:
                    place = left.popleft()
                    waiting[self._submit(self._results[place])] = place
                wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                # `wait` does not return a future that was cancelled before it began.
                for future in [future for future in waiting if future.done()]:
                    place = waiting.pop(future)
                    self._results[place] = self._result(future, self._results[place])
                reporter.share(1 - (len(left) + len(waiting)) / len(self._results))
        finally:
            for future in waiting:
                future.cancel()
        return [result for result in self._results if not isinstance(result, Run)]

    def _submit(self, run: Run | Result) -> Future[_worker.Fitted]:
        assert isinstance(run, Run)
        return self._executor.submit(_worker.fit, __version__, _worker.packed(run), self._seed)

    def _result(self, future: Future[_worker.Fitted], run: Run | Result) -> Result:
        assert isinstance(run, Run)
        try:
            fitted = future.result()
        except CancelledError:
            raise native.RunError(f"the executor cancelled the fit to {run.path or 'a run in memory'}") from None
        try:
            version, document, why = fitted
        except (TypeError, ValueError) as error:
            raise native.RunError(f"the executor returned something else than a fit: {error}") from None
        _worker.check(worker=version, caller=__version__)
        if document is not None:
            try:
                return Fit(native.fit_of_document(run._native, document))
            except ValueError as error:
                raise native.RunError(f"the executor returned something else than a fit: {error}") from None
        failed = native.RunError(why)
        if self._skip:
            return failed
        raise failed
