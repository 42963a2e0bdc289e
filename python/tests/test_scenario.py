"""Scenarios, changes, and the errors of both."""

import json
import pickle

import netburn as nb
import pytest

INVALID = """\
[ap.home]
queue = "fiffo"

[ap.home.radio.5g]
width = "80 MHz"

[station.tv]
joins = "home.5g"
signal = "-62 dBm"
wrkload = "4kstream"
"""


def test_the_plan_equals_that_of_the_command(command):
    changes = {"ap.home.queue": "airtime", "station.tablet.signal": "-80 dBm", "seed": 5}
    sets = [argument for key, value in changes.items() for argument in ("--set", f"{key}={value}")]
    text, _ = command.run("plan", "slow-neighbour", "--on", "simulate", "--format", "json", *sets)
    scenario = nb.scenario("slow-neighbour", changes)
    assert scenario.plan() == json.loads(text)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("seed", 7, "7"),
        ("station.laptop.workload", ["probe", "browsing"], '["probe", "browsing"]'),
        ("ap.home.queue", "fq-codel", "fq-codel"),
        ("title", 'a "quoted" \\ title\n', r'"a \"quoted\" \\ title\n"'),
        ("server.link", {"rate": "50 Mbit/s", "delay": "5 ms"}, '{ rate = "50 Mbit/s", delay = "5 ms" }'),
        ("ap.home.ecn", False, "false"),
    ],
)
def test_a_value_of_python_equals_its_text_in_toml(key, value, text):
    if key == "title":
        # A str is read as `--set` reads it, so that a text with quotes is written as TOML.
        plan = nb.scenario("slow-neighbour", {key: text}).plan()
        assert plan["title"] == value
        return
    scenario = nb.scenario("slow-neighbour")
    assert scenario.with_changes({key: value}).plan() == scenario.with_changes({key: text}).plan()
    assert scenario.with_changes({key: value}).plan() != scenario.plan()


def test_a_value_of_another_type_is_rejected():
    with pytest.raises(TypeError, match="found a value of type bytes"):
        nb.scenario("slow-neighbour", {"seed": b"1"})


def test_the_text_of_an_error_is_that_of_the_command(command, tmp_path):
    (tmp_path / "home.toml").write_text(INVALID)
    _, expected = command.run("plan", "home.toml", "--on", "simulate", status=2)
    with pytest.raises(nb.ScenarioError) as caught:
        nb.scenario(tmp_path / "home.toml").plan()
    error = caught.value
    assert str(error).replace(str(tmp_path) + "/", "") == expected.rstrip("\n")
    assert error.file == str(tmp_path / "home.toml")
    # `queue` is in the second line; its value begins in the ninth column.
    assert (error.key, error.line, error.column) == ("ap.home.queue", 2, 9)
    assert error.help.startswith("did you mean `fifo`?")
    assert [problem.line for problem in error.problems] == [2, 10]


def test_an_error_crosses_a_process():
    with pytest.raises(nb.ScenarioError) as caught:
        nb.scenario("slow-neighbour", {"station.unknown.signal": "-60 dBm"})
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is nb.ScenarioError
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)
    assert copy.problems[0].message


def test_an_invalid_value_is_rejected_at_once():
    # A number without a unit, in a change of a built-in scenario and in a text.
    with pytest.raises(nb.ScenarioError, match='write it as `"10 s"`'):
        nb.scenario("four-uses", {"duration": 10})
    with pytest.raises(nb.ScenarioError, match='write it as `"10 s"`'):
        nb.parse_scenario("duration = 10\n[station.tv]\n")
    # The signal is missing only for environments that model the air.
    scenario = nb.parse_scenario("[station.tv]\nworkload = 'voip'\n")
    with pytest.raises(nb.ScenarioError):
        scenario.plan("simulate")


def test_an_unknown_scenario_has_a_suggestion():
    with pytest.raises(nb.ScenarioError, match="did you mean `slow-neighbour`"):
        nb.scenario("slow-neighbuor")


def test_a_scenario_from_text_and_from_a_file_is_the_same(tmp_path):
    text = INVALID.replace("fiffo", "fifo").replace("wrkload", "workload")
    (tmp_path / "scenario.toml").write_text(text)
    assert nb.parse_scenario(text).plan() == nb.scenario(tmp_path / "scenario.toml").plan()


def test_all_built_in_scenarios_resolve(command):
    text, _ = command.run("scenarios")
    listed = [line.split()[0] for line in text.splitlines() if line[:1].isalpha()]
    names = nb.built_in_scenarios()
    assert len(names) > 30 and set(names) <= set(listed)
    for name in names:
        assert nb.scenario(name).plan()["name"] == name


@pytest.mark.parametrize("arguments", [["AC1750"], ["AX5400", "--client", "3x3:2", "--stations", "4"], ["AC6600", "--nodes", "3"]])
def test_a_rating_is_decoded_as_by_the_command(arguments, command):
    text, _ = command.run("decode", *arguments, "--format", "json")
    options = dict(zip((name[2:] for name in arguments[1::2]), arguments[2::2]))
    options |= {name: int(options[name]) for name in ("stations", "nodes") if name in options}
    assert nb.decode(arguments[0], **options) == json.loads(text)


def test_the_radios_of_a_rating():
    # 3 streams of 433 Mbit/s in 80 MHz with 256-QAM (802.11ac), and 3 of 150 Mbit/s in 40 MHz (802.11n).
    radios = {radio["band"]: radio for radio in nb.decode("AC1750")["best"]["radios"]}
    assert (radios["5g"]["streams"], radios["5g"]["width_mhz"], round(radios["5g"]["rate_mbps"])) == (3, 80, 1300)
    assert (radios["2g"]["streams"], radios["2g"]["width_mhz"], round(radios["2g"]["rate_mbps"])) == (3, 40, 450)
    for arguments in [("XX1750",), ("AC1750", "two")]:
        with pytest.raises(ValueError):
            nb.decode(*arguments)
    with pytest.raises(ValueError, match="nodes: found 33, expected 1 to 32"):
        nb.decode("AC1750", nodes=33)
