"""Models of measured networks."""

import json

import netburn as nb
import polars
import pyarrow
import pytest
from conftest import Command

HOUSE = """
[server.link]
delay = "8 ms"
[ap.home]
queue = "fq-codel"
wan = { down = "4 Mbit/s", up = "1 Mbit/s", delay = "3 ms", queue = "64 KiB" }
[ap.home.radio.5g]
standard = "802.11ac"
[station.laptop]
joins = "home.5g"
signal = "-60 dBm"
workload = "browsing"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the record `run` of a simulated measurement."""
    folder = tmp_path_factory.mktemp("fit")
    command = Command(folder)
    (folder / "house.toml").write_text(HOUSE)
    measure, _ = command.run("scenarios", "measure", "--house", "house.toml")
    (folder / "measure.toml").write_text(measure)
    command.run("run", "measure.toml", "--on", "simulate", "--out", "run")
    return folder


@pytest.fixture(scope="module")
def run(folder):
    return nb.read_record(folder / "run")


@pytest.fixture(scope="module")
def fit(run):
    return nb.fit(run, seed=2, threads=2)


def test_a_fit_equals_that_of_the_command(folder, fit):
    # An absolute path, because the document names the run.
    text, _ = Command(folder).run("fit", folder / "run", "--seed", "2", "--format", "json", "--jobs", "1")
    assert fit.document == json.loads(text)
    assert fit.document["schema"] == "netburn.fit/1"
    assert (fit.explains, fit.misfit) == (True, fit.document["misfit"])
    assert sum(fit.disciplines.values()) == pytest.approx(1)


def test_estimates_have_the_known_values(fit):
    estimates = {one.key: one for one in fit.estimates}
    down = estimates["ap.home.wan.down"]
    assert (down.unit, down.identified, down.needs) == ("Mbit/s", True, None)
    assert down.median == pytest.approx(4, rel=0.05)
    assert down.interval[0] <= down.median <= down.interval[1]
    assert down.prior[0] < down.prior[1]
    limit = estimates["ap.home.queue_limit"]
    assert (limit.identified, limit.unit) == (False, "packets")
    assert "a line faster than the Wi-Fi" in limit.needs
    assert "<Estimate ap.home.wan.down: " in repr(down) and "not identified" in repr(limit)
    assert "explains the run" in repr(fit)
    assert list(nb.parse_scenario(fit.scenario).plan()["station"]) == ["laptop"]
    assert any("one station" in gap for gap in fit.gaps)


def test_samples_are_a_table_of_models(fit):
    table = pyarrow.table(fit.samples)
    keys = [one.key for one in fit.estimates]
    assert table.column_names == ["discipline", "probability", *keys]
    assert sum(table["probability"].to_pylist()) == pytest.approx(1)
    for one in fit.estimates:
        assert table.schema.field(one.key).metadata[b"unit"].decode() == one.unit
    weights = polars.DataFrame(fit.samples).group_by("discipline").agg(polars.col("probability").sum())
    for discipline, weight in weights.rows():
        assert weight == pytest.approx(fit.disciplines[discipline])
    # Of the disciplines, only these have the limit.
    for row in table.to_pylist():
        assert (row["ap.home.queue_limit"] is not None) == (row["discipline"] in ("fifo", "station-rr"))
    down = sorted(table["ap.home.wan.down"].to_pylist())
    assert down[0] <= 4 <= down[-1]


def test_observations_are_those_of_the_document(fit):
    rows = pyarrow.table(fit.observations).to_pylist()
    assert len(rows) == len(fit.document["observations"]) > 10
    for row, known in zip(rows, fit.document["observations"]):
        for name in ("station", "quantity", "direction", "target", "percentile", "unit", "measured", "modelled", "inside"):
            assert row[name] == known[name]
        assert [row["low"], row["high"]] == known["interval"]
        assert row["inside"] == (row["low"] <= row["measured"] <= row["high"])
    # Content is 1448 of 1538 bytes.
    down = next(row for row in rows if row["direction"] == "down")
    assert down["measured"] == pytest.approx(4 * 1448 / 1538, rel=0.05)
    # A notebook shows tables with truth values.
    assert "<td>true</td>" in fit.observations._repr_html_()
    assert "ap.home.wan.down" in fit._repr_html_()


def test_a_folder_and_a_run_in_memory_give_the_same(folder, fit):
    simulated = nb.simulate(nb.parse_scenario((folder / "measure.toml").read_text()))
    again = nb.fit(simulated, seed=2)
    before = sorted(path.name for path in (folder / "run").iterdir())
    of_folder = nb.fit(str(folder / "run"), seed=2)
    assert sorted(path.name for path in (folder / "run").iterdir()) == before
    for other in (again, of_folder):
        assert other.document["estimates"] == fit.document["estimates"]
    # The seed matters.
    assert nb.fit(simulated, seed=3).document["estimates"] != fit.document["estimates"]


def test_a_run_that_is_no_measurement_is_rejected(tmp_path):
    run = nb.simulate("slow-neighbour")
    with pytest.raises(nb.RunError, match="is not part of a measurement(.|\n)*help: `netburn measure` makes"):
        nb.fit(run)
    with pytest.raises(nb.RecordError, match="nowhere"):
        nb.fit(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="threads: found 0"):
        nb.fit(run, threads=0)


PROGRAM = """
run = nb.read_record(sys.argv[1])
try:
    nb.fit(run, progress=progress)
except KeyboardInterrupt:
    print("interrupted", flush=True)
# The interpreter still works.
print(nb.simulate(nb.scenario("slow-neighbour", {"duration": "31s"})).seed)
"""


def test_ctrl_c_ends_a_fit(folder, interrupted):
    assert interrupted(PROGRAM, folder / "run") == ("interrupted\n1\n", 0)


def test_other_threads_continue_during_a_fit(run):
    import threading

    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            ended.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    shares = []
    nb.fit(run, progress=shares.append)
    ended.set()
    thread.join()
    assert counted[0] > 10
    assert shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1
