"""Labs: real programs at the stations of a modelled network."""

from __future__ import annotations

import errno
import itertools
import json
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from dataclasses import fields as fields_of

from . import _values
from ._command import executable
from ._process import Pipes, Process
from ._runtime import native
from ._scenario import Scenario, scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import IO, Any, Union

    Words = Sequence[Union[str, os.PathLike[str]]]
    File = Union[int, IO[Any], None]

OPEN_S = 300.0
"""Maximum time in which a lab opens. On a busy machine each station takes about 40 ms."""

REPLY_S = 20.0
"""Time in which the lab replies to a request."""

MAX_MESSAGE = 96 * 1024
"""Maximum length of a message in bytes, as in the command."""

STATIONS_PER_REQUEST = 100
"""Stations whose counters one reply has. They need about 300 bytes each."""


class LabError(native.Error):
    """A lab can't be opened, has ended, or rejects a request."""


@dataclass(frozen=True)
class Counters:
    """Counters of a station since the lab was opened, and its state in the last 100 ms.

    The counters are at most 100 ms old, and count data frames only. The state is None in the first 100 ms.
    """

    airtime_down_s: float
    """Airtime of the frames to the station in s, with retransmissions."""
    airtime_up_s: float
    """Airtime of the frames from the station in s."""
    transmissions: int
    """Data PPDUs in both directions."""
    mpdus: int
    """MPDUs in these PPDUs."""
    retries: int
    """MPDUs that were retransmissions."""
    drops: int
    """Packets that queues dropped, or that were lost after the last retry."""
    marks: int
    """Packets that got a congestion mark (ECN CE)."""
    backlog: int
    """Packets that are queued for the station and at it."""
    airtime_share: float | None
    """Share of the airtime in the last 100 ms, 0 to 1."""
    mean_aggregate: float | None
    """Mean number of MPDUs per A-MPDU in the last 100 ms."""
    down_mbps: float | None
    """Rate of the bytes that were delivered to the station in the last 100 ms, in Mbit/s."""
    up_mbps: float | None
    """Rate of the bytes that were delivered from the station in the last 100 ms, in Mbit/s."""
    phy_rate_mbps: float | None
    """PHY rate of the last transmission to the station in Mbit/s; None before the first."""
    signal_dbm: float | None
    """Power of the access point's signal at the station in dBm; None for a wired station."""
    position_m: tuple[float, float] | None
    """Position from west to east and from south to north in m; None if the scenario has none."""


@dataclass(frozen=True)
class LinkEvent:
    """Event of a station's link, such as a move to another access point."""

    at_s: float
    """Time since the lab was opened, in s."""
    station: str
    """Name of the station."""
    text: str
    """Description."""


