// This station's part in one run: the conversation over `/run/RUN`, from `hello` to `bye`.

import { notes } from "./abilities.js";
import { refusal } from "./consent.js";
import { Driver } from "./driver.js";
import * as health from "./health.js";
import * as messages from "./messages.js";
import { BASELINE, idle, index, part } from "./plan.js";
import { Result } from "./result.js";
import { Batches, count, event } from "./rows.js";
import { sending } from "./sending.js";
import { Socket } from "./socket.js";

/** Rows leave, and are written down, this often; a sign of life this often (ms). */
const FLUSH = 200;
const PROGRESS = 250;
/** How long whoever holds the run may be away before the start, or after this part is over (ns). */
const PATIENCE = 20e9;
/** The baseline ends this long before the load begins (ns); a quarter of a shorter one. */
const QUIET = 2e8;
/** How long a run may be unknown where it is looked for and a controller is there (ns): whoever holds it tells one that was
 * started again within a second. */
const UNHELD = 3e9;

/** Where a server is that listens at `address`: one that does everywhere is where this page came from. */
export function origin(address, hostname) {
  const [, host, port] = /^([\d.]+|\[[\da-fA-F:.]+\]):(\d{1,5})$/.exec(address);
  return `http://${host === "0.0.0.0" || host === "[::]" ? hostname : host}:${port}`;
}

/**
 * One part. `about` is `{run, name, token, fleetToken, version, url, resolution}`, `around` `{clock, keeper, transfers(origin),
 * changed(), ended(part), browser}`. After `ended`, `outcome` says how: `done`, `refused`, `lost` or `late`, and `reason` why.
 */
export class Part {
  constructor(about, around, saved = null) {
    Object.assign(this, { about, around });
    this.clock = around.clock;
    this.stage = "joining";
    this.plan = null;
    this.target = null;
    this.notes = [];
    this.driver = null;
    this.baseline = null;
    this.results = [];
    this.zero = null;
    /** When it was told to end, in the run's time. */
    this.told = null;
    this.batches = new Batches();
    this.messages = [];
    this.sequence = 0;
    this.sent = 0;
    this.stored = 0;
    this.kept = 0;
    this.flushes = 0;
    this.flushing = false;
    this.urgent = false;
    this.welcomed = false;
    this.known = false;
    this.away = null;
    this.unheld = null;
    /** Whether somebody opened, on this connection. */
    this.met = false;
    this.hiddenSince = null;
    this.report = null;
    this.outcome = null;
    this.reason = null;
    if (saved) {
      this.restore(saved);
    }
    const on = { open: () => this.greet(), text: (text) => this.hear(text), lost: () => this.lost() };
    this.socket = new Socket(about.url, on, around.browser);
    this.timers = [
      around.browser.setInterval(() => this.flush(), FLUSH),
      around.browser.setInterval(() => this.live(), PROGRESS),
    ];
  }

  /** The run's time in ns, once it is known when it starts. */
  now() {
    return this.zero === null ? null : this.clock.now() - this.zero;
  }

  /** How many rows nobody has acknowledged. */
  get waiting() {
    return this.messages.reduce((sum, { batch }) => sum + count(batch), this.batches.waiting);
  }

  /** Whether the load goes on. */
  get running() {
    return this.stage === "started";
  }

  /** The tab went to the background, or came back. */
  hidden(hidden) {
    if (hidden && this.hiddenSince === null) {
      this.hiddenSince = this.clock.now();
    } else if (!hidden && this.hiddenSince !== null) {
      if (this.running) {
        const from = Math.max(this.hiddenSince, this.began);
        this.warn(from, this.clock.now() - from, "the page was in the background: what it measured then may be late");
        // Who comes back may be about to reload.
        this.flush();
      }
      this.hiddenSince = null;
    }
  }

  /** The person at this device wants out. */
  leave() {
    this.socket.send(messages.bye("its user ended it"));
    this.end("lost", "you ended it");
  }

  greet() {
    const { name, token, version } = this.about;
    this.welcomed = false;
    this.met = true;
    this.socket.send(messages.hello({ name, token, version, again: this.known }));
  }

