// A station's own results: goals and verdicts, with the same rules as the summary of the record.

import { rateOf } from "./dash.js";
import { isDatagram } from "./plan.js";
import { windows } from "./windows.js";

const BIN = 1e8;

/** The result of one workload, updated during the run. */
export class Result {
  /**
   * `load` is `{station, workload, name, start, warm, first, end}`: the load of the station runs from `start` to `end`, the
   * warm-up ends at `warm`, and the first operation is due at `first`. What was due before `warm` does not count.
   */
  constructor(load, config) {
    this.load = load;
    this.config = config;
    this.windows = windows(config.activity, load.start, load.end);
    /** The time from the start of a window to its first operation. */
    this.phase = Math.max(load.first - (this.windows[0]?.from ?? load.start), 0);
    this.latencies = [];
    /** The bit rates of complete segments of adaptive streaming (bit/s). */
    this.segments = [];
    this.samples = 0;
    this.failures = 0;
    this.notStarted = 0;
    this.timeouts = 0;
    this.bins = new Map();
    /** All bytes, including those during the warm-up and after the load. */
    this.bytes = 0;
    /** Stalls as `{at, length}`. */
    this.stalls = [];
  }

  /** True if `row` belongs to this workload. */
  matches([station, workload]) {
    return station === this.load.station && workload === this.load.workload;
  }

  add(kind, row) {
    if (kind === "operations") {
      this.addOperation(row);
    } else if (kind === "intervals") {
      const [, , at, down, up] = row;
      this.bins.set(at, (this.bins.get(at) ?? 0) + down + up);
      this.bytes += down + up;
    } else if (kind === "events" && row[4] === "stall") {
      this.stalls.push({ at: row[2], length: row[3] });
    }
  }

  addOperation([, , , due, , , , finished, size, outcome]) {
    if (outcome === "cut" || due < this.load.warm) {
      return;
    }
    this.samples += 1;
    this.failures += outcome.startsWith("failed") || outcome === "timed_out" ? 1 : 0;
    this.notStarted += outcome === "not_started" ? 1 : 0;
    this.timeouts += outcome === "timed_out" ? 1 : 0;
    if (outcome === "finished") {
      this.latencies.push(finished - due);
      if (this.config.dash) {
        const rate = rateOf(this.config.dash, size);
        if (rate !== null) {
          this.segments.push(rate);
        }
      }
    }
  }

  /**
   * The result at the run's time `now`: `{verdict, goals: [{kind, met, samples, worst, verdict}], median, slowest, …}`. Times
   * are in ns. The verdict `report` means that this page cannot judge the goals.
   */
  at(now) {
    // The goals of datagrams need both directions, or windows of packets. They are judged in the report only.
    const inReport = isDatagram(this.config) && this.config.goals.length > 0;
    const judged = isDatagram(this.config) ? [] : this.config.goals;
    const goals = judged.map((goal) => ({ ...goal, ...this.judge(goal, now) }));
    const sorted = [...this.latencies].sort((a, b) => a - b);
    const { samples, failures, notStarted, timeouts, bytes } = this;
    const { stalls, stalled } = this.stalledWithin(this.parts(this.phase, now));
    return {
      verdict: inReport ? "report" : worst(goals.map(({ verdict }) => verdict)),
      goals,
      median: sorted[Math.ceil(sorted.length / 2) - 1] ?? null,
      slowest: sorted.at(-1) ?? null,
      last: this.latencies.at(-1) ?? null,
      rate: this.rate(now),
      segments: this.segments,
      samples,
      failures,
      notStarted,
      timeouts,
      bytes,
      stalls,
      stalled,
    };
  }

  /** The evaluated parts `{from, to}` of the windows until `now`, each from `phase` after the start of its window on. */
  parts(phase, now) {
    return this.windows
      .map(({ from, to }) => ({ from: Math.max(from + phase, this.load.warm), to: Math.min(to, now) }))
      .filter(({ from, to }) => from < to);
  }

