"""Tables, read by libraries that know nothing of netburn."""

import duckdb
import netburn as nb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

TABLES = ["operations", "intervals", "airtime", "connections", "link", "events"]


@pytest.fixture(scope="module")
def run():
    # A video player that stalls and a station that roams give events.
    return nb.simulate(nb.scenario("walk-with-a-call", {"duration": "60s"}))


@pytest.fixture(scope="module")
def saved(run, tmp_path_factory):
    return run.save(tmp_path_factory.mktemp("record") / "run")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_equals_the_file_of_the_record(name, run, saved):
    # pyarrow's own reader of Parquet is the reference.
    expected = pyarrow.parquet.read_table(saved.path / f"{name}.parquet")
    for table in (getattr(run, name), saved.table(name)):
        found = pyarrow.table(table)
        assert found.schema.equals(expected.schema, check_metadata=False)
        assert found.equals(expected)
        assert len(table) == expected.num_rows
    assert expected.num_rows > 0


def test_polars_pandas_and_duckdb_read_the_same_values(run):
    expected = pyarrow.table(run.operations)
    frame = polars.DataFrame(run.operations)
    assert frame.columns == expected.column_names
    assert frame["due"].to_list() == expected["due"].to_pylist()
    assert frame["finished"].to_list() == expected["finished"].to_pylist()
    assert polars.from_arrow(run.operations).struct.field("outcome").to_list() == expected["outcome"].to_pylist()
    table = pandas.DataFrame.from_arrow(run.operations)
    assert table["bytes"].tolist() == expected["bytes"].to_pylist()
    assert table["station"].tolist() == expected["station"].to_pylist()
    operations = run.operations
    (count, total), = duckdb.sql("select count(*), sum(bytes) from operations").fetchall()
    assert operations is run.operations
    assert (count, total) == (expected.num_rows, sum(expected["bytes"].to_pylist()))


def test_frames_keep_whole_numbers(tmp_path):
    # One probe of the laptop never returns.
    run = nb.simulate(nb.scenario("slow-neighbour"))
    saved = run.save(tmp_path / "run")
    expected = pyarrow.table(run.operations)
    frames = [run.to_pandas("operations"), pandas.read_parquet(saved.path / "operations.parquet")]
    for frame in frames:
        # `finished` is missing for operations without an end; it would become a float.
        kinds = {name: str(frame[name].dtype) for name in ("due", "finished", "bytes")}
        assert kinds == {"due": "int64", "finished": "Int64", "bytes": "uint64"}
        missing = [value is None for value in expected["finished"].to_pylist()]
        assert frame["finished"].isna().tolist() == missing and any(missing)
        assert frame["finished"].dropna().tolist() == [value for value in expected["finished"].to_pylist() if value is not None]
    assert run.to_polars("operations")["due"].to_list() == expected["due"].to_pylist()


def test_frames_of_results_have_a_row_for_each_workload(run):
    names = [(station.name, workload.name) for station in run.values() for workload in station.values()]
    for frame in (run.to_pandas(), run.to_polars()):
        assert list(zip(frame["station"], frame["workload"])) == names
    first = next(iter(next(iter(run.values())).values()))
    assert run.to_polars()["throughput_mbps"][0] == first.throughput_mbps


def test_columns_have_units_and_meanings(run):
    columns = {name: (unit, meaning) for name, unit, meaning in run.operations.columns}
    assert columns["due"] == ("ns", "due time; latency counts from it")
    assert columns["bytes"][0] == "B"
    schema = pyarrow.schema(run.operations)
    assert schema.field("due").metadata[b"unit"] == b"ns"
    assert not schema.field("due").nullable
    assert schema.field("finished").nullable


def test_the_summary_follows_from_the_table():
    # Percentiles by nearest rank, computed by polars: the value at rank ⌈p · n⌉.
    run = nb.simulate(nb.scenario("slow-neighbour", {"duration": "60s"}), seed=1)
    operations = polars.DataFrame(run.operations)
    probe = operations.filter((polars.col("station") == "laptop") & (polars.col("workload") == "probe"))
    # A probe every 50 ms for 60 s. Those without an answer rank above all others.
    assert len(probe) == 1200
    answered = probe.filter(polars.col("outcome") == "finished")
    latency = ((answered["finished"] - answered["due"]) / 1e6).sort()
    found = run["laptop"]["probe"].latency
    assert (found.count, found.unbounded) == (1200, 1200 - len(latency))
    assert (found.min_ms, found.max_ms) == (latency[0], latency[-1])
    assert (found.p50_ms, found.p95_ms) == (latency[599], latency[1139])


def test_a_table_can_be_read_again_and_outlives_its_run():
    table = nb.simulate(nb.scenario("slow-neighbour", {"duration": "31s"})).operations
    one, other = pyarrow.table(table), pyarrow.table(table)
    del table
    assert one.equals(other) and one.num_rows > 0


def test_an_unknown_table_is_rejected(run):
    with pytest.raises(ValueError, match="unknown table `rows`; expected one of operations"):
        run.table("rows")
