"""Shared by the tests: the command of the installed wheel, and short scenarios."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "netburn"
REPOSITORY = Path(__file__).resolve().parents[2]


class Command:
    """The executable of the wheel `netburn`."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, status=0):
        """Runs the command and returns its standard output and standard error."""
        environment = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(
            [COMMAND, *map(str, arguments)], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == status, done.stderr
        return done.stdout, done.stderr

    def simulate(self, scenario, out, changes, seed):
        """Records a simulated run to `out` and returns its summary."""
        sets = [argument for change in changes.items() for argument in ("--set", "=".join(change))]
        text, _ = self.run(
            "run", scenario, "--on", "simulate", "--out", out, "--format", "json", "--seed", seed, *sets
        )
        return json.loads(text)


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


# The argument `progress` prints "begun" at the first report.
PROGRESS = """
import sys, netburn as nb
begun = []
def progress(share):
    if not begun:
        begun.append(share)
        print("begun", flush=True)
"""


@pytest.fixture
def interrupted():
    """Runs a program, sends SIGINT after its first progress report, and returns its output and its status."""

    def run(program, *arguments):
        words = [sys.executable, "-c", PROGRESS + program, *map(str, arguments)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout.readline() == "begun\n"
                process.send_signal(signal.SIGINT)
                output, _ = process.communicate(timeout=60)
            finally:
                process.kill()
        return output, process.returncode

    return run
