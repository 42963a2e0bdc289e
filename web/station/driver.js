// Connects the state machines of the workloads to real requests, and produces the rows of the record.

import { CallClient } from "./call_client.js";
import { Distribution } from "./health.js";
import { offset, operationOf } from "./packet_stream.js";
import { isBulk, isDatagram } from "./plan.js";
import { Prober, random64 } from "./prober.js";
import { Bins, event, operation } from "./rows.js";
import { Workload } from "./workload.js";

/** An operation that was not started counts as missed by this page if the page was later than this: 10 ms. */
const MISSED_SEND_THRESHOLD = 1e7;
/** A timer that is later than this was suspended by the browser or the device: 1 s. */
const SUSPENDED_THRESHOLD = 1e9;
/** The maximum delay of one timer, in ms. */
const MAX_SLEEP = 60000;

/**
 * Drives `loads`, each `{station, workload, config, start, end, settle, index}`.
 *
 * - `clock` and `zero`: the page's clock, and the time on it at which the load begins.
 * - `transfers`: transfers objects over HTTP.
 * - `datagrams`: sends datagrams, or `null`. Without it, workloads that need datagrams end at once.
 * - `put(kind, row)`: receives rows.
 * - `settled()`: is called once, after the end of all operations.
 */
export class Driver {
  constructor(loads, { seed, clock, zero, transfers, datagrams = null, put, settled = () => {}, timers = globalThis }) {
    Object.assign(this, { clock, zero, transfers, datagrams, put, settled, timers });
    this.machines = loads.map((load) => ({
      load,
      workload: new Workload({ ...load, seed }),
      bins: new Bins(load.station, load.workload),
      requests: new Map(),
      client: null,
      /** Packets of the server that arrived before their operation was due, because the clocks' offset is not exact. */
      early: new Map(),
      /** True if the workload sends datagrams and ended because there is no data channel. */
      unconnected: false,
      playing: false,
      bytes: 0,
      latest: null,
      /** The longest time for which a request waited for connections that other workloads used. */
      waited: 0,
    }));
    this.timer = null;
    /** The time for which `timer` is set. */
    this.armed = Infinity;
    this.ended = false;
    this.lateness = new Distribution();
    this.counts = { missed: 0, down: 0, up: 0, operations: 0 };
  }

  /** The current time of the run, in ns. */
  now() {
    return this.clock.now() - this.zero;
  }

  /** Starts the driver. */
  run() {
    for (const machine of this.machines.filter(({ load }) => isDatagram(load.config))) {
      this.openClient(machine);
    }
    this.wake();
  }

  /** Creates the client of a workload that sends datagrams. */
  openClient(machine) {
    const { load, workload } = machine;
    if (!this.datagrams) {
      machine.unconnected = true;
      const text = "ended: the data channel of the browser is closed";
      this.put("events", event(load.station, load.workload, this.now(), 0, "warning", text));
      this.input(machine, this.now(), () => workload.handleStop(this.now()));
      return;
    }
    const { config } = load;
    const stream = (direction) => {
      const first = workload.firstPacket(direction);
      return first === null ? null : { first, stream: config.packets[direction] };
    };
    const plan = { up: stream("up"), down: stream("down"), end: workload.end, dscp: config.dscp, timeout: config.timeout, video: config.video };
    const isProbe = config.kind === "probe";
    if (!isProbe && !plan.up && !plan.down) {
      return;
    }
    const client = isProbe
      ? new Prober(this.now(), random64(), config.dscp)
      : new CallClient(this.now(), random64(), random64(), plan);
    const received = (event) => (isProbe ? this.handleEcho(machine, event) : this.handleCall(machine));
    machine.client = client;
    // A datagram that cannot be sent is lost, and counts as missed by this page.
    const unsent = () => {
      this.counts.missed += 1;
    };
    machine.entry = this.datagrams.add(client, () => this.now(), received, unsent);
  }

  handleEcho(machine, event) {
    if (event?.kind === "echo") {
      const { workload, load } = machine;
      const now = this.now();
      this.count(machine, now, load.config.objectSize, load.config.objectSize);
      this.input(machine, now, () => workload.handleReply(now, { operation: event.id, object: 0 }));
      this.sleep();
    }
  }

