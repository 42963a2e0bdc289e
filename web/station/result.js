// A station's own results: goals and verdicts, with the same rules as the summary of the record.

import { rateOf } from "./dash.js";
import { isDatagram } from "./plan.js";

const BIN = 1e8;

/** The result of one workload, updated during the run. */
export class Result {
  /** `load` is `{station, workload, name, from, end}`. Operations that were due before `from` do not count. */
  constructor(load, config) {
    this.load = load;
    this.config = config;
    this.from = load.from;
    this.to = load.end;
    this.latencies = [];
    /** The bit rates of complete segments of adaptive streaming (bit/s). */
    this.segments = [];
    this.samples = 0;
    this.failures = 0;
    this.notStarted = 0;
    this.timeouts = 0;
    this.bins = new Map();
    this.bytes = 0;
    this.stalled = 0;
    this.stalls = 0;
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
      this.stalls += 1;
      this.stalled += row[3];
    }
  }

  addOperation([, , , due, , , , finished, size, outcome]) {
    if (outcome === "cut" || due < this.from) {
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
   * are in ns.
   */
  at(now) {
    const to = Math.min(now, this.to);
    // The goals of datagrams need both directions, or windows of packets. They are judged in the report only.
    const judged = isDatagram(this.config) ? [] : this.config.goals;
    const goals = judged.map((goal) => ({ ...goal, ...this.judge(goal, to) }));
    const sorted = [...this.latencies].sort((a, b) => a - b);
    const { samples, failures, notStarted, timeouts, bytes, stalls, stalled } = this;
    return {
      verdict: worst(goals.map(({ verdict }) => verdict)),
      goals,
      median: sorted[Math.ceil(sorted.length / 2) - 1] ?? null,
      slowest: sorted.at(-1) ?? null,
      last: this.latencies.at(-1) ?? null,
      rate: to > this.from ? (bytes * 8e9) / (to - this.from) : 0,
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

  judge(goal, to) {
    if (goal.kind === "no-stall") {
      const length = to - this.from;
      if (length <= 0) {
        return { met: null, verdict: "inconclusive" };
      }
      const verdict = this.stalled * 100 > length ? "fail" : this.stalls > 0 ? "marginal" : "pass";
      return { met: Math.max(0, length - this.stalled) / length, verdict };
    }
    const tally =
      goal.kind === "latency" ? this.tallyOperations(goal.limit)
      : this.config.dash ? this.tallySegments(goal)
      : this.tallyWindows(goal, to);
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

  /** Counts windows of whole bins: the first begins at or after `from`, the last ends at or before `to`. */
  tallyWindows({ atLeast, window, step }, to) {
    const first = Math.ceil(this.from / BIN);
    const after = Math.floor(to / BIN);
    const [width, stride] = [window / BIN, step / BIN];
    const tally = { samples: 0, within: 0, worst: null };
    const needed = (atLeast * window) / 8e9;
    for (let begin = first; begin + width <= after; begin += stride) {
      let bytes = 0;
      for (let bin = begin; bin < begin + width; bin += 1) {
        bytes += this.bins.get(bin * BIN) ?? 0;
      }
      tally.samples += 1;
      tally.within += bytes >= needed ? 1 : 0;
      tally.worst = Math.max(tally.worst ?? 0, needed / bytes);
    }
    return tally;
  }

  save() {
    const { latencies, segments, samples, failures, notStarted, timeouts, bytes, stalled, stalls } = this;
    return { latencies, segments, samples, failures, notStarted, timeouts, bytes, stalled, stalls, bins: [...this.bins] };
  }

  restore(saved) {
    Object.assign(this, saved, { bins: new Map(saved.bins) });
  }
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

const ORDER = ["none", "pass", "marginal", "inconclusive", "fail"];

/** The worst of `verdicts`. */
export function worst(verdicts) {
  return ORDER[Math.max(0, ...verdicts.map((verdict) => ORDER.indexOf(verdict)))];
}
