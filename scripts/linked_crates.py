"""The crates of other people in the executable."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def linked(target):
    """The packages of `cargo metadata` that are linked into the executable for a target, without tools of the build."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {
        node["id"]: [used["pkg"] for used in node["deps"] if any(kind["kind"] is None for kind in used["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    # Procedural macros run in the compiler, and so does what only they use.
    macros = {package["id"] for package in metadata["packages"] if any("proc-macro" in target["kind"] for target in package["targets"])}
    pending = [package["id"] for package in metadata["packages"] if package["name"] == "netburn"]
    found = set()
    while pending:
        package = pending.pop()
        if package not in found and package not in macros:
            found.add(package)
            pending += uses[package]
    external = (packages[package] for package in found if packages[package]["source"])
    return sorted(external, key=lambda package: (package["name"], package["version"]))