  handleCall(machine) {
    const { client, early } = machine;
    for (let event = client.pollEvent(); event; event = client.pollEvent()) {
      const { direction, number } = event;
      if (direction === "down" && this.now() - client.plan.down.first <= offset(client.plan.down.stream, number)) {
        early.set(number, early.get(number) ?? event);
      } else {
        this.arrived(machine, event);
      }
    }
  }

  /** A packet arrived at `at`, or a frame of `size` bytes is complete. */
  arrived(machine, { direction, number, at, size: ofFrame = null }) {
    if (this.ended) {
      return;
    }
    const { workload, load } = machine;
    const now = this.now();
    const size = ofFrame ?? load.config.packets[direction].size;
    this.count(machine, now, direction === "down" ? size : 0, direction === "up" ? size : 0);
    const id = { operation: operationOf(direction, number), object: 0 };
    this.input(machine, now, () => workload.handleArrival(now, id, at, size));
    this.sleep();
  }

  /** Counts bytes of content that were received and sent. */
  count(machine, now, down, up) {
    this.counts.down += down;
    this.counts.up += up;
    machine.bytes += down + up;
    this.putInterval(machine.bins.add(now, down, up));
  }

  /** Ends all operations now. */
  stop() {
    const now = this.now();
    for (const machine of this.machines) {
      this.input(machine, now, () => machine.workload.handleStop(now));
    }
    this.sleep();
  }

  /** Aborts all requests without results. */
  abandon() {
    this.ended = true;
    this.timers.clearTimeout(this.timer);
    for (const { requests, entry } of this.machines) {
      entry?.close();
      requests.forEach((end) => end());
      requests.clear();
    }
  }

  /** Outputs the intervals that have ended. */
  flush() {
    const now = this.now();
    for (const machine of this.machines) {
      this.putInterval(machine.bins.ended(now));
    }
  }

  /** The state as plain data for `restore`. */
  save() {
    const machines = this.machines.map(({ workload, playing }) => ({ workload: workload.save(), playing }));
    return { machines, lateness: this.lateness.save(), counts: { ...this.counts } };
  }

  /** Continues from `saved`. Operations that were due meanwhile count as missed by this page. */
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
    if (this.ended) {
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

  /** Applies an input to a machine at `now`. First processes overdue operations, to record the lateness of this page. */
  input(machine, now, handle) {
    const { workload } = machine;
    const next = workload.pollTimeout();
    if (next && next.why === "due" && next.at <= now) {
      this.lateness.record(now - next.at);
      if (now - next.at > SUSPENDED_THRESHOLD) {
        const { station, workload: number } = machine.load;
        const text = "the browser suspended the page, or the device was asleep";
        this.put("events", event(station, number, next.at, now - next.at, "warning", text));
      }
      workload.handleTimeout(now);
      this.drain(machine, (ended) => {
        this.counts.missed += ended.outcome === "not_started" && ended.due <= now - MISSED_SEND_THRESHOLD ? 1 : 0;
      });
    }
    handle();
    this.drain(machine);
  }

  /** Processes the outputs of a machine. `onEnded` receives each operation that has ended. */
  drain(machine, onEnded = () => {}) {
    const { load, workload } = machine;
    for (let ended = workload.pollOperation(); ended; ended = workload.pollOperation()) {
      onEnded(ended);
      this.counts.operations += 1;
      machine.latest = ended;
      this.put("operations", operation(load.station, load.workload, ended));
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
      } else if (action.do === "send") {
        machine.client?.probe(this.now(), action.id.operation, action.size);
        this.flushDatagrams(machine);
      } else if (action.do === "send-one-way") {
        this.sendOneWay(machine, action);
      } else {
        this.remove(machine, action.id)?.();
      }
    }
  }

