// This station's session of one run: the protocol over `/run/RUN`, from `hello` to `bye`.

import { Driver } from "./driver.js";
import * as health from "./health.js";
import { Datagrams } from "./datagrams.js";
import { notes, obstacle } from "./limitations.js";
import * as messages from "./messages.js";
import { candidates, findServer } from "./origins.js";
import { BASELINE, idleWorkload, isDatagram, readAssignment, workloadIndex } from "./plan.js";
import { Result } from "./result.js";
import { rowDelivery } from "./row_delivery.js";
import { Batches, count, event } from "./rows.js";
import { ReconnectingSocket } from "./socket.js";

/** Intervals at which rows are stored and sent, and progress is reported (ms). */
const FLUSH_INTERVAL = 200;
const PROGRESS_INTERVAL = 250;
/** How long the run's controller may be disconnected before the start, or after the measurement (ns). */
const DISCONNECT_TIMEOUT = 20e9;
/** The baseline ends this long before the load begins (ns). For a short baseline, it is a quarter of its length. */
const BASELINE_GAP = 2e8;
/**
 * How long a run may be unknown to a reachable fleet controller (ns). After a restart of that controller, the process of
 * the run registers there within a second.
 */
const RUN_UNKNOWN_TIMEOUT = 3e9;

/**
 * One session. `options` is `{run, name, token, fleetToken, version, url, resolution}`; `context` is `{clock, store,
 * transfers(origins), reached(), changed(), ended(session), browser}`.
 *
 * `stage` is `joining`, `ready`, `running`, `delivering`, `done` or `closing`. After `ended`, `outcome` is `done`, `rejected`,
 * `lost` or `late`, and `reason` explains it.
 */
export class RunSession {
  constructor(options, context, saved = null) {
    Object.assign(this, { options, context });
    this.clock = context.clock;
    this.stage = "joining";
    this.assignment = null;
    /** The origins of the server, at least one. */
    this.origins = [];
    this.notes = [];
    /** The data channel `{channel, close()}` if the assignment needs one, else `{error}` with the reason. */
    this.channel = { error: null };
    this.driver = null;
    this.baseline = null;
    this.results = [];
    this.zero = null;
    /** The time of the controller's `stop`, in the run's time. */
    this.stopRequestedAt = null;
    this.batches = new Batches();
    this.messages = [];
    /** Sequence numbers: the last message made, sent on this connection, and written to the store. */
    this.sequence = 0;
    this.sent = 0;
    this.persisted = 0;
    /** Characters of unacknowledged messages in the store. */
    this.stored = 0;
    this.flushes = 0;
    this.flushing = false;
    this.flushAgain = false;
    this.welcomed = false;
    /** True if the controller knows this session, so that `hello` asks for a reconnect. */
    this.known = false;
    this.disconnectedSince = null;
    this.runUnknownSince = null;
    /** True if this connection was open. */
    this.opened = false;
    this.hiddenSince = null;
    this.report = null;
    this.outcome = null;
    this.reason = null;
    if (saved) {
      this.restore(saved);
    }
    const on = { open: () => this.greet(), text: (text) => this.receive(text), lost: () => this.lost() };
    this.socket = new ReconnectingSocket(options.url, on, context.browser);
    this.timers = [
      context.browser.setInterval(() => this.flush(), FLUSH_INTERVAL),
      context.browser.setInterval(() => this.sendProgress(), PROGRESS_INTERVAL),
    ];
  }

  /** The run's time in ns, or `null` before the start is known. */
  now() {
    return this.zero === null ? null : this.clock.now() - this.zero;
  }

  /** The number of unacknowledged rows. */
  get pending() {
    return this.messages.reduce((sum, { batch }) => sum + count(batch), this.batches.pending);
  }

  /** True while the baseline or the load runs. */
  get running() {
    return this.stage === "running";
  }