  /**
   * The mean rate until `now` in bit/s, by the definition of the summary: the bytes of the evaluated time in which the
   * workload runs, divided by this time. An interval counts by its evaluated part.
   */
  rate(now) {
    const parts = this.parts(0, now);
    let moved = 0;
    for (const { from, to } of parts) {
      for (let bin = Math.floor(from / BIN) * BIN; bin < to; bin += BIN) {
        const inside = Math.min(bin + BIN, to) - Math.max(bin, from);
        moved += ((this.bins.get(bin) ?? 0) * inside) / BIN;
      }
    }
    const length = lengthOf(parts);
    return length > 0 ? (moved * 8e9) / length : 0;
  }

  /** The number of stalls within `parts`, and their length within them. */
  stalledWithin(parts) {
    let [stalls, stalled] = [0, 0];
    for (const { at, length } of this.stalls) {
      const within = parts.map(({ from, to }) => Math.min(at + length, to) - Math.max(at, from)).filter((part) => part > 0);
      stalls += within.length > 0 ? 1 : 0;
      stalled += within.reduce((sum, part) => sum + part, 0);
    }
    return { stalls, stalled };
  }

  judge(goal, now) {
    const parts = this.parts(this.phase, now);
    if (goal.kind === "no-stall") {
      const length = lengthOf(parts);
      if (length <= 0) {
        return { met: null, verdict: "inconclusive" };
      }
      const { stalls, stalled } = this.stalledWithin(parts);
      const verdict = stalled * 100 > length ? "fail" : stalls > 0 ? "marginal" : "pass";
      return { met: Math.max(0, length - stalled) / length, verdict };
    }
    const tally =
      goal.kind === "latency" ? this.tallyOperations(goal.limit)
      : this.config.dash ? this.tallySegments(goal)
      : this.tallyWindows(goal, parts);
    return { ...tally, met: tally.samples > 0 ? tally.within / tally.samples : null, verdict: verdictOf(tally) };
  }

  tallyOperations(limit) {
    const within = this.latencies.filter((latency) => latency <= limit).length;
    const longest = this.latencies.reduce((a, b) => Math.max(a, b), -Infinity);
    return { samples: this.samples, within, worst: longest === -Infinity ? null : longest / limit };
  }

  /** Counts the segments with at least the bit rate of the goal. A segment that is not complete has none. */
  tallySegments({ atLeast }) {
    const within = this.segments.filter((rate) => rate >= atLeast).length;
    const lowest = Math.min(...this.segments);
    return { samples: this.samples, within, worst: this.segments.length > 0 ? atLeast / lowest : null };
  }

  /** Counts windows of whole bins. In each part, the first begins at or after its start, the last ends at or before its end. */
  tallyWindows({ atLeast, window, step }, parts) {
    const [width, stride] = [window / BIN, step / BIN];
    const tally = { samples: 0, within: 0, worst: null };
    const needed = (atLeast * window) / 8e9;
    for (const { from, to } of parts) {
      const after = Math.floor(to / BIN);
      for (let begin = Math.ceil(from / BIN); begin + width <= after; begin += stride) {
        let bytes = 0;
        for (let bin = begin; bin < begin + width; bin += 1) {
          bytes += this.bins.get(bin * BIN) ?? 0;
        }
        tally.samples += 1;
        tally.within += bytes >= needed ? 1 : 0;
        tally.worst = Math.max(tally.worst ?? 0, needed / bytes);
      }
    }
    return tally;
  }

  save() {
    const { latencies, segments, samples, failures, notStarted, timeouts, bytes, stalls } = this;
    return { latencies, segments, samples, failures, notStarted, timeouts, bytes, stalls, bins: [...this.bins] };
  }

  restore(saved) {
    Object.assign(this, saved, { bins: new Map(saved.bins) });
  }
}

function lengthOf(parts) {
  return parts.reduce((sum, { from, to }) => sum + (to - from), 0);
}

function verdictOf({ samples, within, worst }) {
  if (samples === 0) {
    return "inconclusive";
  }
  if (within * 100 >= samples * 99 && (worst === null || worst <= 2)) {
    return "pass";
  }
  return within * 100 >= samples * 95 ? "marginal" : "fail";
}

const ORDER = ["none", "report", "pass", "marginal", "inconclusive", "fail"];

/** The worst of `verdicts`. */
export function worst(verdicts) {
  return ORDER[Math.max(0, ...verdicts.map((verdict) => ORDER.indexOf(verdict)))];
}
