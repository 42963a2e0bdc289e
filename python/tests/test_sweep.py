"""Sweeps, compared with those of the command."""

import concurrent.futures
import json
import zlib

import netburn as nb
import polars
import pyarrow
import pyarrow.parquet
import pytest
from netburn import _patch, _worker

VARY = {"ap.home.queue": ["fifo", "airtime"], "station.tablet.signal": ["-82 dBm", "-72 dBm", "-62 dBm"]}
BASE = {"duration": "32s", "seed": 11}
OPTIONS = ["--set", "seed=11", "--duration", "32s", "--repeat", "2"]
KEYS = ["--vary", "ap.home.queue=fifo,airtime", "--vary", "station.tablet.signal=-82 dBm..-62 dBm..10"]


def small(out, repeat=2):
    signals = nb.steps("-82 dBm", "-62 dBm", "10 dB")
    vary = {"ap.home.queue": ["fifo", "airtime"], "station.tablet.signal": signals}
    return nb.sweep(nb.scenario("slow-neighbour", BASE), vary, repeat=repeat, out=out)


def contents(folder):
    """The bytes of all files of a sweep."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """A sweep of the command."""
    from conftest import Command

    folder = tmp_path_factory.mktemp("sweeps")
    Command(folder).run("sweep", "slow-neighbour", *OPTIONS, *KEYS, "--out", "command")
    return folder / "command"


def test_the_folder_has_the_same_bytes_as_that_of_the_command(expected, tmp_path):
    sweep = small(tmp_path / "python")
    assert (sweep.cells, sweep.runs, sweep.keys) == (6, 12, ["ap.home.queue", "station.tablet.signal"])
    sweep.run(threads=2)
    assert sweep.path == tmp_path / "python"
    assert contents(sweep.path) == contents(expected)


@pytest.mark.parametrize(
    "kind", [concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor], ids=["threads", "processes"]
)
def test_an_executor_gives_the_same_bytes(kind, expected, tmp_path):
    options = {}
    if kind is concurrent.futures.ProcessPoolExecutor:
        import multiprocessing

        options["mp_context"] = multiprocessing.get_context("spawn")
    with kind(2, **options) as executor:
        rows = small(tmp_path / "python").run(executor=executor)
    assert contents(tmp_path / "python") == contents(expected)
    assert pyarrow.table(rows).equals(pyarrow.parquet.read_table(expected / "rows.parquet"))


def test_the_command_continues_a_sweep_of_python(expected, command, tmp_path):
    small(tmp_path / "sweep").run()
    lost = [tmp_path / "sweep" / "runs" / f"{number}.json" for number in (3, 8)]
    kept = tmp_path / "sweep" / "runs" / "4.json"
    for path in lost:
        path.unlink()
    before = kept.stat().st_mtime_ns
    command.run("sweep", "slow-neighbour", *OPTIONS, *KEYS, "--out", "sweep")
    assert contents(tmp_path / "sweep") == contents(expected)
    assert kept.stat().st_mtime_ns == before


def test_python_continues_a_sweep_of_the_command(expected, command, tmp_path):
    command.run("sweep", "slow-neighbour", *OPTIONS, *KEYS, "--out", "sweep")
    kept = tmp_path / "sweep" / "runs" / "4.json"
    before = kept.stat().st_mtime_ns
    (tmp_path / "sweep" / "runs" / "12.json").unlink()
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        small(tmp_path / "sweep").run(executor=executor)
    assert contents(tmp_path / "sweep") == contents(expected)
    assert kept.stat().st_mtime_ns == before


def test_each_row_is_a_run(expected, tmp_path):
    rows = polars.DataFrame(small(tmp_path / "sweep").run())
    assert rows.height == 12
    assert rows["ap.home.queue"].to_list() == ["fifo"] * 6 + ["airtime"] * 6
    # A row equals a simulation with its seed.
    row = rows.row(4, named=True)
    changes = BASE | {"ap.home.queue": row["ap.home.queue"], "station.tablet.signal": row["station.tablet.signal"]}
    run = nb.simulate(nb.scenario("slow-neighbour", changes), seed=row["run_seed"])
    assert row["throughput_mbps"] == run.throughput_mbps
    assert row["verdict"] == run.verdict
    assert row["laptop.probe.p50_ms"] == run["laptop"]["probe"].p50_ms


def test_a_failed_batch_keeps_the_finished_runs_and_another_call_continues(expected, tmp_path):
    class Failing(concurrent.futures.Executor):
        """Performs some calls at once and then fails, as a cluster that loses its workers."""

        def __init__(self, calls):
            self.calls = calls

        def submit(self, function, *arguments):
            future = concurrent.futures.Future()
            self.calls -= 1
            if self.calls < 0:
                future.set_exception(concurrent.futures.BrokenExecutor("no worker is connected"))
            else:
                future.set_result(function(*arguments))
            return future

    sweep = small(tmp_path / "sweep")
    with pytest.raises(concurrent.futures.BrokenExecutor):
        sweep.run(executor=Failing(5))
    finished = {path: path.stat().st_mtime_ns for path in (sweep.path / "runs").iterdir()}
    assert 5 <= len(finished) < 12
    sweep.run()
    assert contents(sweep.path) == contents(expected)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished


def test_an_executor_that_takes_no_more_batches_loses_no_result(expected, tmp_path):
    class Full(concurrent.futures.Executor):
        """Performs four calls at once and then rejects every call."""

        calls = 4

        def submit(self, function, *arguments):
            if self.calls == 0:
                raise concurrent.futures.BrokenExecutor("no worker is connected")
            self.calls -= 1
            future = concurrent.futures.Future()
            future.set_result(function(*arguments))
            return future

    _worker._bases.clear()
    small(tmp_path / "first").run(executor=concurrent.futures.ThreadPoolExecutor(1))
    sweep = small(tmp_path / "sweep")
    with pytest.raises(concurrent.futures.BrokenExecutor):
        sweep.run(executor=Full())
    assert len(list((sweep.path / "runs").iterdir())) == 4
    sweep.run()
    assert contents(sweep.path) == contents(expected)


def test_a_worker_of_another_version_is_refused_by_both_sides(tmp_path):
    with pytest.raises(nb.VersionError) as caught:
        _worker.simulate("9.8.7", "", None, [])
    assert str(caught.value).startswith(f"a worker has netburn {nb.__version__}, expected netburn 9.8.7")

    class Older(concurrent.futures.Executor):
        """A worker whose package has another version, and no check of its own."""

        def submit(self, function, *arguments):
            future = concurrent.futures.Future()
            future.set_result(("0.0.9", 0.1, None))
            return future

    with pytest.raises(nb.VersionError) as caught:
        small(tmp_path / "sweep").run(executor=Older())
    assert str(caught.value).startswith(f"a worker has netburn 0.0.9, expected netburn {nb.__version__}")


class Altered(concurrent.futures.Executor):
    """An executor that changes the answers of its workers."""

    def __init__(self, alter):
        self.alter = alter

    def submit(self, function, *arguments):
        future = concurrent.futures.Future()
        self.alter(future, lambda: function(*arguments))
        return future


def dropped(future, work):
    version, seconds, results = work()
    if results is not None:
        results = zlib.compress(json.dumps(_worker.results(results)[:-1]).encode())
    future.set_result((version, seconds, results))


def duplicated(future, work):
    version, seconds, results = work()
    if results is not None:
        results = zlib.compress(json.dumps(_worker.results(results) * 2).encode())
    future.set_result((version, seconds, results))


def torn(future, work):
    version, seconds, results = work()
    future.set_result((version, seconds, results and results[:-9]))


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (dropped, "the executor returned the results of runs none, expected 1"),
        (duplicated, "the executor returned the results of runs 1, 1, expected 1"),
        (torn, "the executor returned something else than the results of a batch"),
        (lambda future, work: future.set_result(None), "the executor returned something else"),
        (lambda future, work: future.cancel(), "the executor cancelled a batch"),
    ],
)
def test_an_executor_that_loses_or_changes_results_is_an_error_and_loses_no_run(alter, message, expected, tmp_path):
    _worker._bases.clear()
    sweep = small(tmp_path / "sweep")
    with pytest.raises(nb.RunError, match=message):
        sweep.run(executor=Altered(alter))
    sweep.run(threads=2)
    assert contents(sweep.path) == contents(expected)


def test_a_batch_has_the_duration_of_about_a_second_and_the_base_is_sent_once(expected, tmp_path):
    sent = []

    class Counting(concurrent.futures.Executor):
        def submit(self, function, version, digest, base, jobs):
            sent.append((digest, base is not None, len(jobs)))
            future = concurrent.futures.Future()
            version, _, results = function(version, digest, base, jobs)
            # As if a run took 100 ms.
            future.set_result((version, 0.1 * len(jobs), results))
            return future

    _worker._bases.clear()
    sweep = small(tmp_path / "sweep", repeat=5)
    sweep.run(executor=Counting())
    assert sweep.left == 0
    assert len({digest for digest, _, _ in sent}) == 1
    # Batches of one run until a result is known. The worker then asked for the base.
    assert [base for _, base, _ in sent].count(True) <= 16
    assert {size for _, base, size in sent[16:] if not base} <= {1, 10, 9, 8, 7, 6, 5, 4, 3, 2}
    assert max(size for _, _, size in sent) == 10


@pytest.mark.parametrize(
    ("base", "other"),
    [
        ({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"a": True}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": None}}}),
        ([1, 2], [1, 2, 3]),
        ({"a": 1}, [1]),
        ({}, {"a": {}}),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_a_difference_makes_one_document_of_another(base, other):
    before = json.dumps(base)
    patch = _patch.difference(base, other)
    assert json.dumps(_patch.apply(patch, base)) == json.dumps(other)
    assert json.dumps(base) == before
    assert (patch == []) == (json.dumps(base) == json.dumps(other))


def test_a_difference_is_small():
    base = {"ap": {"queue": "fifo", "width": 80}, "stations": [{"signal": -60}, {"signal": -70}]}
    other = {"ap": {"queue": "fifo", "width": 80}, "stations": [{"signal": -60}, {"signal": -75}]}
    assert _patch.difference(base, other) == [(["stations", 1, "signal"], -75)]


def test_shards_and_merged_folders_equal_the_whole(expected, command, tmp_path):
    shared = tmp_path / "shared"
    for shard in ("2/3", "1/3"):
        sweep = small(shared)
        rows = sweep.run(shard=shard, threads=1)
        assert sweep.left > 0 and not (shared / "rows.csv").exists()
    assert len(rows) == 8
    # The command executes the last shard.
    command.run("sweep", "slow-neighbour", *OPTIONS, *KEYS, "--out", shared, "--shard", "3/3")
    assert contents(shared) == contents(expected)
    for shard in ("1/2", "2/2"):
        small(tmp_path / shard[0]).run(shard=shard)
    sweep = small(tmp_path / "merged")
    sweep.run(merge=[tmp_path / "1", tmp_path / "2"], threads=1)
    assert contents(tmp_path / "merged") == contents(expected)
    with pytest.raises(ValueError, match="shard `4/3`: expected K/N"):
        sweep.run(shard="4/3")
    with pytest.raises(ValueError, match="a shard needs a folder"):
        small(None).run(shard="1/2")
    with pytest.raises(nb.RecordError, match="is not a sweep"):
        sweep.run(merge=[tmp_path])


def test_a_precision_ends_cells_early_on_threads_and_on_an_executor(tmp_path):
    options = {"metric": "laptop.probe.p50_ms", "precision": "2%"}
    sweep = small(tmp_path / "threads", repeat=12)
    rows = polars.DataFrame(sweep.run(threads=2, **options))
    medians = polars.DataFrame(sweep.medians)
    assert medians["runs"].sum() == rows.height < 72
    for name, low, high, runs in medians.select(
        "laptop.probe.p50_ms", "laptop.probe.p50_ms low", "laptop.probe.p50_ms high", "runs"
    ).rows():
        assert low <= name <= high
        assert (high - low) / 2 <= 0.02 * name or runs == 12
    assert sweep.effects[-1].startswith("Chance explains ")
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        small(tmp_path / "executor", repeat=12).run(executor=executor, **options)
    assert contents(tmp_path / "executor") == contents(tmp_path / "threads")
    with pytest.raises(ValueError, match="a precision needs a metric"):
        sweep.run(precision="2%")
    with pytest.raises(ValueError, match="found a precision in `Mbit/s`, expected the unit of laptop.probe.p50_ms: ms"):
        sweep.run(metric="laptop.probe.p50_ms", precision="2 Mbit/s")


PROGRAM = """
sweep = nb.sweep(nb.scenario("slow-neighbour", {"duration": "24h"}), {"seed": [1, 2, 3]}, out=sys.argv[1])
try:
    sweep.run(progress=progress)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_sweep(interrupted, tmp_path):
    assert interrupted(PROGRAM, tmp_path / "sweep") == ("interrupted\n", 0)
    assert (tmp_path / "sweep" / "rows.csv").exists()


