"""Programs in a lab."""

from __future__ import annotations

import io
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import IO, Any, Union

    File = Union[int, IO[Any], None]


class Pipes:
    """The three files of a program, and this process's ends of pipes."""

    def __init__(self, files: Sequence[File], text: bool) -> None:
        self.theirs: list[int] = []
        """Standard input, output and error of the program."""
        self.ours: list[IO[Any] | None] = [None, None, None]
        self._stack = ExitStack()
        self._text = text
        try:
            for number, file in enumerate(files):
                self.theirs.append(self._open(number, file))
        except BaseException:
            self.abandon()
            raise

    def _open(self, number: int, file: File) -> int:
        reads = number == 0
        if file is None:
            return number
        if file == subprocess.STDOUT:
            if number != 2:
                raise ValueError("STDOUT is for stderr only")
            return self.theirs[1]
        if file == subprocess.DEVNULL:
            return self._closing(os.open(os.devnull, os.O_RDONLY if reads else os.O_WRONLY))
        if file == subprocess.PIPE:
            read, write = os.pipe()
            theirs, ours = (read, write) if reads else (write, read)
            mode = "w" if reads else "r"
            if self._text:
                self.ours[number] = open(ours, mode, encoding="utf-8")
            else:
                self.ours[number] = open(ours, mode + "b", buffering=0 if reads else -1)
            return self._closing(theirs)
        return file if isinstance(file, int) else file.fileno()

    def _closing(self, file: int) -> int:
        self._stack.callback(os.close, file)
        return file

    def close(self) -> None:
        """Closes the program's ends. It has its own copies."""
        self._stack.close()

    def abandon(self) -> None:
        """Closes both ends."""
        self.close()
        for file in self.ours:
            if file is not None:
                file.close()


class Process:
    """A program in a lab, with the methods of `subprocess.Popen`. Use it in a `with` statement to close its pipes."""

    def __init__(self, args: Sequence[str], files: Sequence[IO[Any] | None], signal: Callable[[int], None]) -> None:
        self.args = list(args)
        """Program and arguments."""
        self.stdin, self.stdout, self.stderr = files
        self.returncode: int | None = None
        """Exit status; -N if signal N ended the program; None while it runs."""
        self._signal = signal
        self._ended = threading.Event()

    def _end(self, returncode: int) -> None:
        self.returncode = returncode
        self._ended.set()

    def poll(self) -> int | None:
        """Returns the exit status; None while the program runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end and returns the exit status.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        if not self._ended.wait(timeout):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, signal: int) -> None:
        """Sends a signal, if the program still runs."""
        if self.returncode is None:
            self._signal(signal)

    def terminate(self) -> None:
        """Sends SIGTERM."""
        self.send_signal(15)

    def kill(self) -> None:
        """Sends SIGKILL."""
        self.send_signal(9)

    def communicate(self, input: str | bytes | None = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Writes `input` to standard input, reads standard output and error to their ends, and waits for the program.

        Returns the output and the errors; None for one that is not a pipe. Raises TypeError for an input of the wrong
        type. Raises subprocess.TimeoutExpired after `timeout` seconds; the program still runs then, and its output is
        lost.
        """
        end = None if timeout is None else time.monotonic() + timeout
        pending = memoryview(self._encoded(input))
        outputs = {file: bytearray() for file in (self.stdout, self.stderr) if file is not None}
        with selectors.DefaultSelector() as ready:
            for file in outputs:
                ready.register(file, selectors.EVENT_READ)
            if self.stdin is not None:
                if pending:
                    os.set_blocking(self.stdin.fileno(), False)
                    ready.register(self.stdin, selectors.EVENT_WRITE)
                else:
                    self.stdin.close()
            while ready.get_map():
                for key, _ in ready.select(self._left(end, timeout)):
                    if key.fileobj is self.stdin:
                        try:
                            pending = pending[os.write(key.fd, pending) :]
                        except BrokenPipeError:
                            # The program has ended or closed its standard input, as with Popen.
                            pending = pending[:0]
                        if not pending:
                            ready.unregister(key.fd)
                            self.stdin.close()
                        continue
                    part = os.read(key.fd, 1 << 16)
                    outputs[key.fileobj] += part  # type: ignore[index]
                    if not part:
                        ready.unregister(key.fd)
        self.wait(self._left(end, timeout))
        found = (None if file is None else self._decoded(file, outputs[file]) for file in (self.stdout, self.stderr))
        output, errors = found
        return output, errors

    def _left(self, end: float | None, timeout: float | None) -> float | None:
        """Time until `end` in s. Raises subprocess.TimeoutExpired after it."""
        if end is None:
            return None
        left = end - time.monotonic()
        if left <= 0 and timeout is not None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return left

    def _encoded(self, input: str | bytes | None) -> bytes:
        if not input or self.stdin is None:
            return b""
        expects_text = isinstance(self.stdin, io.TextIOBase)
        if isinstance(input, str) != expects_text:
            expected, found = ("str", "bytes") if expects_text else ("bytes", "str")
            raise TypeError(f"found {found} as input, expected {expected}; `text=True` is for str")
        return input.encode() if isinstance(input, str) else input

    @staticmethod
    def _decoded(file: IO[Any], output: bytearray) -> str | bytes:
        if isinstance(file, io.TextIOBase):
            # As a file of text in Python: each line ends with LF.
            return output.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        return bytes(output)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self.stdout, self.stderr):
            if file is not None:
                file.close()
        if self.stdin is not None:
            try:
                self.stdin.close()
            except BrokenPipeError:
                pass
        self.wait()

    def __repr__(self) -> str:
        state = "running" if self.returncode is None else f"ended with {self.returncode}"
        return f"<Process {' '.join(self.args)}: {state}>"
