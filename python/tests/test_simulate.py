"""Simulated runs, compared with those of the command."""

import json
import threading
from html.parser import HTMLParser

import netburn as nb
import pytest

SHORT = {"duration": "40s"}

# Workloads of every kind of result: pages, streams, calls, probes, games, mesh, wired lines.
SCENARIOS = ["slow-neighbour", "four-uses", "evening-at-home", "three-unit-house", "wifi-or-line"]


def without_path(summary):
    return {key: value for key, value in summary.items() if key != "run"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_summary_equals_that_of_the_command(name, command, tmp_path):
    expected = command.simulate(name, tmp_path / "run", SHORT, seed=7)
    run = nb.simulate(nb.scenario(name, SHORT), seed=7)
    assert without_path(run.summary) == without_path(expected)
    assert run.seed == 7
    assert list(run) == [station["name"] for station in expected["stations"]]


def test_metrics_have_the_values_of_the_attributes():
    run = nb.simulate(nb.scenario("slow-neighbour", SHORT), seed=7)
    assert run.metrics["throughput_mbps"] == run.throughput_mbps
    for station in run.values():
        assert station.metrics["idle_latency_ms"] == station.idle_latency_ms
        for workload in station.values():
            names = ["throughput_mbps", "operations", "goal_misses", "failures", "p50_ms", "p95_ms", "p99_ms"]
            assert [workload.metrics[name] for name in names] == [getattr(workload, name) for name in names]
            assert [workload.metrics[name] for name in ["met"] if workload.goals] == [goal.met for goal in workload.goals][:1]


def test_a_saved_run_has_the_same_bytes_as_that_of_the_command(command, tmp_path):
    command.simulate("slow-neighbour", tmp_path / "command", SHORT, seed=3)
    saved = nb.simulate(nb.scenario("slow-neighbour", SHORT), seed=3).save(tmp_path / "python")
    assert saved.path == tmp_path / "python"
    tables = sorted(path.name for path in saved.path.glob("*.parquet"))
    assert tables == [f"{table}.parquet" for table in sorted(["operations", "intervals", "airtime", "connections", "link", "events"])]
    for table in tables:
        assert (saved.path / table).read_bytes() == (tmp_path / "command" / table).read_bytes(), table
    document = (saved.path / "run.json").read_text()
    assert document.replace(str(saved.path), str(tmp_path / "command")) == (tmp_path / "command" / "run.json").read_text()


def test_a_record_reads_as_the_run_that_was_saved(tmp_path):
    run = nb.simulate(nb.scenario("slow-neighbour", SHORT))
    run.save(tmp_path / "run")
    read = nb.read_record(tmp_path / "run")
    assert without_path(read.summary) == without_path(run.summary)
    assert read.explanation == run.explanation
    assert read.plan == run.plan
    assert (run.path, read.path) == (None, tmp_path / "run")
    with pytest.raises(nb.RecordError, match="already recorded"):
        read.save(tmp_path / "other")


def test_a_record_of_several_runs_has_the_rows_of_all(command, tmp_path):
    command.run("run", "slow-neighbour", "--on", "simulate", "--out", "runs", "--duration", "32s", "--repeat", "3")
    read = nb.read_record(tmp_path / "runs")
    each = [nb.read_record(tmp_path / "runs" / number) for number in "123"]
    assert len(read.summary["repeats"]) == 3
    assert len(read.operations) == sum(len(run.operations) for run in each) > 0


def test_the_explanation_equals_that_of_the_command(command, tmp_path):
    command.simulate("slow-neighbour", tmp_path / "run", {}, seed=1)
    text, _ = command.run("explain", "run", "--runs", "0", "--format", "json")
    expected = json.loads(text)
    run = nb.simulate("slow-neighbour", seed=1)
    assert run.causes, "the scenario fails because of a slow neighbour"
    assert [cause.document for cause in run.causes] == expected["causes"]
    assert run.causes[0].title in run.explanation[0]


def test_the_simulated_changes_equal_those_of_the_command(command, tmp_path):
    command.simulate("slow-neighbour", tmp_path / "run", {}, seed=1)
    text, _ = command.run("explain", "run", "--runs", "3", "--duration", "40s", "--format", "json")
    expected = json.loads(text)
    explanation = nb.explain(nb.simulate("slow-neighbour", seed=1), runs=3, duration="40s", threads=1)
    assert without_path(explanation.document) == without_path(expected)
    assert explanation.verdict == expected["verdict"]
    airtime = next(change for change in explanation.changes if change.changes == {"ap.home.queue": "airtime"})
    assert airtime.verdict == "pass"
    with pytest.raises(nb.ScenarioError, match="duration"):
        nb.explain(nb.simulate("slow-neighbour", seed=1), duration="40 parsecs")


def test_the_attributes_are_those_of_the_summary():
    run = nb.simulate(nb.scenario("slow-neighbour", {"duration": "50s"}))
    station = run.summary["stations"][1]
    probe = next(workload for workload in station["workloads"] if workload["name"] == "probe")
    laptop = run["laptop"]
    assert (laptop.name, laptop.verdict) == (station["name"], station["verdict"])
    assert laptop.airtime_share == station["airtime_share"]
    assert laptop["probe"].p95_ms == probe["latency_ms"]["p95"]
    assert laptop["probe"].latency.max_ms == probe["latency_ms"]["max"]
    assert laptop["browsing"].goals[0].verdict in ("pass", "marginal", "fail")
    assert run.throughput_mbps == run.summary["totals"]["throughput_mbps"]
    with pytest.raises(KeyError, match="no station `phone`; expected one of tablet, laptop"):
        run["phone"]


def test_another_seed_gives_another_run_and_the_same_seed_the_same():
    scenario = nb.scenario("slow-neighbour", SHORT)
    one, same, other = (nb.simulate(scenario, seed=seed) for seed in (1, 1, 2))
    assert one.summary == same.summary
    assert one.summary["stations"] != other.summary["stations"]


def test_threads_simulate_at_the_same_time_and_give_the_same_results():
    scenario = nb.scenario("slow-neighbour", SHORT)
    expected = [nb.simulate(scenario, seed=seed).summary for seed in range(4)]
    found = [None] * 4

    def simulate(seed):
        found[seed] = nb.simulate(scenario, seed=seed).summary

    threads = [threading.Thread(target=simulate, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


# More than a day of simulated time takes minutes.
LONG = {"duration": "24h"}


def test_an_exception_of_the_progress_function_ends_a_simulation_of_another_thread():
    begun, stop = threading.Event(), threading.Event()
    raised = []

    def progress(share):
        assert 0 <= share < 1
        begun.set()
        if stop.is_set():
            raise StopIteration("enough")

    def simulate():
        try:
            nb.simulate(nb.scenario("slow-neighbour", LONG), progress=progress)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=simulate)
    thread.start()
    # This thread runs only because the simulation does not hold the interpreter's lock.
    assert begun.wait(60)
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    assert [type(error) for error in raised] == [StopIteration]


def test_a_scenario_with_repeats_is_rejected():
    with pytest.raises(ValueError, match="repeat = 3"):
        nb.simulate(nb.scenario("slow-neighbour", {"repeat": 3}))


def test_a_seed_out_of_range_is_rejected():
    for seed in (-1, 2**64):
        with pytest.raises(OverflowError):
            nb.simulate("slow-neighbour", seed=seed)


def test_a_forked_process_simulates_again():
    """A fork copies no threads: the child must not wait for one of the parent."""
    import os

    expected = nb.simulate("slow-neighbour", seed=2).throughput_mbps
    child = os.fork()
    if child == 0:
        os._exit(0 if nb.simulate("slow-neighbour", seed=2).throughput_mbps == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_comparison_equals_that_of_the_command(command, tmp_path):
    before = [nb.simulate("slow-neighbour", seed=seed).save(tmp_path / f"before-{seed}") for seed in (1, 2, 3)]
    airtime = nb.scenario("slow-neighbour", {"ap.home.queue": "airtime"})
    after = [nb.simulate(airtime, seed=seed).save(tmp_path / f"after-{seed}") for seed in (1, 2, 3)]
    paths = [[run.path for run in runs] for runs in (after, before)]
    text, _ = command.run("compare", *paths[0], "--against", *paths[1], "--format", "json")
    expected = json.loads(text)
    comparison = nb.compare(after, against=before)
    # The names of the sides are those of their first runs.
    for side in ("these", "against"):
        expected[side].pop("name", None)
        comparison.document[side].pop("name", None)
    assert comparison.document == expected
    assert (comparison.baseline_verdict, comparison.verdict) == (expected["against"]["verdict"], expected["these"]["verdict"])
    assert comparison.baseline_verdict == "fail"
    assert len(comparison.metrics) == len(expected["metrics"])
    assert "worst verdict of 3 runs: fail → " in str(comparison).lower()


def test_one_run_is_compared_with_another():
    run = nb.simulate("slow-neighbour", seed=1)
    comparison = nb.compare(run, run)
    assert comparison.judgement == "can't tell" and comparison.runs_needed
    with pytest.raises(ValueError, match="found no run"):
        nb.compare([], run)


def test_results_have_a_form_for_notebooks(tmp_path):
    run = nb.simulate("slow-neighbour", seed=1)
    explanation = nb.explain(run, runs=0)
    sweep = nb.sweep("slow-neighbour", {"seed": range(1, 3)}, out=tmp_path / "sweep")
    comparison = nb.compare(run, run)
    evil = dict.fromkeys(("kind", "severity", "title", "evidence", "advice"), "<script>alert(1)</script>")
    hostile = nb.Explanation({**explanation.document, "causes": [{**evil, "stations": [], "by": []}]}, [])
    for shown in (run, explanation, hostile, sweep, run.operations, comparison):
        parser = Balanced()
        parser.feed(shown._repr_html_())
        parser.close()
        assert parser.open == [] and "script" not in parser.seen, shown
    html = run._repr_html_()
    # The verdict is a word, a sign and a colour.
    assert f"{run.verdict}</span>" in html and "background:" in html
    assert html.count("<tr>") == 1 + sum(len(station) for station in run.values())
    table = run.operations._repr_html_()
    assert f"{len(run.operations)} rows" in table and table.count("<tr>") == 1 + 10


class Balanced(HTMLParser):
    """Checks that each element is closed, and collects the names of the elements."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_names_of_the_module_are_complete():
    # Names whose modules are imported later included.
    assert set(nb.__all__) <= set(dir(nb))
    assert {"lab", "run", "Lab", "LabError", "Node", "Process", "compare"} <= set(dir(nb))
