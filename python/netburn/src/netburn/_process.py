"""Programs in a lab."""

from __future__ import annotations

import os
import subprocess
import threading
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

        Returns the output and the errors; None for one that is not a pipe. Raises subprocess.TimeoutExpired after
        `timeout` seconds; the program still runs then, and its output is lost.
        """
        outputs: dict[str, Any] = {"stdout": None, "stderr": None}

        def read(name: str, file: IO[Any]) -> None:
            outputs[name] = file.read()

        def write(file: IO[Any]) -> None:
            try:
                if input:
                    file.write(input)
                file.close()
            except BrokenPipeError:
                # The program has ended or closed its standard input, as with Popen.
                pass

        threads = []
        if self.stdin is not None:
            threads.append(threading.Thread(target=write, args=(self.stdin,), daemon=True))
        for name, file in (("stdout", self.stdout), ("stderr", self.stderr)):
            if file is not None:
                threads.append(threading.Thread(target=read, args=(name, file), daemon=True))
        for thread in threads:
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join(timeout)
            if thread.is_alive():
                # Another program has the other end of the pipe.
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
        return outputs["stdout"], outputs["stderr"]

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
