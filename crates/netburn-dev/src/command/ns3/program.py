"""Runs plans of `netburn-dev crosscheck` in ns-3.

Reads one plan as JSON from each line of standard input, and prints one line of JSON for each. The line has
the goodput in Mbit/s of each flow, and the median round trip in ms of each station's probes. The first line
that it prints has the version of ns-3. network.cc, next to this file, is compiled in memory against the
headers of the installed ns-3.
"""

import importlib.metadata
import json
import os
import signal
import sys
from pathlib import Path

from ns import ns  # noqa: F401  (loads the libraries)
import cppyy

# The most processor time of one run in seconds.
MAX_SECONDS = 600

cppyy.cppdef((Path(__file__).parent / "network.cc").read_text())
library = cppyy.gbl.crosscheck


def plan_of(fields):
    plan = library.Plan()
    for name, value in fields.items():
        if name == "flows":
            for flow in value:
                made = library.Flow()
                for field, of_flow in flow.items():
                    setattr(made, field, of_flow)
                plan.flows.push_back(made)
        elif name in ("modes", "places"):
            for item in value:
                getattr(plan, name).push_back(item)
        elif name == "home":
            for field, of_home in value.items():
                setattr(plan.home, field, of_home)
        else:
            setattr(plan, name, value)
    return plan


def median(values):
    ordered = sorted(values)
    # As in netburn: nearest rank, and none from fewer than six samples.
    return ordered[(len(ordered) + 1) // 2 - 1] if len(ordered) >= 6 else None


def run(fields):
    result = library.run(plan_of(fields))
    seconds = (fields["duration"] - fields["warmup"]) / 1e9
    if not result.associated:
        return {"error": "a station is not associated"}
    return {
        "seed": fields["seed"],
        "goodput": [bytes_of * 8 / seconds / 1e6 for bytes_of in result.bytes],
        "round_trip": [median(of_station) for of_station in result.roundTrips],
        "ppdus": int(result.ppdus),
        "mpdus": int(result.mpdus),
        "failed": int(result.failed),
    }


def run_apart(fields):
    """Runs in a process of its own: a fault of ns-3 ends only that process, and no run sees another's global state."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(MAX_SECONDS)
        try:
            answer = run(fields)
        except BaseException as error:  # the parent has to answer
            answer = {"error": repr(error)}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status, used = os.wait4(child, 0)
    if not text:
        return {"error": f"ns-3 ended with status {status}"}
    return dict(json.loads(text), processor_seconds=used.ru_utime + used.ru_stime)


def main():
    print(json.dumps({"version": importlib.metadata.version("ns3")}), flush=True)
    compiled = False
    for line in sys.stdin:
        fields = json.loads(line)
        if not compiled:
            # Compiles what a run calls, so that the processes that follow have it.
            short = dict(fields, duration=2e6, warmup=1e6)
            library.run(plan_of(short))
            compiled = True
        print(json.dumps(run_apart(fields)), flush=True)
    # Python would destroy objects of ns-3 in an order that crashes ns-3.
    os._exit(0)


main()
