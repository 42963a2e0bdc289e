// This station's session of one run: the protocol over `/run/RUN`, from `hello` to `bye`.

import { Core, Measurement, random64 } from "./core.js";
import * as messages from "./messages.js";
import { candidates, findServer } from "./origins.js";
import { rowDelivery } from "./row_delivery.js";
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
    /** The agent's code, and its measurement after the start. */
    this.core = new Core(context.browser.module);
    this.measurement = null;
    this.zero = null;
    /** The time of the controller's `stop`, in the run's time. */
    this.stopRequestedAt = null;
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
    return this.messages.reduce((sum, { rows }) => sum + rows, 0);
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
      assign: () => this.assign(text, message.target),
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

  async assign(text, target) {
    if (this.stage !== "joining" && this.stage !== "ready") {
      return;
    }
    const { assignment, error } = this.core.handle(0, { type: "assign", text });
    if (error) {
      return this.fail(error);
    }
    Object.assign(this, { assignment, text });
    this.candidates = candidates(target, this.context.browser.location?.hostname);
    const unreachable = await this.findServer(target);
    if (unreachable === null && assignment.needs_channel) {
      await this.openChannel();
    }
    this.notes = this.prepare().notes ?? [];
    this.stage = "ready";
    this.socket.send(messages.ready(unreachable, this.notes));
    this.context.changed();
  }

  prepare() {
    const limits = { channel_error: this.channel.error, ports: this.origins.length, resolution: this.options.resolution };
    return this.core.handle(0, { type: "ready", ...limits });
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

  async openChannel() {
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
    this.measure();
    const until = -Math.min(BASELINE_GAP, Math.floor(this.assignment.baseline / 4));
    if (this.assignment.baseline > 0 && this.now() < until) {
      this.measurement.handle({ type: "idle", until });
    }
  }

  /** Starts the measurement, or continues it after a reload from `saved`. */
  measure(saved = {}) {
    const { browser, clock } = this.context;
    const { channel = null } = this.channel;
    const transfers = this.context.transfers(this.origins);
    const settled = () => this.settled();
    this.measurement = new Measurement(this.core, { clock, zero: this.zero, transfers, channel, settled, browser });
    const random = random64(2 * this.assignment.workloads);
    this.measurement.handle({ type: "start", channel: channel !== null, random, ...saved });
  }

  /** A warning for all stations of this session, with its start `from` on the page's clock. */
  warn(from, length, text) {
    this.core.handle(this.now(), { type: "warn", from: from - this.zero, length: Math.max(0, length), text });
  }

  /** No operation is in progress any more. */
  settled() {
    const hidden = this.hiddenSince !== null;
    this.handleHidden(false);
    this.hiddenSince = hidden ? this.clock.now() : null;
    this.report = this.core.handle(this.now(), { type: "health", name: this.options.name }).health;
    this.stage = "delivering";
    this.deliveringSince = this.clock.now();
    this.flush();
    this.context.changed();
  }

  stop(reason) {
    if (this.stage === "running") {
      this.reason = reason;
      this.stopRequestedAt ??= this.now();
      this.measurement.handle({ type: "stop" });
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
      this.measurement.handle({ type: "stop" });
      this.takeBatches();
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
    this.measurement?.abandon();
    this.channel.close?.();
    this.socket.close();
    if (outcome === "late") {
      this.flushLate();
    } else {
      this.context.store.delete(this.options.run);
    }
    this.context.ended(this);
  }

  /** The state of the measurement, or `null` if none runs. */
  saveMeasurement() {
    return this.stage === "running" ? this.measurement.handle({ type: "save" }).saved : null;
  }

  /** The state as plain data, with that of the measurement, without the rows that are stored under `rows.…`. */
  save(measured) {
    const { stage, text, origins, zero, began, stopRequestedAt, sequence, report, outcome, reason } = this;
    const { run, name, token } = this.options;
    const channelError = this.channel.error ?? null;
    const at = this.clock.now();
    const identity = { run, name, token };
    const progress = { stage, text, origins, zero, began, stopRequestedAt, at, sequence, channelError };
    return { ...identity, ...progress, report, outcome, reason, measured };
  }

  /** Continues from `saved`, which is `{state, messages, results}`. */
  restore({ state, messages, results }) {
    const { stage, text, origins, zero, began, stopRequestedAt = null, sequence, report, reason } = state;
    Object.assign(this, { stage, text, origins, zero, began, stopRequestedAt, sequence, report, reason, messages });
    this.assignment = this.core.handle(0, { type: "assign", text }).assignment;
    // The data channel ended with the page.
    this.channel = { error: state.channelError ?? null };
    this.known = true;
    this.persisted = sequence;
    this.flushes = 1;
    this.stored = messages.reduce((sum, { batch }) => sum + JSON.stringify(batch).length, 0);
    this.prepare();
    if (stage === "running") {
      const note = "the page was reloaded: operations that were due meanwhile were not started";
      this.warn(state.at, this.clock.now() - state.at, note);
      this.measure({ saved: state.measured, results });
    } else if (stage === "delivering") {
      this.core.handle(this.now(), { type: "start", channel: false, random: [], results, over: true });
    }
    this.deliveringSince = stage === "delivering" ? this.clock.now() : null;
  }
}

Object.assign(RunSession.prototype, rowDelivery);
