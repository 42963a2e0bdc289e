// Rows of the record: arrays in batches, as defined by docs/reference/protocol.schema.json.

/** The maximum number of rows, and of events, in one batch. */
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
  ];
}

/** `kind` is `stall`, `startup` or `warning`. */
export function event(station, workload, at, length, kind, text = "") {
  return [station, workload, at, Math.max(0, length), kind, text];
}

/** Rows that have not been sent, by kind, in batches of limited size. */
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

  /** The number of rows. */
  get pending() {
    return this.full.reduce((sum, batch) => sum + count(batch), this.rows);
  }

  /** Removes and returns all batches. */
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

/** The number of rows in a batch. */
export function count(batch) {
  return Object.values(batch).reduce((sum, list) => sum + list.length, 0);
}

/** The bytes of one workload in intervals of 100 ms. */
export class Bins {
  constructor(station, workload) {
    this.place = [station, workload];
    this.current = null;
  }

  /** Counts bytes at `now`. Returns the previous interval if `now` is in a new one, else `null`. */
  add(now, down, up) {
    const at = Math.floor(now / BIN) * BIN;
    const done = this.current && this.current.at < at ? this.rest() : null;
    this.current ??= { at, down: 0, up: 0 };
    this.current.down += down;
    this.current.up += up;
    return done;
  }

  /** Removes and returns the interval if it has ended by `now` and has bytes, else `null`. */
  ended(now) {
    return this.current && this.current.at + BIN <= now ? this.rest() : null;
  }

  /** Removes and returns the current interval, which may be incomplete; `null` if it has no bytes. */
  rest() {
    if (!this.current) {
      return null;
    }
    const { at, down, up } = this.current;
    this.current = null;
    return [...this.place, at, down, up];
  }
}