  /** Sends a packet of this page. The server sends the packets of the other direction by itself. */
  sendOneWay(machine, { id, direction }) {
    const { client, early } = machine;
    const number = Math.floor(id.operation / 2);
    if (direction === "up") {
      if (machine.load.config.video) {
        client?.sendFrame(this.now(), number);
      } else {
        client?.send(number);
      }
      this.flushDatagrams(machine);
    } else if (early.has(number)) {
      const event = early.get(number);
      early.delete(number);
      // Not within the processing of the current input.
      queueMicrotask(() => this.arrived(machine, event));
    }
  }

  /** Sends the datagrams of a client. */
  flushDatagrams({ entry }) {
    if (entry) {
      entry.flush();
    } else {
      this.counts.missed += 1;
    }
  }

  begin(machine, request) {
    const { id, direction } = request;
    const { workload, requests } = machine;
    const isCurrent = () => !this.ended && requests.has(requestKey(id));
    const input = (handle) => {
      this.input(machine, this.now(), handle);
      this.sleep();
    };
    const { station, workload: number, lane = 0 } = machine.load;
    const end = this.transfers.begin({ ...request, station, owner: `${station}.${number}`, lane }, {
      // The request was sent later than it was due.
      waited: (nanos) => {
        this.lateness.record(nanos);
        machine.waited = Math.max(machine.waited, nanos);
      },
      connected: (at) => isCurrent() && workload.handleConnected(id, at - this.zero),
      bytes: (count) => {
        if (isCurrent()) {
          const now = this.now();
          const [down, up] = direction === "up" ? [0, count] : [count, 0];
          this.count(machine, now, down, up);
          input(() => workload.handleBytes(now, id, count));
        }
      },
      finished: () => isCurrent() && (this.remove(machine, id), input(() => workload.handleFinished(this.now(), id))),
      failed: (how) => isCurrent() && (this.remove(machine, id), input(() => workload.handleFailed(this.now(), id, how))),
    });
    requests.set(requestKey(id), end);
  }

  remove({ requests }, id) {
    const end = requests.get(requestKey(id));
    requests.delete(requestKey(id));
    return end;
  }

  putInterval(row) {
    if (row) {
      this.put("intervals", row);
    }
  }

  /** Reports the longest time for which a request of a workload waited for the connections of other ones. */
  reportWait({ load, waited }) {
    if (waited > 0) {
      const text = `requests waited for up to ${Math.round(waited / 1e6)} ms for connections that other workloads of the page used`;
      this.put("events", event(load.station, load.workload, this.now(), 0, "warning", text));
    }
  }

  /**
   * Ends the bulk transfers after the load as soon as all other operations have ended. Nothing is measured with their load any
   * more, and the device may pay for its data volume.
   */
  endBulkAfterLoad() {
    const active = this.machines.filter(({ workload }) => !workload.isSettled());
    if (active.every(({ load, workload }) => isBulk(load.config) && workload.phase === "draining")) {
      const now = this.now();
      active.forEach((machine) => this.input(machine, now, () => machine.workload.handleStop(now)));
    }
  }

  /** Sets the timer for the next event, or reports that all operations have ended. */
  sleep() {
    if (this.ended) {
      return;
    }
    this.endBulkAfterLoad();
    const times = this.machines.map(({ workload }) => workload.pollTimeout()?.at ?? Infinity);
    const next = Math.min(...times, Infinity);
    if (next === Infinity) {
      this.ended = true;
      this.timers.clearTimeout(this.timer);
      this.machines.forEach((machine) => {
        this.putInterval(machine.bins.rest());
        machine.entry?.close();
        this.reportWait(machine);
      });
      // Not within the current call stack.
      this.timers.setTimeout(() => this.settled(), 0);
      return;
    }
    // Each received byte delays the timeout. One early wake-up costs less than a new timer for each byte.
    if (this.armed <= next) {
      return;
    }
    this.armed = next;
    this.timers.clearTimeout(this.timer);
    const delay = Math.max(0, (next - this.now()) / 1e6);
    this.timer = this.timers.setTimeout(() => this.wake(), Math.min(Math.ceil(delay), MAX_SLEEP));
  }
}

function requestKey({ operation, object }) {
  return `${operation}.${object}`;
}
