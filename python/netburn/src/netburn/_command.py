"""The executable `netburn` of this distribution."""

from __future__ import annotations

import os
import shutil
import sysconfig


def executable() -> str:
    """Returns the path of the command that was installed with the package, else of the one in PATH.

    Raises FileNotFoundError if there is none.
    """
    installed = os.path.join(sysconfig.get_path("scripts"), "netburn")
    if os.access(installed, os.X_OK):
        return installed
    found = shutil.which("netburn")
    if found is None:
        raise FileNotFoundError(f"the command netburn is neither {installed} nor in PATH")
    return found