  /** The tab was hidden or shown. */
  handleHidden(hidden) {
    if (hidden && this.hiddenSince === null) {
      this.hiddenSince = this.clock.now();
    } else if (!hidden && this.hiddenSince !== null) {
      if (this.running) {
        const from = Math.max(this.hiddenSince, this.began);
        this.warn(from, this.clock.now() - from, "the page was in the background: its results in this period may be late");
        // A reload may follow.
        this.flush();
      }
      this.hiddenSince = null;
    }
  }

  /** The user of this device leaves the run. */
  leave() {
    this.socket.send(messages.bye("its user ended it"));
    this.end("lost", "you ended it");
  }

  greet() {
    const { name, token, version } = this.options;
    this.welcomed = false;
    this.opened = true;
    this.socket.send(messages.hello({ name, token, version, reconnect: this.known }));
  }

  receive(text) {
    const received = this.clock.now();
    const message = messages.decodeOrEmpty(text);
    if (message.type === "ping" && Number.isSafeInteger(message.id) && message.id >= 0) {
      return this.socket.send(messages.pong(message.id, received, this.clock.now()));
    }
    const handle = {
      welcome: () => this.welcome(message),
      rejected: () => this.rejected(message.reason),
      assign: () => this.assign(message),
      start: () => this.start(message.at),
      ack: () => this.acknowledged(message.sequence),
      stop: () => this.stop(message.reason),
      bye: () => this.bye(message.reason),
    };
    if (Object.hasOwn(handle, message.type)) {
      handle[message.type]();
      this.context.changed();
    }
  }

  welcome({ last_sequence: last = 0 }) {
    last = Number.isSafeInteger(last) ? last : 0;
    this.known = true;
    this.welcomed = true;
    this.disconnectedSince = null;
    this.runUnknownSince = null;
    this.socket.resetBackoff();
    this.acknowledged(last);
    this.renumber(last);
    this.sent = last;
    this.send();
  }

  rejected(reason) {
    // After `welcome`, only one message was rejected, and the session continues. The controller rejects a reconnect until
    // it has detected the loss of the previous connection.
    if (!this.welcomed && !this.known) {
      this.giveUp("rejected", reason);
    } else if (!this.welcomed && this.clock.now() - (this.disconnectedSince ?? this.clock.now()) > DISCONNECT_TIMEOUT) {
      this.giveUp("lost", reason);
    }
  }

  async assign(message) {
    if (this.stage !== "joining" && this.stage !== "ready") {
      return;
    }
    try {
      this.assignment = readAssignment(message);
      this.candidates = candidates(message.target, this.context.browser.location?.hostname);
    } catch (error) {
      return this.fail(`invalid assignment: ${error.message ?? error}`);
    }
    const unreachable = await this.findServer(message.target);
    if (unreachable === null) {
      await this.openChannel();
    }
    this.notes = notes(this.assignment, this.options.resolution, this.channel.error, this.origins.length);
    this.stage = "ready";
    this.socket.send(messages.ready(unreachable, this.notes));
    this.context.changed();
  }

  /** Finds the origins of the server. Returns the reason why it cannot be used, or `null`. */
  async findServer(target) {
    if (this.assignment.tls) {
      return "the server uses TLS with a self-signed certificate, which browsers reject";
    }
    if (this.context.browser.location?.protocol === "https:") {
      return "this page was loaded over HTTPS and cannot use plain HTTP; open it at its http:// address";
    }
    const tokens = [this.options.token, this.options.fleetToken];
    const { origins = [], error = null } = await findServer(target, this.candidates, tokens, this.context.browser.fetch);
    this.origins = origins;
    return error;
  }

  /** Opens a data channel if a workload needs one. */
  async openChannel() {
    const workloads = this.assignment.stations.flatMap(({ workloads }) => workloads);
    if (!workloads.some(({ config }) => isDatagram(config) && !obstacle(config, null))) {
      return;
    }
    this.channel.close?.();
    const tokens = [this.options.token, this.options.fleetToken];
    this.channel = await this.context.openChannel(this.origins[0], tokens);
    if (this.outcome) {
      this.channel.close?.();
    }
  }

