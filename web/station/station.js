// The worker that measures. Browsers throttle a worker's timers less than the page's while the page is in the background,
// and drawing the page does not delay the worker. The page displays the view and stores what must survive a reload.

import { Clock, resolution } from "./clock.js";
import { openDataChannel } from "./data_channel.js";
import { FleetConnection } from "./fleet_connection.js";
import * as messages from "./messages.js";
import { PersistentStore } from "./persistence.js";
import { RunSession } from "./run_session.js";
import { Transfers } from "./transfer.js";
import { viewModel } from "./view_model.js";
import { WorkerChannels } from "./worker_channels.js";

/** The interval at which the view is updated during a run (ms). */
const UPDATE_INTERVAL = 250;
/** How long the page shows that a run failed, before it shows that it waits for the next one (ns). */
const FAILURE_DISPLAY_TIME = 5e9;

class Station {
  constructor({ name, token, zero, version, system, host, secure, entries }, post, browser) {
    Object.assign(this, { name, token, version, host, secure, post, browser });
    this.clock = new Clock(zero, browser.performance);
    this.resolution = resolution(browser.performance);
    this.store = new PersistentStore(post, entries, browser);
    this.channels = new WorkerChannels(post);
    this.session = null;
    /** Ended sessions whose results the controller has not requested yet, by run. */
    this.late = new Map();
    this.last = null;
    /** A sentence about the last run, if it ended early. */
    this.notice = "";
    /** Runs that have ended for this station. */
    this.finished = new Set();
    this.recover();
    this.fleet = new FleetConnection(
      { url: this.url("/join"), name, token, version, system },
      {
        browser,
        pendingRuns: () => this.pendingRuns(),
        changed: () => this.show(),
        invited: (message) => this.invited(message),
        requested: (run) => this.deliver(run),
        acknowledged: (run, sequence) => this.acknowledged(run, sequence),
        discard: (run) => this.discard(run),
      },
    );
    browser.setInterval(() => this.update(), UPDATE_INTERVAL);
  }

  /** Handles a message of the page. */
  handleMessage(message) {
    if (message.stored) {
      this.store.handleStored(message.stored);
    } else if (message.channel) {
      this.channels.handle(message.channel);
    } else if ("hidden" in message) {
      this.hidden = message.hidden;
      this.session?.handleHidden(message.hidden);
    } else if (message.leave) {
      this.session?.leave();
      this.fleet.leave();
    } else if (message.dismiss) {
      this.waitForNextRun("");
    }
  }

  /** Updates the view of a run. Dismisses the result of a failed run after `FAILURE_DISPLAY_TIME`. */
  update() {
    if (this.last?.outcome === "lost" && this.clock.now() - this.endedAt > FAILURE_DISPLAY_TIME) {
      this.waitForNextRun(`The last run ended early: ${this.last.reason ?? "no reason was given"}.`);
    } else if (this.session) {
      this.show();
    }
  }

  waitForNextRun(notice) {
    this.last = null;
    this.notice = notice;
    this.show();
  }

  url(path) {
    return `${this.secure ? "wss" : "ws"}://${this.host}${path}`;
  }

  /** Continues the run that a reload interrupted, and loads undelivered results. */
  recover() {
    for (const run of this.store.runs()) {
      const saved = this.store.run(run);
      if (saved.state.outcome === "late") {
        this.late.set(run, saved);
      } else if (!this.session) {
        this.join(saved.state, saved);
      }
    }
  }

  invited(invitation) {
    const { run, name, token } = invitation;
    if (![run, name, token].every((text) => typeof text === "string")) {
      return;
    }
    // One run at a time. A running session reconnects without an invitation, and the controller requests late results.
    if (!this.session && !this.late.has(run) && !this.finished.has(run)) {
      this.last = null;
      this.notice = "";
      this.join(invitation, null);
      this.session.handleHidden(this.hidden === true);
    }
  }

  join({ run, name, token }, saved) {
    const { version } = this;
    const url = this.url(`/run/${encodeURIComponent(run)}`);
    const options = { run, name, token, fleetToken: this.token, version, url, resolution: this.resolution };
    const context = {
      browser: this.browser,
      clock: this.clock,
      store: this.store,
      transfers: (origins) => new Transfers(origins, this.clock, this.browser),
      openChannel: (origin, tokens) => openDataChannel(origin, tokens, () => this.channels.connect(), this.browser),
      reached: () => this.fleet.state === "member",
      changed: () => this.show(),
      ended: (session) => this.ended(session),
    };
    this.session = new RunSession(options, context, saved);
  }

  ended(session) {
    this.last = session;
    this.endedAt = this.clock.now();
    this.session = null;
    const { run } = session.options;
    this.finished.add(run);
    if (session.outcome === "late") {
      this.late.set(run, { state: session.save(session.saveMeasurement()), messages: session.messages });
      this.fleet.reconnect();
    }
    this.show();
  }

  pendingRuns() {
    return [...this.late].map(([run, { state }]) => ({ run, name: state.name, messages: state.sequence }));
  }

  /** Sends the late results of a run. */
  deliver(run) {
    const late = this.late.get(run);
    if (late) {
      // Messages that the run's controller acknowledged are in its record. An empty batch holds their sequence number.
      const proof = messages.proof(late.state.token);
      const rows = new Map(late.messages.map(({ sequence, batch }) => [sequence, batch]));
      for (let sequence = 1; sequence <= late.state.sequence; sequence += 1) {
        this.fleet.send(messages.lateResults(run, proof, { sequence, batch: rows.get(sequence) ?? {} }));
      }
      const { report, reason, stopRequestedAt } = late.state;
      const error = report ? null : (reason ?? "the station did not complete its assignment");
      this.fleet.send(messages.lateResultsEnd(run, proof, error, report, stopRequestedAt));
    }
  }

  acknowledged(run, sequence) {
    const late = this.late.get(run);
    if (late) {
      const acknowledged = late.messages.filter((rows) => rows.sequence <= sequence);
      late.messages = late.messages.filter((rows) => rows.sequence > sequence);
      this.store.put(Object.fromEntries(acknowledged.map((rows) => [`rows.${run}.${rows.sequence}`, null])));
    }
  }

  discard(run) {
    const late = this.late.get(run);
    this.late.delete(run);
    this.store.delete(run);
    if (late && !this.session && (!this.last || this.last.options.run === run)) {
      const reason = late.state.reason ?? "no reason was given";
      const early = late.state.report ? "" : `The last run ended early: ${reason}. `;
      this.waitForNextRun(`${early}All results of this device were delivered.`);
    }
  }

  show() {
    if (this.fleet) {
      this.post({ show: viewModel(this) });
    }
  }
}

if (typeof WorkerGlobalScope !== "undefined") {
  const received = fetch("/station/page.wasm").then((response) => response.arrayBuffer());
  const compiled = received.then((bytes) => WebAssembly.compile(bytes));
  let station = null;
  // Messages are handled in order, from when the module is compiled.
  globalThis.onmessage = async ({ data }) => {
    try {
      globalThis.module = await compiled;
    } catch {
      const line = "this browser is too old for the page, or a file of the page is missing";
      return globalThis.postMessage({ show: { state: "rejected", line } });
    }
    if (data.join) {
      station = new Station(data.join, (message) => globalThis.postMessage(message), globalThis);
    } else {
      station?.handleMessage(data);
    }
  };
}

export { Station };
