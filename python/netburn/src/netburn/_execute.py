"""Runs that need the command: in a lab, on this machine, and on a fleet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from . import _values
from ._command import executable
from ._run import Run, read_record
from ._runtime import native
from ._scenario import Scenario, scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._scenario import Environment

UNRELIABLE = 3
"""Exit status of the command for a run without a reliable measurement."""

STOPPING_S = 30.0
"""Maximum time in which the command saves its record after Ctrl-C."""


def run(
    of: Scenario | str | os.PathLike[str],
    changes: Mapping[str, _values.Value] | None = None,
    *,
    on: Environment = "lab",
    out: str | os.PathLike[str],
    seed: int | None = None,
) -> Run:
    """Runs a scenario in an environment, as `netburn run` does, and returns its record.

    `of`: a scenario, or the path or name of one.
    `changes`: as for `Scenario.with_changes`.
    `on`: "lab" for real programs around a modelled access point, "fleet" for the members of the fleet that this machine
    controls, "local", or "simulate". `simulate` is faster, and keeps the rows in memory.
    `out`: new folder for the record.
    `seed`: random seed; default: that of the scenario.

    Messages of the command go to standard error. After Ctrl-C, the record has the rows so far. Raises ScenarioError if the scenario is invalid,
    RecordError if `out` exists, RunError if there is no record.
    """
    if not isinstance(of, Scenario):
        of = scenario(of)
    if changes:
        of = of.with_changes(changes)
    of.plan(on)
    if os.path.lexists(out):
        # The command would write to another folder.
        raise native.RecordError(f"{os.fspath(out)} exists; use another folder")
    with tempfile.TemporaryDirectory(prefix="netburn-") as folder:
        words = [executable(), "run", *of._arguments(folder), "--on", on, "--out", os.fspath(out)]
        if seed is not None:
            words += ["--seed", str(seed)]
        status, message = _execute(words)
    if status not in (0, UNRELIABLE) or not os.path.isdir(out):
        raise native.RunError(message or f"the command ended with status {status}")
    return read_record(out)


def _execute(words: list[str]) -> tuple[int, str]:
    """Runs the command and forwards its messages. Returns its exit status and its last message."""
    message = ""
    command = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with command:
        assert command.stderr is not None
        try:
            for line in command.stderr:
                # An error is raised, and not also printed.
                if message:
                    sys.stderr.write(message)
                message = line
            status = command.wait()
        except BaseException:
            # The command saves its record, and ends the run at all stations.
            command.send_signal(signal.SIGINT)
            try:
                command.wait(STOPPING_S)
            finally:
                command.kill()
            raise
    if status in (0, UNRELIABLE):
        sys.stderr.write(message)
    return status, message.strip()