  hear(text) {
    const received = this.clock.now();
    const message = messages.understood(text);
    if (message.type === "ping" && Number.isSafeInteger(message.id) && message.id >= 0) {
      return this.socket.send(messages.pong(message.id, received, this.clock.now()));
    }
    const handle = {
      welcome: () => this.welcome(message),
      refused: () => this.refused(message.reason),
      assign: () => this.assign(message),
      start: () => this.start(message.at),
      ack: () => this.acknowledged(message.sequence),
      stop: () => this.stop(message.reason),
      bye: () => this.bye(message.reason),
    };
    if (Object.hasOwn(handle, message.type)) {
      handle[message.type]();
      this.around.changed();
    }
  }

  welcome({ taken = 0 }) {
    taken = Number.isSafeInteger(taken) ? taken : 0;
    this.known = true;
    this.welcomed = true;
    this.away = null;
    this.unheld = null;
    this.socket.welcomed();
    this.acknowledged(taken);
    this.renumber(taken);
    this.sent = taken;
    this.send();
  }

  refused(reason) {
    // After the welcome only one message was refused, and the rest goes on. Who was in already may have to wait until the
    // connection that it lost is given up there, too.
    if (!this.welcomed && !this.known) {
      this.giveUp("refused", reason);
    } else if (!this.welcomed && this.clock.now() - (this.away ?? this.clock.now()) > PATIENCE) {
      this.giveUp("lost", reason);
    }
  }

  async assign(message) {
    if (this.stage !== "joining" && this.stage !== "ready") {
      return;
    }
    try {
      this.plan = part(message);
      this.target = origin(message.target.address, this.around.browser.location?.hostname);
    } catch (error) {
      return this.fail(`the assignment makes no sense here: ${error.message ?? error}`);
    }
    this.notes = notes(this.plan, this.about.resolution);
    const unreachable = await this.unreachable();
    this.stage = "ready";
    this.socket.send(messages.ready(unreachable, this.notes));
    this.around.changed();
  }

  /** Why the server can't be measured against. */
  async unreachable() {
    if (this.plan.tls) {
      return "the server speaks TLS with a certificate of its own making, which no browser takes";
    }
    if (this.around.browser.location?.protocol === "https:") {
      return "this page came over TLS, and lets nothing be fetched over plain HTTP; open it at its http:// address";
    }
    return refusal(this.target, [this.about.token, this.about.fleetToken], this.around.browser.fetch);
  }

  start(at) {
    if (this.stage !== "ready" || !Number.isSafeInteger(at)) {
      return;
    }
    this.zero = at;
    this.began = this.clock.now();
    this.stage = "started";
    this.drive();
    const until = -Math.min(QUIET, Math.floor(this.plan.baseline / 4));
    if (this.plan.baseline > 0 && this.now() < until) {
      this.idle(until);
    }
    for (const { number } of this.plan.stations) {
      for (const workload of this.workloads(number).filter(({ config }) => config.kind === "probe")) {
        this.put("events", event(number, workload.number, this.now(), 0, "warning", "a browser has no datagrams: left out"));
      }
    }
    this.driver.run();
  }

  workloads(number) {
    return this.plan.stations.find((station) => station.number === number).workloads;
  }

  /** Makes the driver of the load. */
  drive() {
    const loads = this.plan.stations.flatMap(({ number, start, end, settle, workloads }) =>
      workloads
        .filter(({ config }) => config.kind !== "probe")
        .map((workload) => {
          const place = { station: number, workload: workload.number, name: workload.name };
          return { ...place, config: workload.config, start, end, settle, index: index(number, workload.number) };
        }),
    );
    this.driver = new Driver(loads, { ...this.driving(), settled: () => this.settled() });
    this.results = this.driver.machines.map(({ load, workload }) => {
      const from = Math.max(workload.schedule.next, this.plan.warmup);
      return new Result({ ...load, from }, load.config);
    });
  }

  /** Idle latency, from now until `until`. */
  idle(until) {
    const start = this.now();
    const loads = this.plan.stations.map(({ number }) => {
      const text = "a browser has no datagrams: idle latency is that of tiny HTTP requests";
      this.put("events", event(number, BASELINE, start, 0, "warning", text));
      const place = { station: number, workload: BASELINE, config: idle(), index: index(number, BASELINE) };
      return { ...place, start, end: until, settle: until };
    });
    this.baseline = new Driver(loads, this.driving());
    this.baseline.run();
  }

  driving() {
    const { browser } = this.around;
    return {
      seed: BigInt(this.plan.seed),
      clock: this.clock,
      zero: this.zero,
      transfers: this.around.transfers(this.target),
      put: (kind, row) => this.put(kind, row),
      timers: browser,
    };
  }

