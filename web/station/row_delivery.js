// Delivery of a session's rows: each message is stored, sent, and kept until the controller acknowledges it.

import * as messages from "./messages.js";

/** The results that only this page shows are stored once in this number of flushes. */
const RESULTS_EVERY = 20;
/** The maximum size of unacknowledged messages in the browser's store, in characters. Further messages stay in memory. */
const MAX_STORED = 2000000;

/** Methods of `RunSession` for its rows. */
export const rowDelivery = {
  /**
   * Assigns consecutive sequence numbers after `last`. A reload leaves a gap if the store could not hold all pending
   * messages.
   */
  renumber(last) {
    const complete = this.messages.every(({ sequence }, at) => sequence === last + 1 + at);
    if (complete && this.sequence >= last) {
      return;
    }
    const entries = {};
    for (const { sequence } of this.messages) {
      entries[`rows.${this.options.run}.${sequence}`] = null;
    }
    this.messages.forEach((message, at) => {
      message.sequence = last + 1 + at;
      entries[`rows.${this.options.run}.${message.sequence}`] = JSON.stringify(message.batch);
    });
    this.sequence = last + this.messages.length;
    this.persisted = this.sequence;
    this.context.store.put(entries);
    if (!complete && this.assignment) {
      this.warn(this.clock.now(), 0, "a reload lost some results: the browser's store was full");
    }
  },

  sendProgress() {
    if (this.welcomed && (this.stage === "running" || this.stage === "delivering")) {
      this.socket.send(messages.progress(this.now(), this.pending));
    }
  },

  /** Stores new rows and then sends them, so that a reload never sends different rows under the same sequence number. */
  async flush() {
    if (this.zero === null || this.outcome) {
      return;
    }
    if (this.flushing) {
      this.flushAgain = true;
      return;
    }
    this.flushing = true;
    try {
      // The saved state comes first, so that the batches have every row of it.
      const measured = this.saveMeasurement();
      const added = this.takeBatches();
      if (added.length > 0 || this.flushes === 0 || this.stage === "delivering") {
        await this.persist(added, measured);
      }
      this.flushes += 1;
    } finally {
      this.flushing = false;
    }
    this.persisted = this.sequence;
    this.send();
    if (this.flushAgain) {
      this.flushAgain = false;
      this.flush();
    }
  },

  /** Moves the rows measured since the last call into numbered messages. Returns these messages. */
  takeBatches() {
    const { batches = [] } = this.core.handle(this.now(), { type: "flush" });
    const added = batches.map((counted) => {
      this.sequence += 1;
      return { sequence: this.sequence, ...counted };
    });
    this.messages.push(...added);
    return added;
  },

  persist(added, measured) {
    const entries = {};
    for (const { sequence, batch } of added) {
      const text = JSON.stringify(batch);
      if (this.stored + text.length <= MAX_STORED) {
        this.stored += text.length;
        entries[`rows.${this.options.run}.${sequence}`] = text;
      }
    }
    entries[`run.${this.options.run}`] = JSON.stringify(this.save(measured));
    if (this.flushes % RESULTS_EVERY === 0 || this.stage === "delivering") {
      entries[`results.${this.options.run}`] = JSON.stringify(this.core.handle(this.now(), { type: "results" }).saved);
    }
    return this.context.store.put(entries);
  },

  /** Sends the stored messages that were not sent on this connection. After the last acknowledgement, sends `done`. */
  send() {
    if (!this.welcomed || this.outcome) {
      return;
    }
    for (const { sequence, batch } of this.messages) {
      if (sequence > this.sent && sequence <= this.persisted) {
        this.sent = sequence;
        this.socket.send(messages.rows(sequence, batch));
      }
    }
    if (this.stage === "delivering" && this.messages.length === 0) {
      this.stage = "done";
      this.socket.send(messages.health(this.report));
      this.socket.send(messages.done());
    }
  },

  acknowledged(sequence) {
    const entries = {};
    for (const message of this.messages.filter((message) => message.sequence <= sequence)) {
      this.stored = Math.max(0, this.stored - JSON.stringify(message.batch).length);
      entries[`rows.${this.options.run}.${message.sequence}`] = null;
    }
    if (Object.keys(entries).length > 0) {
      this.messages = this.messages.filter((message) => message.sequence > sequence);
      this.context.store.put(entries);
      this.send();
    }
  },

  /** Stores the last rows of a session whose results are delivered later. */
  flushLate() {
    const measured = this.saveMeasurement();
    this.persist(this.takeBatches(), measured);
  },
};
