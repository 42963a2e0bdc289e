// The worker in which everything is measured: timers of a worker are held back less in the background than the page's,
// and drawing the page delays nothing here. What is shown, and kept over a reload, goes through the page.

import { resolution, Clock } from "./clock.js";
import { Keeper } from "./keeper.js";
import * as messages from "./messages.js";
import { Part } from "./part.js";
import { Standing } from "./standing.js";
import { Transfers } from "./transfer.js";
import { picture } from "./picture.js";

/** The page is told how things are this often while something runs (ms). */
const SHOW = 250;
/** How long it stands there that a run came to nothing, until this device waits for the next (ns). */
const READ = 5e9;

class Station {
  constructor({ name, token, zero, version, system, host, secure, entries }, post, browser) {
    Object.assign(this, { name, token, version, host, secure, post, browser });
    this.clock = new Clock(zero, browser.performance);
    this.resolution = resolution(browser.performance);
    this.keeper = new Keeper(post, entries, browser);
    this.part = null;
    /** Parts whose results wait for somebody who wants them, by run. */
    this.late = new Map();
    this.last = null;
    /** What became of the last run, where it ended early. */
    this.told = "";
    /** Runs that are over for this station. */
    this.finished = new Set();
    this.recover();
    this.standing = new Standing(
      { url: this.url("/join"), name, token, version, system },
      {
        browser,
        waiting: () => this.waiting(),
        changed: () => this.show(),
        summoned: (message) => this.summoned(message),
        deliver: (run) => this.deliver(run),
        kept: (run, sequence) => this.kept(run, sequence),
        forget: (run) => this.forget(run),
      },
    );
    browser.setInterval(() => this.look(), SHOW);
  }

  hear(message) {
    if (message.kept) {
      this.keeper.kept(message.kept);
    } else if ("hidden" in message) {
      this.hidden = message.hidden;
      this.part?.hidden(message.hidden);
    } else if (message.leave) {
      this.part?.leave();
      this.standing.leave();
    } else if (message.onward) {
      this.onward("");
    }
  }

  /** Shows how a run goes, and what came to nothing no longer than it takes to read. */
  look() {
    if (this.last?.outcome === "lost" && this.clock.now() - this.endedAt > READ) {
      this.onward(`The last run ended early: ${this.last.reason ?? "nobody said why"}.`);
    } else if (this.part) {
      this.show();
    }
  }

  /** Waits for the next run. */
  onward(told) {
    this.last = null;
    this.told = told;
    this.show();
  }

  url(path) {
    return `${this.secure ? "wss" : "ws"}://${this.host}${path}`;
  }

  /** Goes on with the run that a reload interrupted, and finds what waits. */
  recover() {
    for (const run of this.keeper.runs()) {
      const saved = this.keeper.run(run);
      if (saved.state.outcome === "late") {
        this.late.set(run, saved);
      } else if (!this.part) {
        this.begin(saved.state, saved);
      }
    }
  }

  summoned(summon) {
    const { run, name, token } = summon;
    if (![run, name, token].every((text) => typeof text === "string")) {
      return;
    }
    // One run at a time; the one under way finds its own way back, and results that wait are asked for.
    if (!this.part && !this.late.has(summon.run) && !this.finished.has(summon.run)) {
      this.last = null;
      this.told = "";
      this.begin(summon, null);
      this.part.hidden(this.hidden === true);
    }
  }

  begin({ run, name, token }, saved) {
    const { version } = this;
    const url = this.url(`/run/${encodeURIComponent(run)}`);
    const about = { run, name, token, fleetToken: this.token, version, url, resolution: this.resolution };
    const around = {
      browser: this.browser,
      clock: this.clock,
      keeper: this.keeper,
      transfers: (origin) => new Transfers(origin, this.clock, this.browser),
      reached: () => this.standing.state === "member",
      changed: () => this.show(),
      ended: (part) => this.ended(part),
    };
    this.part = new Part(about, around, saved);
  }

  ended(part) {
    this.last = part;
    this.endedAt = this.clock.now();
    this.part = null;
    this.finished.add(part.about.run);
    if (part.outcome === "late") {
      this.late.set(part.about.run, { state: part.save(), messages: part.messages });
      this.standing.again();
    }
    this.show();
  }

  waiting() {
    return [...this.late].map(([run, { state }]) => ({ run, name: state.name, messages: state.sequence }));
  }

  deliver(run) {
    const late = this.late.get(run);
    if (late) {
      // What the run's keeper said it has is in the run's folder, and stands here for its number alone.
      const proof = messages.proof(late.state.token);
      const rows = new Map(late.messages.map(({ sequence, batch }) => [sequence, batch]));
      for (let sequence = 1; sequence <= late.state.sequence; sequence += 1) {
        this.standing.send(messages.late(run, proof, { sequence, batch: rows.get(sequence) ?? {} }));
      }
      const error = late.state.report ? null : (late.state.reason ?? "its part was not done to the end");
      this.standing.send(messages.lateEnd(run, proof, error, late.state.report, late.state.told));
    }
  }

  kept(run, sequence) {
    const late = this.late.get(run);
    if (late) {
      const gone = late.messages.filter((rows) => rows.sequence <= sequence);
      late.messages = late.messages.filter((rows) => rows.sequence > sequence);
      this.keeper.put(Object.fromEntries(gone.map((rows) => [`rows.${run}.${rows.sequence}`, null])));
    }
  }

  forget(run) {
    const late = this.late.get(run);
    this.late.delete(run);
    this.keeper.forget(run);
    if (late && !this.part && (!this.last || this.last.about.run === run)) {
      const early = late.state.report ? "" : `The last run ended early: ${late.state.reason ?? "nobody said why"}. `;
      this.onward(`${early}What this device measured is home.`);
    }
  }

  show() {
    if (this.standing) {
      this.post({ show: picture(this) });
    }
  }
}

if (typeof WorkerGlobalScope !== "undefined") {
  let station = null;
  globalThis.onmessage = ({ data }) => {
    if (data.join) {
      station = new Station(data.join, (message) => globalThis.postMessage(message), globalThis);
    } else {
      station?.hear(data);
    }
  };
}

export { Station };
