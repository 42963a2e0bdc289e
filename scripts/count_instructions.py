"""Table of callgrind's counts: count_instructions.py MODE STORED FOLDER COMPILER NAME..."""

import collections
import pathlib
import re
import sys

LIMIT = 1.02

# The part of a function is that of the first pattern in its name.
PARTS = (
    ("queues", r"netburn_medium::queue|netburn_network::line"),
    ("air", r"netburn_medium"),
    ("TCP", r"netburn_tcp"),
    ("wires", r"netburn_network::(hop|wires|link_service|machine)"),
    ("features", r"netburn_network::"),
    ("rows", r"netburn_record|netburn_network_rows"),
    ("workload", r"netburn_workload"),
    ("world", r"netburn_simulate"),
    ("rest", r""),
)


def cost_by_function(path):
    """Instructions of each function without those of its callees."""
    names, cost, function, is_call = {}, collections.Counter(), None, False
    for line in path.open():
        if match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
            callee, number, name = match.groups()
            if name:
                names[number] = name
            if not callee:
                function = number
        elif line.startswith("calls="):
            is_call = True
        elif line[0].isdigit() or line[0] in "+-*":
            if not is_call:
                cost[function] += int(line.split()[1])
            is_call = False
    return [(names[number], count) for number, count in cost.items()]


def shares(functions):
    """Share of each part."""
    parts, total = collections.Counter(), 0
    for name, count in functions:
        part = next(part for part, pattern in PARTS if re.search(pattern, name))
        parts[part] += count
        total += count
    return total, {part: parts[part] / total for part, _ in PARTS}


def stored(path):
    """Compiler, and instructions by name."""
    first, *lines = path.read_text().splitlines()
    return first.removeprefix("# "), {name: int(count) for name, count in (line.split() for line in lines)}


def main():
    mode, path, folder, compiler, *names = sys.argv[1:]
    path, folder = pathlib.Path(path), pathlib.Path(folder)
    totals = {}
    heads = "".join(f"{part:>10}" for part, _ in PARTS)
    print(f"{'plan':20}{'millions':>10}{'a segment':>11}{'a packet':>10}{heads}")
    for name in names:
        segments, packets = map(int, (folder / f"{name}.counters").read_text().split())
        total, parts = shares(cost_by_function(folder / f"{name}.callgrind"))
        totals[name] = total
        columns = "".join(f"{100 * parts[part]:8.1f} %" for part, _ in PARTS)
        each = [total / max(count, 1) for count in (segments, packets)]
        print(f"{name:20}{total / 1e6:10.1f}{each[0]:11.0f}{each[1]:10.0f}{columns}")
    if mode == "--store":
        path.write_text(f"# {compiler}\n" + "".join(f"{name} {total}\n" for name, total in totals.items()))
    elif mode == "--check":
        expected_compiler, expected = stored(path)
        if expected_compiler != compiler:
            print(f"not compared: {path} has the counts of {expected_compiler}")
            return
        above = [name for name, total in totals.items() if total > LIMIT * expected.get(name, 0)]
        for name in above:
            before = expected.get(name, "a stored number")
            print(f"error: {name} needs {totals[name]} instructions instead of {before}", file=sys.stderr)
        sys.exit(1 if above else 0)


main()
