"""Runs that need the command: in a lab, on this machine, and on a fleet."""

from __future__ import annotations

import os
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

    Messages of the command go to standard error. Ctrl-C ends the run. Raises ScenarioError if the scenario is invalid,
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
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode not in (0, UNRELIABLE) or not os.path.isdir(out):
        raise native.RunError(done.stderr.strip().removeprefix("netburn: ") or f"exit status {done.returncode}")
    return read_record(out)
