"""Labs with real programs. They need namespaces, as the labs of the command."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import netburn as nb
import pytest

PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT


@pytest.fixture(scope="module")
def lab():
    with nb.lab("slow-neighbour") as lab:
        yield lab


def until(reached, seconds=60):
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_nodes_have_names_and_addresses(lab):
    assert set(lab) == {"server", "laptop", "tablet"} and len(lab) == 3
    tablet = lab["tablet"]
    assert (tablet.name, len(tablet.addresses)) == ("tablet", 2)
    shown = tablet.run(["ip", "-json", "address", "show", "wlan0"], capture_output=True, check=True)
    assert [info["local"] for info in json.loads(shown.stdout)[0]["addr_info"]][:1] == [tablet.addresses[0]]
    assert tablet.run(["hostname"], capture_output=True, text=True).stdout == "tablet\n"
    with pytest.raises(KeyError):
        lab["sofa"]


def test_programs_reach_the_server(lab):
    lab["laptop"].run(["ping", "-c", "2", "-i", "0.2", "server"], check=True, stdout=DEVNULL)
    got = lab["tablet"].run(["curl", "-sf", "http://server/bytes/1MiB"], capture_output=True, check=True)
    assert len(got.stdout) == 1 << 20


def test_a_process_is_like_one_of_subprocess(lab, tmp_path):
    laptop = lab["laptop"]
    with laptop.popen(["cat"], stdin=PIPE, stdout=PIPE) as cat:
        assert cat.poll() is None
        assert cat.communicate(b"x" * (1 << 20)) == (b"x" * (1 << 20), None)
    assert cat.returncode == 0
    done = laptop.run(["sh", "-c", "echo out; echo err >&2; exit 7"], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 7)
    with pytest.raises(subprocess.CalledProcessError):
        laptop.run(["false"], check=True)
    with laptop.popen(["sh", "-c", "echo a; echo b >&2"], stdout=PIPE, stderr=STDOUT, text=True) as both:
        assert both.communicate()[0] == "a\nb\n"
    shown = laptop.run(["sh", "-c", "pwd; echo $MENU $NETBURN_STATION"], capture_output=True, text=True, cwd=tmp_path, env={"MENU": "7"})
    assert shown.stdout == f"{tmp_path}\n7 laptop\n"
    with open(tmp_path / "out", "wb") as file:
        laptop.run(["echo", "kept"], stdout=file)
    assert (tmp_path / "out").read_text() == "kept\n"
    assert laptop.run(["cat"], input="word", capture_output=True, text=True).stdout == "word"
    assert laptop.run(["printf", r"a\r\nb"], capture_output=True, text=True).stdout == "a\nb"
    # A program that reads nothing.
    assert laptop.run(["true"], input=b"x" * (1 << 20), capture_output=True).returncode == 0


def test_invalid_arguments_of_a_program_are_errors_and_not_a_hang(lab, tmp_path):
    laptop = lab["laptop"]
    with pytest.raises(TypeError, match="found str as input, expected bytes"):
        laptop.run(["cat"], input="word", capture_output=True)
    with pytest.raises(TypeError, match="found bytes as input, expected str"):
        laptop.run(["cat"], input=b"word", capture_output=True, text=True)
    with pytest.raises(UnicodeDecodeError):
        laptop.run(["printf", r"\377"], capture_output=True, text=True)
    with pytest.raises(TypeError, match="found one string"):
        laptop.run("ls")
    with pytest.raises(FileNotFoundError):
        laptop.run(["true"], cwd=tmp_path / "missing")
    assert laptop.run(["no-such-program"], cwd=tmp_path, stderr=DEVNULL).returncode == 127
    closed = os.open(os.devnull, os.O_RDONLY)
    os.close(closed)
    with pytest.raises(OSError, match="Bad file descriptor"):
        laptop.popen(["true"], stdout=closed)
    assert laptop.run(["true"]).returncode == 0


def test_a_process_is_ended_by_signals_and_timeouts(lab):
    sleeper = lab["laptop"].popen(["sleep", "600"])
    with pytest.raises(subprocess.TimeoutExpired):
        sleeper.wait(0.1)
    sleeper.terminate()
    assert sleeper.wait(60) == -signal.SIGTERM
    sleeper.kill()
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        lab["laptop"].run(["sleep", "600"], timeout=0.2)
    # Another program keeps the pipe open.
    with pytest.raises(subprocess.TimeoutExpired):
        lab["laptop"].run(["sh", "-c", "sleep 600 & echo x"], capture_output=True, timeout=0.2)
    assert time.monotonic() - began < 300


def test_a_program_that_cannot_be_started_is_the_error_of_subprocess(lab):
    with pytest.raises(FileNotFoundError) as caught:
        lab["laptop"].popen(["no-such-program"])
    assert caught.value.filename == "no-such-program"
    with pytest.raises(PermissionError):
        lab["laptop"].popen(["/etc/passwd"])
    with pytest.raises(nb.LabError, match="`arguments` is empty"):
        lab["laptop"].popen([])


def test_a_service_is_reached_when_it_listens(lab, tmp_path):
    (tmp_path / "page").write_text("hello")
    server = lab["server"].popen([sys.executable, "-m", "http.server", "8080"], cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL)
    lab["server"].wait_for_port(8080)
    got = lab["laptop"].run(["curl", "-sf", "http://server:8080/page"], capture_output=True, check=True)
    assert got.stdout == b"hello"
    server.kill()
    assert server.wait() == -9
    until(lambda: not lab["server"].listens(8080))
    with pytest.raises(TimeoutError, match="nothing listens at port 8080 of server"):
        lab["server"].wait_for_port(8080, timeout=0.05)


def test_counters_are_those_of_the_air(lab):
    before = lab["tablet"].counters()
    lab["tablet"].run(["curl", "-sf", "-o", "/dev/null", "http://server/bytes/1MiB"], check=True)
    # The rows are at most 100 ms old.
    until(lambda: lab["tablet"].counters().mpdus - before.mpdus >= (1 << 20) / 1500)
    after = lab["tablet"].counters()
    # 1 MiB at the PHY rate of a signal of -76 dBm or less, which is at most 433 Mbit/s with a width of 80 MHz.
    assert after.airtime_down_s - before.airtime_down_s > (1 << 23) / 433e6
    assert after.transmissions - before.transmissions <= after.mpdus - before.mpdus
    with pytest.raises(KeyError):
        lab["server"].counters()


def test_keys_change_while_programs_run(lab):
    lab.set({"station.tablet.signal": "-50 dBm"})
    until(lambda: lab["tablet"].counters().signal_dbm == -50)
    lab.set({"station.*.signal": "-70 dBm", "ap.home.queue": "airtime"})
    until(lambda: {counters.signal_dbm for counters in lab.counters().values()} == {-70})
    for changes, message in [
        ({"ap.home.queue": "airtme"}, "did you mean `airtime`"),
        ({"ap.attic.queue": "fifo"}, "attic"),
        ({"duration": "3 s"}, "duration"),
        ({"station.laptop.signal": "-60 dBm", "station.tablet.signal": "3 apples"}, "apples"),
    ]:
        with pytest.raises(nb.LabError, match=message):
            lab.set(changes)
    assert lab["laptop"].counters().signal_dbm == -70


def test_invalid_requests_are_rejected_and_the_lab_continues(lab):
    def raw(message, files=()):
        """Sends any bytes, and returns the reply that has no waiting request."""
        replies = []
        handle, lab._handle = lab._handle, lambda reply: replies.append(reply) if reply.get("id") in (None, 0) else handle(reply)
        try:
            socket.send_fds(lab._socket, [message], list(files))
            until(lambda: replies)
        finally:
            lab._handle = handle
        return replies[0]["error"]

    assert raw(b"\xff\x00").startswith("invalid request")
    assert raw(b"{}").startswith("invalid request")
    assert "expected standard input, output and error" in raw(
        json.dumps({"id": 0, "call": {"run": {"at": "laptop", "arguments": ["true"]}}}).encode(), [0]
    )
    assert "sofa" in raw(b'{"id": 0, "call": {"listens": {"at": "sofa", "port": 80}}}')
    with pytest.raises(ValueError, match="expected at most 98304"):
        lab["laptop"].popen(["true", "x" * 100_000])
    assert lab["laptop"].run(["true"]).returncode == 0


def test_the_end_of_a_lab_ends_its_programs_and_reports_its_reliability():
    with nb.lab("slow-neighbour", {"ap.home.queue": "airtime"}, servers=False, seed=3) as lab:
        sleeper = lab["tablet"].popen(["sleep", "600"])
        with pytest.raises(nb.LabError, match="known after it was closed"):
            lab.unreliable
    assert sleeper.wait(60) == -9
    assert all(isinstance(reason, str) for reason in lab.unreliable)
    with pytest.raises(nb.LabError, match="the lab has ended"):
        lab["tablet"].run(["true"])
    lab.close()


def test_a_lab_that_is_killed_is_one_error():
    with nb.lab("slow-neighbour") as lab:
        sleeper = lab["tablet"].popen(["sleep", "600"])
        lab._command.kill()
        assert sleeper.wait(60) == -9
        with pytest.raises(nb.LabError):
            lab["tablet"].run(["true"])
    with pytest.raises(nb.LabError, match="ended without a check of itself"):
        lab.unreliable


def test_the_death_of_python_ends_the_lab(tmp_path):
    program = (
        "import netburn as nb, time\n"
        "lab = nb.lab('slow-neighbour')\n"
        "lab['laptop'].popen(['sleep', '600'])\n"
        "print(lab._command.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=PIPE, text=True) as process:
        command = int(process.stdout.readline())
        process.kill()
    until(lambda: not os.path.exists(f"/proc/{command}"))


def test_invalid_scenarios_have_the_error_of_the_scenario():
    with pytest.raises(nb.ScenarioError, match="did you mean `airtime`"):
        nb.lab("slow-neighbour", {"ap.home.queue": "airtme"})
    with pytest.raises(nb.ScenarioError):
        nb.lab("no-such-scenario")


def test_a_text_with_changes_is_opened():
    text = '[ap.a.radio.5g]\n[station.tv]\njoins = "a.5g"\nsignal = "-60 dBm"\nworkload = "probe"\n'
    scenario = nb.parse_scenario(text, {"station.tv.signal": "-55 dBm"})
    with nb.lab(scenario) as lab:
        until(lambda: lab["tv"].counters().signal_dbm == -55)
        assert list(lab) == ["server", "tv"]


def test_a_run_in_the_lab_is_a_record(tmp_path, capfd):
    text = '[ap.a.radio.5g]\n[station.tablet]\njoins = "a.5g"\nsignal = "-60 dBm"\nworkload = "voip"\n'
    scenario = nb.parse_scenario(text, {"duration": "3 s", "baseline": "1 s"})
    run = nb.run(scenario, on="lab", out=tmp_path / "run", seed=5)
    assert run.summary["environment"] == "lab" and run.summary["seed"] == 5
    assert run["tablet"].throughput_mbps > 0
    assert (tmp_path / "run" / "report.html").exists()
    with pytest.raises(nb.RecordError, match="exists"):
        nb.run("slow-neighbour", on="simulate", out=tmp_path / "run")
    with pytest.raises(nb.ScenarioError):
        nb.run("slow-neighbour", {"ap.home.queue": "airtme"}, out=tmp_path / "other")


def test_a_lab_of_many_stations_is_described_in_several_messages():
    stations = "".join(
        f'[station.station-{number}]\njoins = "a.5g"\nsignal = "-60 dBm"\nworkload = "probe"\n' for number in range(120)
    )
    with nb.lab(nb.parse_scenario(f"[ap.a.radio.5g]\n{stations}"), servers=False) as lab:
        assert len(lab) == 121
        assert list(lab.counters()) == [f"station-{number}" for number in range(120)]
        assert lab["station-119"].counters().mpdus == 0


def test_ctrl_c_ends_a_run_and_keeps_its_record(tmp_path):
    program = (
        "import netburn as nb, sys\n"
        "text = '[ap.a.radio.5g]\\n[station.tv]\\njoins = \"a.5g\"\\nsignal = \"-60 dBm\"\\nworkload = \"probe\"\\n'\n"
        "nb.run(nb.parse_scenario(text, {'duration': '10 min', 'baseline': '1 s'}), on='lab', out=sys.argv[1])\n"
    )
    words = [sys.executable, "-c", program, tmp_path / "run"]
    with subprocess.Popen(list(map(str, words)), stderr=PIPE, text=True) as process:
        # Messages are forwarded while the command runs. The last one may be an error, and waits.
        for line in process.stderr:
            if "waiting for the start" in line:
                break
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]
    assert nb.read_record(tmp_path / "run").verdict in ("inconclusive", "none")


def test_the_fixture_closes_its_labs(netburn_lab):
    lab = netburn_lab("slow-neighbour", servers=False)
    assert lab["laptop"].run(["true"]).returncode == 0
