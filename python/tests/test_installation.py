"""Versions, types, and what the import loads."""

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import netburn
import netburn_runtime


def python(*arguments, path=None, status=0):
    environment = {} if path is None else {"PYTHONPATH": str(path)}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_all_places_have_one_version(command):
    version = netburn.__version__
    assert netburn_runtime.__version__ == version
    assert metadata.version("netburn") == metadata.version("netburn-runtime") == version
    assert metadata.requires("netburn") == [f"netburn-runtime=={version}"]
    text, _ = command.run("--version")
    assert text == f"netburn {version}\n"


def other_version(folder):
    """A copy of the package with another version."""
    package = folder / "netburn"
    shutil.copytree(Path(netburn.__file__).parent, package)
    version = package / "_version.py"
    version.write_text(version.read_text().replace(netburn.__version__, "9.8.7"))
    return folder


def test_a_runtime_of_another_version_is_one_clear_error(tmp_path):
    done = python("-c", "import netburn", path=other_version(tmp_path), status=1)
    assert done.stderr.splitlines()[-2:] == [
        f"ImportError: netburn 9.8.7 needs netburn-runtime 9.8.7, found netburn-runtime {netburn.__version__}",
        "help: pip install netburn==9.8.7 netburn-runtime==9.8.7",
    ]


def test_a_missing_runtime_is_one_clear_error(tmp_path):
    shutil.copytree(Path(netburn.__file__).parent, tmp_path / "netburn")
    # Without the packages that are installed for this interpreter.
    done = python("-S", "-c", "import netburn", path=tmp_path, status=1)
    assert f"found netburn-runtime not installed" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("help: pip install netburn==")


def test_the_import_loads_no_other_package():
    program = "import sys; before = set(sys.modules); import netburn; print(*sorted(set(sys.modules) - before))"
    loaded = python("-I", "-c", program).stdout.split()
    own = {"netburn", "netburn_runtime"}
    foreign = {name.split(".")[0] for name in loaded} - own - set(sys.stdlib_module_names)
    assert "netburn._run" in loaded and foreign == set()


def test_the_plugin_of_pytest_imports_netburn_for_its_fixture_only(tmp_path):
    """A runtime of another version must not break the tests of other projects."""
    (tmp_path / "test_other.py").write_text("def test_other():\n    import sys\n    assert 'netburn' not in sys.modules\n")
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), path=other_version(tmp_path))
    assert "1 passed" in done.stdout


def test_the_types_are_checked():
    done = python("-m", "mypy", "--strict", "-p", "netburn", "-p", "netburn_runtime", "-p", "pytest_netburn")
    assert "Success" in done.stdout


def test_the_stubs_describe_the_native_module():
    done = python("-m", "mypy.stubtest", "netburn_runtime")
    assert "no issues found" in done.stdout


def test_the_types_help_users(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import netburn as nb\n"
        "run = nb.simulate('slow-neighbour', seed='1')\n"
        "share: str = run['laptop'].airtime_share\n"
        "latency: float | None = run['laptop']['probe'].p95_ms\n"
    )
    done = python("-m", "mypy", "--strict", str(program), status=1)
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == ["2", "3"], done.stdout


def test_every_public_item_has_documentation():
    def items(of):
        for name in getattr(of, "__all__", None) or vars(of):
            item = getattr(of, name)
            if not name.startswith("_") and (callable(item) or isinstance(item, property)):
                yield f"{of.__name__}.{name}", item
                if isinstance(item, type):
                    yield from items(item)

    found = dict(items(netburn))
    # Attributes of Python's own classes, such as BaseException.args, are theirs.
    assert len(found) > 60
    assert [name for name, item in found.items() if not item.__doc__] == []
