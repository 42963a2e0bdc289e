// A part's rows on their way: written down, sent, and kept until they are acknowledged.

import * as messages from "./messages.js";

/** Results, which only this page shows, are written down every so many flushes. */
const RESULTS = 20;
/** What may wait for its acknowledgement in the browser's store (characters); the rest is in memory alone. */
const STORED = 2000000;

/** What a `Part` does with its rows. */
export const sending = {
  /** Closes the gap that a reload left behind where more waited than could be written down. */
  renumber(taken) {
    const whole = this.messages.every(({ sequence }, at) => sequence === taken + 1 + at);
    if (whole && this.sequence >= taken) {
      return;
    }
    const entries = {};
    for (const { sequence } of this.messages) {
      entries[`rows.${this.about.run}.${sequence}`] = null;
    }
    this.messages.forEach((message, at) => {
      message.sequence = taken + 1 + at;
      entries[`rows.${this.about.run}.${message.sequence}`] = JSON.stringify(message.batch);
    });
    this.sequence = taken + this.messages.length;
    this.kept = this.sequence;
    this.around.keeper.put(entries);
    if (!whole && this.plan) {
      this.warn(this.clock.now(), 0, "more waited than the browser's store holds: a reload has lost some results");
    }
  },

  /** A sign of life. */
  live() {
    if (this.welcomed && (this.stage === "started" || this.stage === "over")) {
      this.socket.send(messages.progress(this.now(), this.waiting));
    }
  },

  /** Writes down what is new, then sends it: so that a reload never says one thing twice in two ways. */
  async flush() {
    if (this.zero === null || this.outcome) {
      return;
    }
    if (this.flushing) {
      this.urgent = true;
      return;
    }
    this.flushing = true;
    try {
      this.baseline?.flush();
      this.driver.flush();
      const fresh = this.batches.take().map((batch) => {
        this.sequence += 1;
        return { sequence: this.sequence, batch };
      });
      this.messages.push(...fresh);
      if (fresh.length > 0 || this.flushes === 0 || this.stage === "over") {
        await this.keep(fresh);
      }
      this.flushes += 1;
    } finally {
      this.flushing = false;
    }
    this.kept = this.sequence;
    this.send();
    if (this.urgent) {
      this.urgent = false;
      this.flush();
    }
  },

  keep(fresh) {
    const entries = {};
    for (const { sequence, batch } of fresh) {
      const text = JSON.stringify(batch);
      if (this.stored + text.length <= STORED) {
        this.stored += text.length;
        entries[`rows.${this.about.run}.${sequence}`] = text;
      }
    }
    entries[`run.${this.about.run}`] = JSON.stringify(this.save());
    if (this.flushes % RESULTS === 0 || this.stage === "over") {
      entries[`results.${this.about.run}`] = JSON.stringify(this.results.map((result) => result.save()));
    }
    return this.around.keeper.put(entries);
  },

  /** Sends what is written down and was not sent over this connection; at the end, says so. */
  send() {
    if (!this.welcomed || this.outcome) {
      return;
    }
    for (const { sequence, batch } of this.messages) {
      if (sequence > this.sent && sequence <= this.kept) {
        this.sent = sequence;
        this.socket.send(messages.rows(sequence, batch));
      }
    }
    if (this.stage === "over" && this.messages.length === 0 && this.batches.waiting === 0) {
      this.stage = "done";
      this.socket.send(messages.health(this.report));
      this.socket.send(messages.done());
    }
  },

  acknowledged(sequence) {
    const entries = {};
    for (const message of this.messages.filter((message) => message.sequence <= sequence)) {
      this.stored = Math.max(0, this.stored - JSON.stringify(message.batch).length);
      entries[`rows.${this.about.run}.${message.sequence}`] = null;
    }
    if (Object.keys(entries).length > 0) {
      this.messages = this.messages.filter((message) => message.sequence > sequence);
      this.around.keeper.put(entries);
      this.send();
    }
  },

  /** The last rows of a part whose results come later. */
  flushLate() {
    const fresh = this.batches.take().map((batch) => {
      this.sequence += 1;
      return { sequence: this.sequence, batch };
    });
    this.messages.push(...fresh);
    this.keep(fresh);
  },
};
