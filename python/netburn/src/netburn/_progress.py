"""Progress of long work on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Union

    Progress = Union[None, bool, Callable[[float], object]]

DELAY_S = 1.0
"""Work that ends within this time shows no progress."""


class Reporter:
    """Passes the progress to a function, or shows it on a line of standard error.

    `progress`: a function that gets the share from 0 to 1; True or False; None shows it on a terminal and in a notebook.
    """

    def __init__(self, what: str, progress: Progress) -> None:
        self._what = what
        self._width = 0
        self._begun = time.monotonic()
        self.report: Callable[[float], object] | None
        if callable(progress):
            self.report = progress
        elif progress or (progress is None and _is_watched()):
            self.report = self._show
        else:
            self.report = None

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def share(self, share: float) -> None:
        """Reports a share, 0 to 1."""
        if self.report is not None:
            self.report(share)

    def _show(self, share: float) -> None:
        elapsed = time.monotonic() - self._begun
        if elapsed < DELAY_S:
            return
        text = f"{self._what}: {share:.0%}"
        if share > 0.01:
            text += f", about {elapsed * (1 - share) / share:.0f} s left"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(text))


def _is_watched() -> bool:
    stderr = sys.stderr
    return stderr is not None and (stderr.isatty() or "ipykernel" in sys.modules)
