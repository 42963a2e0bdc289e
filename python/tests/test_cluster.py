"""Sweeps and fits on dask, processes that SIGKILL ends at random instants, and a full disk.

The environment variable NETBURN_KILLS is the number of instants for each kind of process; 2 by default.
"""

import os
import random
import signal
import subprocess
import sys
import time

import distributed
import netburn as nb
import polars
import pytest
from conftest import COMMAND

KILLS = int(os.environ.get("NETBURN_KILLS", "2"))

# 24 cells with 5 runs each.
SWEEP = """
import netburn as nb
def sweep(out):
    scenario = nb.scenario("slow-neighbour", {"duration": "31s", "seed": 5})
    signals = nb.steps("-85 dBm", "-62 dBm", "2 dB")
    return nb.sweep(scenario, {"ap.home.queue": ["fifo", "airtime"], "station.tablet.signal": signals}, repeat=5, out=out)
"""
exec(SWEEP)

# Arguments: the folder, the address of a scheduler or nothing.
CALLER = SWEEP + """
import sys
of = sweep(sys.argv[1])
if len(sys.argv) == 2:
    of.run(threads=2)
else:
    import distributed
    with distributed.Client(sys.argv[2]) as client:
        of.run(executor=client.get_executor())
"""


def contents(folder):
    """The bytes of all files of a sweep."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Runs:
    """Finished runs of a folder at one time."""

    def __init__(self, folder):
        found = (folder / "runs").glob("*.json")
        self.files = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in found}

    def check(self, expected, folder):
        """None of the runs is lost, none was executed again, and none is incomplete."""
        for path, identity in self.files.items():
            assert (path.stat().st_mtime_ns, path.stat().st_ino) == identity, f"{path} was written again"
        for path in (folder / "runs").glob("*.json"):
            assert path.read_bytes() == expected[f"runs/{path.name}"]


def check_interrupted(numbers):
    """At least one instant was after the first finished run and before the last one."""
    assert any(0 < number < 120 for number in numbers), numbers


class Cluster:
    """A scheduler of dask and two workers, each in a process of its own with one thread."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.start()

    def start(self):
        self.file = self.folder / f"scheduler-{time.monotonic_ns()}.json"
        self.scheduler = self.process("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.wait(self.file.exists)
        self.workers = [self.worker() for _ in range(2)]
        with distributed.Client(scheduler_file=str(self.file)) as client:
            self.address = client.scheduler.address
            client.wait_for_workers(2, timeout=60)

    def worker(self):
        space = ("--local-directory", self.folder, "--no-nanny", "--nthreads", "1", "--no-dashboard")
        return self.process("worker", "--host", "127.0.0.1", *space)

    def process(self, kind, *arguments):
        words = [sys.executable, "-m", "dask", kind, "--scheduler-file", self.file, *arguments]
        log = open(self.folder / "dask.log", "ab")
        process = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log, cwd=self.folder)
        log.close()
        self.processes.append(process)
        return process

    def wait(self, reached):
        for _ in range(600):
            if reached():
                return
            time.sleep(0.1)
        raise AssertionError((self.folder / "dask.log").read_text())

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes = []


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "dask").mkdir()
    cluster = Cluster(tmp_path / "dask")
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The files of a sweep without an interruption, and its duration in seconds."""
    folder = tmp_path_factory.mktemp("undisturbed") / "sweep"
    begun = time.monotonic()
    sweep(folder).run(threads=2)
    return contents(folder), time.monotonic() - begun


def instants(duration):
    """Instants of the end of a process, within the duration of a sweep."""
    random.seed(20)
    return [random.uniform(0, duration) for _ in range(KILLS)]


def progress():
    """Numbers of finished runs at which a process ends. The sweep has many more, so that it is still running then."""
    random.seed(20)
    return [random.randrange(1, 60) for _ in range(KILLS)]


def reach(number, folder):
    """Waits until this number of runs is finished."""
    wait_for(lambda: len(list((folder / "runs").glob("*.json"))) >= number)


def test_dask_gives_the_same_bytes(cluster, undisturbed, tmp_path):
    expected, _ = undisturbed
    with distributed.Client(cluster.address) as client:
        of = sweep(tmp_path / "sweep")
        of.run(executor=client.get_executor())
        assert of.left == 0
    assert contents(tmp_path / "sweep") == expected


def test_a_caller_that_is_killed_loses_no_finished_run(undisturbed, tmp_path):
    expected, _ = undisturbed
    finished = []
    for number, runs in enumerate(progress()):
        folder = tmp_path / f"sweep-{number}"
        with subprocess.Popen([sys.executable, "-c", CALLER, str(folder)]) as caller:
            reach(runs, folder)
            caller.kill()
        before = Runs(folder)
        finished.append(len(before.files))
        sweep(folder).run(threads=2)
        before.check(expected, folder)
        assert contents(folder) == expected
    check_interrupted(finished)


def test_a_caller_on_dask_that_is_killed_loses_no_finished_run(cluster, undisturbed, tmp_path):
    expected, _ = undisturbed
    finished = []
    for number, runs in enumerate(progress()):
        folder = tmp_path / f"sweep-{number}"
        words = [sys.executable, "-c", CALLER, str(folder), cluster.address]
        with subprocess.Popen(words) as caller:
            reach(runs, folder)
            caller.kill()
        before = Runs(folder)
        finished.append(len(before.files))
        with distributed.Client(cluster.address) as client:
            sweep(folder).run(executor=client.get_executor())
        before.check(expected, folder)
        assert contents(folder) == expected
    check_interrupted(finished)


def test_a_worker_that_is_killed_costs_no_run(cluster, undisturbed, tmp_path):
    expected, duration = undisturbed
    with distributed.Client(cluster.address) as client:
        for number, instant in enumerate(instants(duration)):
            folder = tmp_path / f"sweep-{number}"
            victim = cluster.workers[number % 2]
            killer = subprocess.Popen(["sh", "-c", f"sleep {instant:.3f}; kill -KILL {victim.pid}"])
            sweep(folder).run(executor=client.get_executor())
            assert killer.wait() == 0
            assert contents(folder) == expected
            victim.wait()
            cluster.workers[number % 2] = cluster.worker()
            client.wait_for_workers(2, timeout=60)


def test_a_scheduler_that_is_killed_is_one_error_and_loses_no_finished_run(cluster, undisturbed, tmp_path):
    expected, _ = undisturbed
    failed = 0
    for number, runs in enumerate(progress()):
        folder = tmp_path / f"sweep-{number}"
        words = [sys.executable, "-c", CALLER, str(folder), cluster.address]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as caller:
            reach(runs, folder)
            cluster.scheduler.send_signal(signal.SIGKILL)
            _, errors = caller.communicate(timeout=300)
        # The last results may have arrived before.
        if caller.returncode != 0:
            failed += 1
            assert "finished runs are saved" in errors.splitlines()[-1], errors
        cluster.stop()
        before = Runs(folder)
        sweep(folder).run(threads=2)
        before.check(expected, folder)
        assert contents(folder) == expected
        cluster.start()
    assert failed > 0


def test_a_full_disk_is_one_error_and_loses_no_finished_run(undisturbed, tmp_path):
    """The folder is on a disk with space for a part of the runs. Then the disk gets larger."""
    expected, _ = undisturbed
    disk, copies = tmp_path / "disk", tmp_path / "copies"
    for path in (disk, copies):
        path.mkdir()
    script = """
        mount -t tmpfs -o size=320k tmpfs "$0" || exit 9
        "$2" -c "$3" "$0/sweep" 2>"$1/errors" && exit 8
        cp -r "$0/sweep/runs" "$1/before" && mount -o remount,size=64m "$0" && "$2" -c "$3" "$0/sweep" && cp -r "$0/sweep" "$1"
    """
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, disk, copies, sys.executable, CALLER]
    done = subprocess.run(words, timeout=300)
    if done.returncode == 9 or not (copies / "errors").exists():
        pytest.skip("this machine permits no namespaces")
    assert done.returncode == 0
    last = (copies / "errors").read_text().splitlines()[-1]
    assert last.startswith("netburn.RecordError: ")
    assert "No space left on device" in last
    before = {path.name: path.read_bytes() for path in (copies / "before").glob("*.json")}
    assert 10 < len(before) < 120
    assert all(content == expected[f"runs/{name}"] for name, content in before.items())
    assert contents(copies / "sweep") == expected


def wait_for(reached):
    end = time.monotonic() + 300
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.002)


CELLS = int(os.environ.get("NETBURN_CELLS", "200"))

MANY = """
import netburn as nb
def many(out, cells):
    scenario = nb.scenario("slow-neighbour", {"duration": "31s"})
    vary = {"seed": range(1, cells // 4 + 1), "ap.home.queue": ["fifo", "airtime"], "station.tablet.signal": ["-82 dBm", "-62 dBm"]}
    return nb.sweep(scenario, vary, out=out)
"""
exec(MANY)

MANY_ON_DASK = MANY + """
import sys, distributed
with distributed.Client(sys.argv[2]) as client:
    many(sys.argv[1], int(sys.argv[3])).run(executor=client.get_executor())
"""


def test_a_sweep_by_the_command_on_dask_and_in_shards_equals_the_undisturbed_one(cluster, command, tmp_path):
    """NETBURN_CELLS is the number of cells; 200 by default."""
    many(tmp_path / "undisturbed", CELLS).run(threads=2)
    folder = tmp_path / "sweep"

    def finished():
        return len(list((folder / "runs").glob("*.json")))

    options = ["slow-neighbour", "--duration", "31s", "--out", str(folder), "--vary", f"seed=1..{CELLS // 4}"]
    options += ["--vary", "ap.home.queue=fifo,airtime", "--vary", "station.tablet.signal=-82 dBm,-62 dBm"]
    begun = [COMMAND, "sweep", *options]
    on_dask = [sys.executable, "-c", MANY_ON_DASK, folder, cluster.address, CELLS]
    for words, enough in ((begun, CELLS // 10), (on_dask, CELLS // 3)):
        with subprocess.Popen(list(map(str, words)), stderr=subprocess.DEVNULL) as process:
            wait_for(lambda: finished() >= enough)
            process.kill()
        assert enough <= finished() < CELLS
    command.run("sweep", *options, "--shard", "1/3")
    many(folder, CELLS).run(shard="2/3")
    last = many(folder, CELLS)
    last.run(shard="3/3")
    assert last.left == 0
    assert contents(folder) == contents(tmp_path / "undisturbed")


# A line with this rate and a device: a small network, so that a fit takes seconds.
HOUSE = """
[server.link]
delay = "8 ms"
[ap.home]
queue = "fq-codel"
wan = {{ down = "{down} Mbit/s", up = "1 Mbit/s", delay = "3 ms", queue = "64 KiB" }}
[ap.home.radio.5g]
standard = "802.11ac"
[station.laptop]
joins = "home.5g"
signal = "-60 dBm"
"""


@pytest.fixture(scope="module")
def measurements(tmp_path_factory):
    """Measurements of three networks: one in memory, and two in folders."""
    folder = tmp_path_factory.mktemp("measurements")
    runs = []
    for down in (2, 3, 4):
        house = folder / f"house-{down}.toml"
        house.write_text(HOUSE.format(down=down))
        words = [COMMAND, "scenarios", "measure", "--house", house]
        measure = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        runs.append(nb.simulate(nb.parse_scenario(measure)))
    return [runs[0], *(run.save(folder / f"run-{number}").path for number, run in enumerate(runs[1:]))]


def test_dask_gives_the_same_fits_in_the_order_of_the_runs(cluster, measurements):
    local = [nb.fit(run, seed=3) for run in measurements]
    with distributed.Client(cluster.address) as client:
        shares = []
        found = nb.fits(measurements, seed=3, executor=client.get_executor(), progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1
    for one, other, rate in zip(found, local, (2, 3, 4)):
        assert one.document == other.document
        for table in ("samples", "observations"):
            assert polars.DataFrame(getattr(one, table)).equals(polars.DataFrame(getattr(other, table)))
        down = next(estimate for estimate in one.estimates if estimate.key == "ap.home.wan.down")
        assert down.median == pytest.approx(rate, rel=0.1)
    assert len(found) == len(local)


def test_a_run_that_cannot_be_fitted_is_an_error_in_its_place(cluster, measurements, tmp_path):
    no_measurement = nb.simulate(nb.scenario("slow-neighbour", {"duration": "31s"}))
    runs = [no_measurement, measurements[0], tmp_path / "nowhere"]
    with distributed.Client(cluster.address) as client:
        executor = client.get_executor()
        first, second, third = nb.fits(runs, executor=executor, skip_unusable=True)
        assert isinstance(first, nb.RunError) and "is not part of a measurement" in str(first)
        assert second.document == nb.fit(measurements[0]).document
        assert isinstance(third, nb.RecordError) and "nowhere" in str(third)
        with pytest.raises(nb.RunError, match="is not part of a measurement"):
            nb.fits(runs, executor=executor)
    here = nb.fits(runs, skip_unusable=True)
    assert [type(one) for one in here] == [nb.RunError, nb.Fit, nb.RecordError]
    with pytest.raises(TypeError, match="found one run"):
        nb.fits(measurements[0])
    with pytest.raises(ValueError, match="both threads and an executor"):
        nb.fits([], executor=executor, threads=1)
