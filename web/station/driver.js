// Walks workloads through real requests: state machines in, rows out.

import { Workload } from "./machine.js";
import { Distribution } from "./health.js";
import { Bins, event, operation } from "./rows.js";

/** An operation that could not begin and was due this long before is one that this page came too late for: 10 ms. */
const TOO_LATE = 1e7;
/** A page that acts so late was held back by its browser: 1 s. */
const HELD_BACK = 1e9;
/** The longest that is slept at once, in ms. */
const LONGEST = 60000;

/**
 * Drives `loads`, each `{station, workload, config, start, end, settle, index}`.
 *
 * - `clock` and `zero`: this page's clock, and the instant of it at which the run begins. `transfers`: moves objects. `put(kind, row)`: takes rows. `seen(load, operation)`:
 *   hears of operations that ended. `settled()`: hears that all are, once.
 */
export class Driver {
  constructor(loads, { seed, clock, zero, transfers, put, seen = () => {}, settled = () => {}, timers = globalThis }) {
    Object.assign(this, { clock, zero, transfers, put, seen, settled, timers });
    this.machines = loads.map((load) => ({
      load,
      workload: new Workload({ ...load, seed }),
      bins: new Bins(load.station, load.workload),
      requests: new Map(),
      playing: false,
      bytes: 0,
      latest: null,
    }));
    this.timer = null;
    /** The instant for which `timer` is set. */
    this.armed = Infinity;
    this.over = false;
    this.lateness = new Distribution();
    this.counts = { missed: 0, down: 0, up: 0, operations: 0 };
  }

  /** The run's time, in ns. */
  now() {
    return this.clock.now() - this.zero;
  }

  /** Goes, from now on. */
  run() {
    this.wake();
  }

  /** Ends what is under way, here and now. */
  stop() {
    const now = this.now();
    for (const machine of this.machines) {
      this.input(machine, now, () => machine.workload.handleStop(now));
    }
    this.sleep();
  }

  /** Lets everything go without a word: the page has other plans. */
  abandon() {
    this.over = true;
    this.timers.clearTimeout(this.timer);
    for (const { requests } of this.machines) {
      requests.forEach((end) => end());
      requests.clear();
    }
  }

  /** Hands over the intervals that have ended. */
  flush() {
    const now = this.now();
    for (const machine of this.machines) {
      this.putInterval(machine.bins.ended(now));
    }
  }

  /** It as plain data, for `restore`. */
  save() {
    const machines = this.machines.map(({ workload, playing }) => ({ workload: workload.save(), playing }));
    return { machines, lateness: this.lateness.save(), counts: { ...this.counts } };
  }

  /** Goes on where `saved` left off. What fell due meanwhile is a miss: this page was too late for it. */
  restore(saved) {
    const now = this.now();
    this.lateness.restore(saved.lateness);
    this.counts = { ...saved.counts };
    saved.machines.forEach((state, at) => {
      const machine = this.machines[at];
      machine.playing = state.playing;
      machine.workload.restore(state.workload, now);
      this.drain(machine, (ended) => {
        this.counts.missed += ended.outcome === "not_started" ? 1 : 0;
      });
    });
  }

  wake() {
    this.armed = Infinity;
    if (this.over) {
      return;
    }
    const now = this.now();
    for (const machine of this.machines) {
      const next = machine.workload.pollTimeout();
      if (next && next.at <= now) {
        this.input(machine, now, () => machine.workload.handleTimeout(now));
      }
    }
    this.sleep();
  }

  /** Something happens to a machine at `now`. What fell due before is looked at first: its lateness would go unseen. */
  input(machine, now, handle) {
    const { workload } = machine;
    const next = workload.pollTimeout();
    if (next && next.why === "due" && next.at <= now) {
      this.lateness.record(now - next.at);
      if (now - next.at > HELD_BACK) {
        const { station, workload: number } = machine.load;
        const text = "the browser held the page back, or the device slept";
        this.put("events", event(station, number, next.at, now - next.at, "warning", text));
      }
      workload.handleTimeout(now);
      this.drain(machine, (ended) => {
        this.counts.missed += ended.outcome === "not_started" && ended.due <= now - TOO_LATE ? 1 : 0;
      });
    }
    handle();
    this.drain(machine);
  }

  /** Takes out what a machine has to say, and does it. */
  drain(machine, look = () => {}) {
    const { load, workload } = machine;
    for (let ended = workload.pollOperation(); ended; ended = workload.pollOperation()) {
      look(ended);
      this.counts.operations += 1;
      machine.latest = ended;
      this.put("operations", operation(load.station, load.workload, ended));
      this.seen(load, ended);
    }
    for (let stall = workload.pollStall(); stall; stall = workload.pollStall()) {
      this.put("events", event(load.station, load.workload, stall.began, stall.length, "stall"));
    }
    const startup = workload.player?.startup ?? null;
    if (!machine.playing && startup !== null) {
      machine.playing = true;
      this.put("events", event(load.station, load.workload, load.start, startup, "startup"));
    }
    for (let action = workload.pollAction(); action; action = workload.pollAction()) {
      if (action.do === "begin") {
        this.begin(machine, action);
      } else {
        this.forget(machine, action.id)?.();
      }
    }
  }

  begin(machine, request) {
    const { id, direction } = request;
    const { workload, bins, requests } = machine;
    const live = () => !this.over && requests.has(name(id));
    const told = (handle) => {
      this.input(machine, this.now(), handle);
      this.sleep();
    };
    const end = this.transfers.begin({ ...request, station: machine.load.station }, {
      connected: (at) => live() && workload.handleConnected(id, at - this.zero),
      bytes: (count) => {
        if (live()) {
          const now = this.now();
          const [down, up] = direction === "up" ? [0, count] : [count, 0];
          this.counts.down += down;
          this.counts.up += up;
          machine.bytes += count;
          this.putInterval(bins.add(now, down, up));
          told(() => workload.handleBytes(now, id, count));
        }
      },
      finished: () => live() && (this.forget(machine, id), told(() => workload.handleFinished(this.now(), id))),
      failed: (how) => live() && (this.forget(machine, id), told(() => workload.handleFailed(this.now(), id, how))),
    });
    requests.set(name(id), end);
  }

  forget({ requests }, id) {
    const end = requests.get(name(id));
    requests.delete(name(id));
    return end;
  }

  putInterval(row) {
    if (row) {
      this.put("intervals", row);
    }
  }

  /** Sleeps until something is due, or says that nothing is any more. */
  sleep() {
    if (this.over) {
      return;
    }
    const wakes = this.machines.map(({ workload }) => workload.pollTimeout()?.at ?? Infinity);
    const next = Math.min(...wakes, Infinity);
    if (next === Infinity) {
      this.over = true;
      this.timers.clearTimeout(this.timer);
      this.machines.forEach(({ bins }) => this.putInterval(bins.rest()));
      // Not from inside of whatever came last.
      this.timers.setTimeout(() => this.settled(), 0);
      return;
    }
    // Every byte puts time-outs off: to wake once too early costs less than to set the timer anew each time.
    if (this.armed <= next) {
      return;
    }
    this.armed = next;
    this.timers.clearTimeout(this.timer);
    const left = Math.max(0, (next - this.now()) / 1e6);
    this.timer = this.timers.setTimeout(() => this.wake(), Math.min(Math.ceil(left), LONGEST));
  }
}

function name({ operation, object }) {
  return `${operation}.${object}`;
}
