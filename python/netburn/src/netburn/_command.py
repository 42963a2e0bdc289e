"""The executable `netburn` of this distribution."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig

from ._version import __version__


def executable() -> str:
    """Returns the path of the command that was installed with the package, else of the one in PATH.

    Raises FileNotFoundError if there is none, ImportError if it has another version.
    """
    installed = os.path.join(sysconfig.get_path("scripts"), "netburn")
    path = installed if os.access(installed, os.X_OK) else shutil.which("netburn")
    if path is None:
        raise FileNotFoundError(f"the command netburn is neither {installed} nor in PATH")
    found = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.strip()
    if found != f"netburn {__version__}":
        raise ImportError(f"found {found or 'another program'} in {path}, expected netburn {__version__}")
    return path