def test_invalid_cells_are_rejected_or_skipped(tmp_path):
    vary = {"ap.home.queue": ["fifo", "fiffo"]}
    with pytest.raises(nb.ScenarioError, match="1 of 2 cells are invalid"):
        nb.sweep(nb.scenario("slow-neighbour", BASE), vary)
    sweep = nb.sweep(nb.scenario("slow-neighbour", BASE), vary, out=tmp_path / "sweep", skip_impossible=True)
    assert "1 of 2 cells are invalid" in sweep.skipped
    rows = polars.DataFrame(sweep.run())
    assert rows["verdict"].to_list()[1] == "impossible"


def test_invalid_arguments_are_rejected(tmp_path):
    for vary, message in [
        ({}, "no varied key"),
        ({"seed": []}, "missing key or value"),
        ({"seed": [1, 1]}, "duplicate value `1`"),
        ({"ap.nowhere.queue": ["fifo"]}, "nowhere"),
    ]:
        with pytest.raises(nb.ScenarioError, match=message):
            nb.sweep("slow-neighbour", vary)
    with pytest.raises(TypeError, match="expected a list of values"):
        nb.sweep("slow-neighbour", {"ap.home.queue": "fifo"})
    sweep = nb.sweep(nb.scenario("slow-neighbour", BASE), {"seed": [1]}, out=tmp_path / "sweep")
    with pytest.raises(ValueError, match="unknown metric `x`"):
        sweep.run(metric="x")
    with pytest.raises(ValueError, match="found 0 threads"):
        sweep.run(threads=0)