class Node:
    """A station of a lab, or its server."""

    __slots__ = ("_lab", "addresses", "name")

    def __init__(self, lab: Lab, name: str, addresses: Sequence[str]) -> None:
        self._lab = lab
        self.name = name
        """Name in the scenario, or "server". It is also the host name, and resolves at every node."""
        self.addresses = tuple(addresses)
        """IPv4 and IPv6 address."""

    def popen(
        self,
        args: Words,
        *,
        stdin: File = None,
        stdout: File = None,
        stderr: File = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        text: bool = False,
    ) -> Process:
        """Starts a program with the network of this node and the files of this machine.

        `args`: program and arguments, as for `subprocess.Popen`; a shell is a program like others.
        `stdin`, `stdout`, `stderr`: None for those of this process, `subprocess.PIPE`, `subprocess.DEVNULL`, a file or
        its number; for `stderr` also `subprocess.STDOUT`.
        `env`: variables in addition to those of this process. NETBURN_STATION is the name of the node.
        `cwd`: working directory; default: that of this process when the lab was opened. With it, a program that can't be
        started has the exit status 126 or 127.
        `text`: pipes are for str in UTF-8 instead of bytes.

        The program is killed when the lab is closed. Raises OSError if it can't be started, LabError after the end of
        the lab.
        """
        if isinstance(args, (str, bytes)):
            raise TypeError("found one string, expected a list: the program and its arguments")
        words = [os.fspath(word) for word in args]
        if cwd is not None:
            folder = os.path.abspath(cwd)
            # Raises the error of a folder that does not exist.
            os.stat(os.path.join(folder, "."))
            words = ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', folder, *words]
        return self._lab._start(self.name, words, (stdin, stdout, stderr), dict(env or {}), text)

    def run(
        self,
        args: Words,
        *,
        input: str | bytes | None = None,
        capture_output: bool = False,
        stdout: File = None,
        stderr: File = None,
        timeout: float | None = None,
        check: bool = False,
        text: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> subprocess.CompletedProcess[Any]:
        """Runs a program and waits for its end. Without `input`, its standard input is empty.

        Raises subprocess.TimeoutExpired after `timeout` seconds, subprocess.CalledProcessError with `check` if the
        program fails, and the errors of `popen`.
        """
        if capture_output:
            stdout, stderr = subprocess.PIPE, subprocess.PIPE
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        with self.popen(args, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd, text=text) as process:
            try:
                output, errors = process.communicate(input, timeout)
            except BaseException:
                process.kill()
                raise
        done = subprocess.CompletedProcess(list(args), process.wait(), output, errors)
        if check:
            done.check_returncode()
        return done

    def listens(self, port: int) -> bool:
        """Returns whether a program listens at a TCP port."""
        return bool(self._lab._call("listens", at=self.name, port=port)["listens"])

    def wait_for_port(self, port: int, timeout: float = 30.0) -> None:
        """Waits until a program listens at a TCP port.

        Raises TimeoutError after `timeout` seconds.
        """
        import time

        end = time.monotonic() + timeout
        while not self.listens(port):
            if time.monotonic() >= end:
                raise TimeoutError(f"nothing listens at port {port} of {self.name} after {timeout:g} s")
            time.sleep(0.01)

    def counters(self) -> Counters:
        """Returns the counters of a station.

        Raises KeyError for the server, which has no radio.
        """
        return self._lab.counters([self.name])[self.name]

    def __repr__(self) -> str:
        return f"<Node {self.name}>"


class Lab(Mapping[str, Node]):
    """An open lab. It maps "server" and the names of the stations to nodes.

        with nb.lab("slow-neighbour") as lab:
            tablet = lab["tablet"].popen(["iperf3", "-c", "server"])
            lab.set({"ap.home.queue": "airtime"})
            lab["laptop"].run(["ping", "-c", "5", "server"], check=True)

    Use it in a `with` statement, or call `close`. Its methods can be called from several threads.
    """

    def __init__(self, of: Scenario, options: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._processes: dict[int, Process] = {}
        # Return codes of programs that ended before their number was known here.
        self._early: dict[int, int] = {}
        self._opened: Future[dict[str, Any]] = Future()
        self._nodes: dict[str, Node] = {}
        self._reasons: list[str] | None = None
        self._events: list[LinkEvent] = []
        self._messages: list[str] = []
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, tempfile.TemporaryDirectory(prefix="netburn-") as folder:
            words = [executable(), "lab", *of._arguments(folder), "--control", "--quiet", *options]
            # A session of its own: an interrupt from the terminal is for this process, which closes the lab.
            self._command = subprocess.Popen(
                words, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
            )
            theirs.close()
            self._threads = [threading.Thread(target=work, daemon=True) for work in (self._receive, self._read_messages)]
            for thread in self._threads:
                thread.start()
            try:
                try:
                    opened = self._opened.result(OPEN_S)
                except FutureTimeoutError:
                    raise LabError(f"the lab did not open within {OPEN_S:g} s") from None
            except BaseException:
                self.close()
                raise
        self.scenario_name = str(opened["scenario"])
        """Name of the scenario."""
        self.notes = [str(note) for note in opened["notes"]]
        """Features that this machine lacks, as sentences."""

    def set(self, changes: Mapping[str, _values.Value]) -> None:
        """Changes keys of the scenario now. They are the keys that `[[at]]` can change, such as "ap.home.queue".

        Raises LabError for a key that is unknown or can't change during a run, and for an invalid value. None of the
        changes takes effect then.
        """
        self._call("set", changes={key: _values.text(value) for key, value in changes.items()})

    def counters(self, names: Sequence[str] | None = None) -> dict[str, Counters]:
        """Returns the counters of the stations with these names, or of all.

        Raises KeyError for a name that is not a station.
        """
        wanted = [name for name in self._nodes if name != "server"] if names is None else list(names)
        stations: dict[str, Any] = {}
        for first in range(0, len(wanted), STATIONS_PER_REQUEST):
            part = wanted[first : first + STATIONS_PER_REQUEST]
            stations |= self._call("stations", names=part)["stations"]
        return {name: _counters(stations[name]) for name in wanted}

    @property
    def link_events(self) -> list[LinkEvent]:
        """Events of the stations' links so far."""
        return list(self._events)

    @property
    def unreliable(self) -> list[str]:
        """Reasons for which measurements in this lab are unreliable, such as a machine that was too busy.

        Known after `close`. Raises LabError before, and if the lab ended without a check of itself.
        """
        if self._reasons is None:
            ended = self._command.returncode is not None
            raise LabError(
                "the lab ended without a check of itself" if ended else "the reliability of a lab is known after it was closed"
            )
        return self._reasons

    def close(self) -> None:
        """Ends the lab and all its programs. Does nothing if it was closed before."""
        try:
            self._send({"id": next(self._numbers), "call": {"close": {}}})
        except OSError:
            # The lab has ended.
            pass
        try:
            self._command.wait(REPLY_S)
        except subprocess.TimeoutExpired:
            self._command.kill()
            self._command.wait()
        for thread in self._threads:
            thread.join()
        self._socket.close()
        if self._command.stderr is not None:
            self._command.stderr.close()

    def _start(
        self, at: str, words: Sequence[str], files: Sequence[File], environment: Mapping[str, str], text: bool
    ) -> Process:
        pipes = Pipes(files, text)
        try:
            environment = dict(environment)
            started = self._call("run", pipes.theirs, at=at, arguments=list(words), environment=environment)
        except BaseException:
            pipes.abandon()
            raise
        pipes.close()
        number = int(started["process"])
        process = Process(words, pipes.ours, lambda signal: self._signal(number, signal))
        with self._lock:
            early = self._early.pop(number, None)
            ended = self._command.returncode is not None
            self._processes[number] = process
        if early is not None or ended:
            process._end(-9 if early is None else early)
        return process

    def _signal(self, process: int, signal: int) -> None:
        try:
            self._call("signal", process=process, number=int(signal))
        except LabError:
            # The program or the lab has ended meanwhile, as with Popen.
            pass

    def _call(self, name: str, files: Sequence[int] = (), **arguments: Any) -> dict[str, Any]:
        """Sends a request and returns the result."""
        number = next(self._numbers)
        reply: Future[dict[str, Any]] = Future()
        with self._lock:
            self._waiting[number] = reply
        try:
            self._send({"id": number, "call": {name: arguments}}, files)
            answer = reply.result(REPLY_S)
        except FutureTimeoutError:
            raise LabError(f"the lab did not reply within {REPLY_S:g} s") from None
        except OSError as error:
            if error.errno == errno.EBADF and self._socket.fileno() >= 0:
                # A file of the caller is closed.
                raise
            raise LabError(self._ended_message()) from error
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        if "error" in answer:
            if answer["errno"] is not None:
                raise OSError(answer["errno"], os.strerror(answer["errno"]), arguments["arguments"][0])
            raise LabError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, message: dict[str, Any], files: Sequence[int] = ()) -> None:
        encoded = json.dumps(message).encode()
        if len(encoded) > MAX_MESSAGE:
            raise ValueError(f"the arguments have {len(encoded)} bytes, expected at most {MAX_MESSAGE}")
        socket.send_fds(self._socket, [encoded], list(files))

    def _receive(self) -> None:
        """Handles replies and events until the lab ends."""
        while True:
            try:
                message = self._socket.recv(MAX_MESSAGE)
            except OSError:
                message = b""
            if not message:
                break
            self._handle(json.loads(message))
        self._command.wait()
        with self._lock:
            waiting, processes = list(self._waiting.values()), list(self._processes.values())
        self._threads[1].join()
        error = LabError(self._ended_message())
        for reply in [*waiting, self._opened]:
            if not reply.done():
                reply.set_exception(error)
        for process in processes:
            if process.returncode is None:
                process._end(-9)

    def _handle(self, message: dict[str, Any]) -> None:
        event = message.get("event")
        if event is None:
            with self._lock:
                reply = self._waiting.get(message["id"])
            if reply is not None:
                reply.set_result(message)
        elif event == "nodes":
            for name, node in message["nodes"].items():
                self._nodes[name] = Node(self, name, node["addresses"])
        elif event == "open":
            self._opened.set_result(message)
        elif event == "ended":
            status, signal = message["status"], message["signal"]
            code = status if status is not None else -(9 if signal is None else signal)
            with self._lock:
                process = self._processes.pop(message["process"], None)
                if process is None:
                    self._early[message["process"]] = code
            if process is not None:
                process._end(code)
        elif event == "link":
            self._events.append(LinkEvent(message["at_s"], message["station"], message["text"]))
        elif event == "closed":
            self._reasons = [str(reason) for reason in message["reasons"]]

    def _read_messages(self) -> None:
        """Forwards the messages of the lab to standard error, and keeps them for an error."""
        import sys

        assert self._command.stderr is not None
        for line in self._command.stderr:
            text = line.decode(errors="replace")
            self._messages.append(text)
            if self._opened.done():
                sys.stderr.write(text)

    def _ended_message(self) -> str:
        """The messages of a lab that ended by itself."""
        messages = "" if self._reasons is not None else "".join(self._messages).strip()
        return messages or "the lab has ended"

    def __getitem__(self, name: str) -> Node:
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Lab of {self.scenario_name}: {', '.join(self._nodes)}>"


def _counters(station: Mapping[str, Any]) -> Counters:
    """The counters of a reply, in which the state of the last 100 ms is a document of its own, or null."""
    known = dict.fromkeys(field.name for field in fields_of(Counters))
    values = {key: value for key, value in {**station, **(station["state"] or {})}.items() if key in known}
    position = values.get("position_m")
    values["position_m"] = None if position is None else (position[0], position[1])
    return Counters(**{**known, **values})


def lab(
    of: Scenario | str | os.PathLike[str],
    changes: Mapping[str, _values.Value] | None = None,
    *,
    seed: int | None = None,
    servers: bool = True,
    pcap: str | os.PathLike[str] | None = None,
) -> Lab:
    """Opens a lab: a network namespace with this machine's kernel TCP for each station, around a modelled access point.

    `of`: a scenario, or the path or name of one. Its workloads are not run.
    `changes`: as for `Scenario.with_changes`.
    `seed`: random seed; default: that of the scenario.
    `servers`: `netburn serve` listens on port 80 of the server, and iperf3 at its own port for each station.
    `pcap`: folder for packet captures of each station and of the radio.

    Raises ScenarioError if the scenario is invalid, LabError if this machine permits no lab; `netburn doctor` prints
    the reason.
    """
    if not isinstance(of, Scenario):
        of = scenario(of)
    if changes:
        of = of.with_changes(changes)
    # Raises the error with its place in the file.
    of.plan("lab")
    options = [] if servers else ["--no-servers"]
    if seed is not None:
        options += ["--seed", str(seed)]
    if pcap is not None:
        options += ["--pcap", os.fspath(pcap)]
    return Lab(of, options)