  start(at) {
    if (this.stage !== "ready" || !Number.isSafeInteger(at)) {
      return;
    }
    this.zero = at;
    this.began = this.clock.now();
    this.stage = "running";
    this.createDriver();
    const until = -Math.min(BASELINE_GAP, Math.floor(this.assignment.baseline / 4));
    if (this.assignment.baseline > 0 && this.now() < until) {
      this.measureIdle(until);
    }
    for (const { number } of this.assignment.stations) {
      for (const workload of this.workloads(number)) {
        const reason = obstacle(workload.config, this.channel.error ?? null);
        if (reason) {
          this.put("events", event(number, workload.number, this.now(), 0, "warning", `skipped: ${reason}`));
        }
      }
    }
    this.driver.run();
  }

  workloads(number) {
    return this.assignment.stations.find((station) => station.number === number).workloads;
  }

  /** Creates the driver of the load. */
  createDriver() {
    const loads = this.assignment.stations.flatMap(({ number, start, end, settle, workloads }) =>
      workloads
        .filter(({ config }) => !obstacle(config, this.channel.error ?? null))
        .map((workload) => {
          const place = { station: number, workload: workload.number, name: workload.name };
          return { ...place, config: workload.config, start, end, settle, index: workloadIndex(number, workload.number) };
        }),
    );
    // Each workload over HTTP has the connections of its own port, if the server has enough of them.
    loads.filter(({ config }) => !isDatagram(config)).forEach((load, number) => {
      load.lane = number % this.origins.length;
    });
    const { channel } = this.channel;
    const datagrams = channel ? new Datagrams(channel, this.context.browser) : null;
    this.driver = new Driver(loads, { ...this.driverOptions(), datagrams, settled: () => this.settled() });
    this.results = this.driver.machines.map(({ load, workload }) => {
      const first = workload.schedule.next ?? load.start;
      return new Result({ ...load, warm: this.assignment.warmup, first }, load.config);
    });
  }

  /** Measures idle latency until `until`. */
  measureIdle(until) {
    const start = this.now();
    const loads = this.assignment.stations.map(({ number }) => {
      const text = "idle latency is measured with one-byte HTTP requests";
      this.put("events", event(number, BASELINE, start, 0, "warning", text));
      const index = workloadIndex(number, BASELINE);
      const place = { station: number, workload: BASELINE, config: idleWorkload(), index };
      return { ...place, start, end: until, settle: until };
    });
    this.baseline = new Driver(loads, this.driverOptions());
    this.baseline.run();
  }

  driverOptions() {
    const { browser } = this.context;
    return {
      seed: BigInt(this.assignment.seed),
      clock: this.clock,
      zero: this.zero,
      transfers: this.context.transfers(this.origins),
      put: (kind, row) => this.put(kind, row),
      timers: browser,
    };
  }

  put(kind, row) {
    this.batches.push(kind, row);
    this.results.forEach((result) => result.matches(row) && result.add(kind, row));
  }

  /** A warning for all stations of this session, with its start `from` on the page's clock. */
  warn(from, length, text) {
    for (const { number } of this.assignment.stations) {
      this.put("events", event(number, null, from - this.zero, length, "warning", text));
    }
  }

  /** No operation is in progress any more. */
  settled() {
    const hidden = this.hiddenSince !== null;
    this.handleHidden(false);
    this.hiddenSince = hidden ? this.clock.now() : null;
    const { lateness, counts } = this.driver;
    const names = this.assignment.stations.map(({ name }) => name);
    this.report = health.report(this.options.name, names, { lateness, ...counts });
    this.stage = "delivering";
    this.deliveringSince = this.clock.now();
    this.flush();
    this.context.changed();
  }

  stop(reason) {
    if (this.stage === "running") {
      this.reason = reason;
      this.stopRequestedAt ??= this.now();
      this.baseline?.stop();
      this.driver.stop();
    } else if (this.stage === "joining" || this.stage === "ready") {
      this.socket.send(messages.done());
      this.stage = "closing";
    }
  }