  put(kind, row) {
    this.batches.push(kind, row);
    this.results.forEach((result) => result.isOf(row) && result.take(kind, row));
  }

  /** A warning about all of this part's stations, which began at `from` of the page's clock. */
  warn(from, length, text) {
    for (const { number } of this.plan.stations) {
      this.put("events", event(number, null, from - this.zero, length, "warning", text));
    }
  }

  /** Nothing is under way any more. */
  settled() {
    const hidden = this.hiddenSince !== null;
    this.hidden(false);
    this.hiddenSince = hidden ? this.clock.now() : null;
    const { lateness, counts } = this.driver;
    const names = this.plan.stations.map(({ name }) => name);
    this.report = health.report(this.about.name, names, { lateness, ...counts });
    this.stage = "over";
    this.overSince = this.clock.now();
    this.flush();
    this.around.changed();
  }

  stop(reason) {
    if (this.stage === "started") {
      this.reason = reason;
      this.told ??= this.now();
      this.baseline?.stop();
      this.driver.stop();
    } else if (this.stage === "joining" || this.stage === "ready") {
      this.socket.send(messages.done());
      this.stage = "parting";
    }
  }

  bye(reason) {
    if (this.stage === "done" || this.stage === "parting") {
      this.end(this.stage === "done" ? "done" : "lost", this.stage === "done" ? this.reason : (this.reason ?? reason));
    } else {
      this.giveUp("lost", reason ?? "the run is over");
    }
  }

  /** This part can't be done. */
  fail(reason) {
    this.reason = reason;
    this.stage = "parting";
    this.socket.send(messages.done(reason));
  }

  lost() {
    this.welcomed = false;
    this.away ??= this.clock.now();
    if (this.stage === "done" || this.stage === "parting") {
      return this.end(this.stage === "done" ? "done" : "lost", this.reason);
    }
    this.unheld = this.around.reached() && !this.met ? (this.unheld ?? this.clock.now()) : null;
    this.met = false;
    if (this.stage === "started" && this.unheld !== null && this.clock.now() - this.unheld > UNHELD) {
      return this.giveUp("lost", "nobody holds this run any more");
    }
    const since = Math.max(this.away, this.overSince ?? 0);
    if (this.stage !== "started" && this.clock.now() - since > PATIENCE) {
      this.giveUp("lost", "nobody answers for the run any more");
    }
    this.around.changed();
  }

  /** There is nobody to bring the results to: they stay here until somebody wants them. */
  giveUp(outcome, reason) {
    if (this.stage === "started") {
      this.driver.stop();
    }
    const has = this.sequence > 0 || this.waiting > 0;
    this.end(has ? "late" : outcome, reason);
  }

  end(outcome, reason) {
    if (this.outcome) {
      return;
    }
    this.outcome = outcome;
    this.reason = reason ?? null;
    this.timers.forEach((timer) => this.around.browser.clearInterval(timer));
    if (this.stage === "started") {
      this.report = null;
    }
    this.baseline?.abandon();
    this.driver?.abandon();
    this.socket.close();
    if (outcome === "late") {
      this.flushLate();
    } else {
      this.around.keeper.forget(this.about.run);
    }
    this.around.ended(this);
  }

  /** It as plain data, with what is in `rows.…` left out. */
  save() {
    const { stage, plan, target, zero, began, told, sequence, report, outcome, reason } = this;
    const { run, name, token } = this.about;
    const at = this.clock.now();
    const driver = stage === "started" ? this.driver.save() : null;
    return { run, name, token, stage, plan, target, zero, began, told, at, sequence, report, outcome, reason, driver };
  }

  /** Goes on where `saved` left off: `{state, messages, results}`. */
  restore({ state, messages, results }) {
    const { stage, plan, target, zero, began, told = null, sequence, report, reason } = state;
    Object.assign(this, { stage, plan, target, zero, began, told, sequence, report, reason, messages });
    this.known = true;
    this.kept = sequence;
    this.flushes = 1;
    this.stored = messages.reduce((sum, { batch }) => sum + JSON.stringify(batch).length, 0);
    this.drive();
    results?.forEach((result, at) => this.results[at]?.restore(result));
    if (stage === "started") {
      this.warn(state.at, this.clock.now() - state.at, "the page was reloaded: what fell due meanwhile is missed");
      this.driver.restore(state.driver);
      this.driver.run();
    }
    this.overSince = stage === "over" ? this.clock.now() : null;
  }
}

Object.assign(Part.prototype, sending);