@pytest.mark.parametrize(
    ("values", "help"),
    [
        ("1..50", "range(1, 51)"),
        ("-82 dBm..-62 dBm..5", "nb.steps('-82 dBm', '-62 dBm', '5')"),
        ("0.1..0.3..0.1", "nb.steps('0.1', '0.3', '0.1')"),
        ("fifo,airtime", "['fifo', 'airtime']"),
        ("fifo", "['fifo']"),
    ],
)
def test_the_notation_of_the_command_has_a_correction(values, help):
    with pytest.raises(TypeError) as error:
        nb.sweep("slow-neighbour", {"seed": values})
    assert str(error.value).endswith(f"\nhelp: write it as {help}")


def test_the_folder_of_another_sweep_is_rejected(tmp_path):
    scenario = nb.scenario("slow-neighbour", BASE)
    nb.sweep(scenario, {"seed": [1]}, out=tmp_path / "sweep").run()
    with pytest.raises(nb.RecordError, match="contains another sweep: found other values of `seed`"):
        nb.sweep(scenario, {"seed": [2]}, out=tmp_path / "sweep").run()


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (("-82 dBm", "-62 dBm", "5 dB"), ["-82 dBm", "-77 dBm", "-72 dBm", "-67 dBm", "-62 dBm"]),
        (("10 Mbit/s", "30 Mbit/s", 10), ["10 Mbit/s", "20 Mbit/s", "30 Mbit/s"]),
        ((1, 6, 2), ["1", "3", "5"]),
        # 3 × 0.1 is not 0.3 in binary.
        ((0.1, 0.3, 0.1), ["0.1", "0.2", "0.3"]),
        (("7 ms", "7 ms", "1 ms"), ["7 ms"]),
    ],
)
def test_steps(arguments, values):
    assert nb.steps(*arguments) == values


@pytest.mark.parametrize(
    "arguments", [("1 ms", "2 s", 1), ("1 ms", "2 ms", "1 s"), (1, 2, 0), (2, 1, 1), ("a", "b", 1), (1, 2, "-1")]
)
def test_invalid_steps_are_rejected(arguments):
    with pytest.raises(ValueError):
        nb.steps(*arguments)


def test_the_ranges_of_steps_and_of_the_command_are_the_same(expected):
    sweep = json.loads((expected / "sweep.json").read_text())
    assert sweep["vary"][1]["values"] == nb.steps("-82 dBm", "-62 dBm", "10 dB")