  bye(reason) {
    if (this.stage === "done" || this.stage === "closing") {
      this.end(this.stage === "done" ? "done" : "lost", this.stage === "done" ? this.reason : (this.reason ?? reason));
    } else {
      this.giveUp("lost", reason ?? "the run is over");
    }
  }

  /** Reports that this station cannot execute its assignment. */
  fail(reason) {
    this.reason = reason;
    this.stage = "closing";
    this.socket.send(messages.done(reason));
  }

  lost() {
    this.welcomed = false;
    this.disconnectedSince ??= this.clock.now();
    if (this.stage === "done" || this.stage === "closing") {
      return this.end(this.stage === "done" ? "done" : "lost", this.reason);
    }
    const unknown = this.context.reached() && !this.opened;
    this.runUnknownSince = unknown ? (this.runUnknownSince ?? this.clock.now()) : null;
    this.opened = false;
    if (
      this.stage === "running" &&
      this.runUnknownSince !== null &&
      this.clock.now() - this.runUnknownSince > RUN_UNKNOWN_TIMEOUT
    ) {
      return this.giveUp("lost", "the process of this run has ended");
    }
    const since = Math.max(this.disconnectedSince, this.deliveringSince ?? 0);
    if (this.stage !== "running" && this.clock.now() - since > DISCONNECT_TIMEOUT) {
      this.giveUp("lost", "the process of this run does not answer");
    }
    this.context.changed();
  }

  /** Ends the session without a receiver for its results. They stay on this device until the controller requests them. */
  giveUp(outcome, reason) {
    if (this.stage === "running") {
      this.driver.stop();
    }
    const hasRows = this.sequence > 0 || this.pending > 0;
    this.end(hasRows ? "late" : outcome, reason);
  }

  end(outcome, reason) {
    if (this.outcome) {
      return;
    }
    this.outcome = outcome;
    this.reason = reason ?? null;
    this.timers.forEach((timer) => this.context.browser.clearInterval(timer));
    if (this.stage === "running") {
      this.report = null;
    }
    this.baseline?.abandon();
    this.driver?.abandon();
    this.channel.close?.();
    this.socket.close();
    if (outcome === "late") {
      this.flushLate();
    } else {
      this.context.store.delete(this.options.run);
    }
    this.context.ended(this);
  }

  /** The state as plain data, without the rows that are stored under `rows.…`. */
  save() {
    const { stage, assignment, origins, zero, began, stopRequestedAt, sequence, report, outcome, reason } = this;
    const { run, name, token } = this.options;
    const channelError = this.channel.error ?? null;
    const at = this.clock.now();
    const driver = stage === "running" ? this.driver.save() : null;
    const identity = { run, name, token };
    const progress = { stage, assignment, origins, zero, began, stopRequestedAt, at, sequence, channelError };
    return { ...identity, ...progress, report, outcome, reason, driver };
  }

  /** Continues from `saved`, which is `{state, messages, results}`. */
  restore({ state, messages, results }) {
    const { stage, assignment, origins, zero, began, stopRequestedAt = null, sequence, report, reason } = state;
    Object.assign(this, { stage, assignment, origins, zero, began, stopRequestedAt, sequence, report, reason, messages });
    // The data channel ended with the page.
    this.channel = { error: state.channelError ?? null };
    this.known = true;
    this.persisted = sequence;
    this.flushes = 1;
    this.stored = messages.reduce((sum, { batch }) => sum + JSON.stringify(batch).length, 0);
    this.createDriver();
    results?.forEach((result, at) => this.results[at]?.restore(result));
    if (stage === "running") {
      const text = "the page was reloaded: operations that were due meanwhile were not started";
      this.warn(state.at, this.clock.now() - state.at, text);
      this.driver.restore(state.driver);
      this.driver.run();
    }
    this.deliveringSince = stage === "delivering" ? this.clock.now() : null;
  }
}

Object.assign(RunSession.prototype, rowDelivery);
