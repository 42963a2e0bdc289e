// What is measured, as rows: arrays in batches, exactly as docs/protocol.schema.json has them.

/** The most rows, and the most events, in one batch. */
export const MAX_ROWS = 2000;
export const MAX_EVENTS = 16;
/** The length of an interval: 100 ms. */
const BIN = 1e8;

export function operation(station, workload, o) {
  return [
    station,
    workload,
    o.sequence,
    o.due,
    o.started,
    o.connected,
    o.firstByte,
    o.finished,
    o.bytes,
    o.outcome,
    null,
  ];
}

/** `kind` is `stall`, `startup` or `warning`. */
export function event(station, workload, at, length, kind, text = "") {
  return [station, workload, at, Math.max(0, length), kind, text];
}

/** Rows that wait to be sent, by kind, in batches that are never too large. */
export class Batches {
  constructor() {
    this.full = [];
    this.batch = {};
    this.rows = 0;
  }

  /** `kind` is `operations`, `intervals` or `events`. */
  push(kind, row) {
    const list = (this.batch[kind] ??= []);
    list.push(row);
    this.rows += 1;
    if (this.rows >= MAX_ROWS || (kind === "events" && list.length >= MAX_EVENTS)) {
      this.close();
    }
  }

  /** How many rows wait. */
  get waiting() {
    return this.full.reduce((sum, batch) => sum + count(batch), this.rows);
  }

  /** Takes all batches. */
  take() {
    this.close();
    const taken = this.full;
    this.full = [];
    return taken;
  }

  close() {
    if (this.rows > 0) {
      this.full.push(this.batch);
      this.batch = {};
      this.rows = 0;
    }
  }
}

/** How many rows are in a batch. */
export function count(batch) {
  return Object.values(batch).reduce((sum, list) => sum + list.length, 0);
}

/** One workload's bytes by tenths of a second. */
export class Bins {
  constructor(station, workload) {
    this.place = [station, workload];
    this.current = null;
  }

  /** So many bytes moved at `now`. Gives the interval before, when this begins another. */
  add(now, down, up) {
    const at = Math.floor(now / BIN) * BIN;
    const done = this.current && this.current.at < at ? this.rest() : null;
    this.current ??= { at, down: 0, up: 0 };
    this.current.down += down;
    this.current.up += up;
    return done;
  }

  /** The interval that has ended by `now`, if something moved in it. */
  ended(now) {
    return this.current && this.current.at + BIN <= now ? this.rest() : null;
  }

  /** What there is of the interval under way. */
  rest() {
    if (!this.current) {
      return null;
    }
    const { at, down, up } = this.current;
    this.current = null;
    return [...this.place, at, down, up];
  }
}
