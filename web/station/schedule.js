// When the next operation of a workload falls due. Times are whole nanoseconds since the run began.

import { Stream } from "./seed.js";

/** How long a use without a period waits after a failure, so that a dead server isn't hammered: 1 s. */
export const BACKOFF = 1e9;
/** The shortest period: 100 µs. */
const MIN_PERIOD = 1e5;

export class Schedule {
  /**
   * The first due instant is a random phase within one period of `start`; without a period it is `start`.
   *
   * Three rhythms. Grid: fixed points in time; jitter moves an operation, never the grid. Paced: one period after the
   * last was due, or when it ended if that was later. Serial: when the last ends.
   */
  constructor(config, start, seed, index) {
    const serial = config.kind === "download" || config.kind === "upload" || config.interval === null;
    this.interval = serial ? 0 : Math.max(config.interval, MIN_PERIOD);
    this.rhythm = serial ? "serial" : config.kind === "stream" ? "paced" : "grid";
    const first = serial ? start : start + Stream.of(seed, "phase", index).below(this.interval);
    /** The grid point of `next`, or when the last was due before jitter moved it. */
    this.point = first;
    /** The next due instant; `null` while it depends on an operation that is under way. */
    this.next = first;
    this.jitter = Math.min(config.jitter, Math.floor(this.interval / 2));
    this.random = Stream.of(seed, "jitter", index);
  }

  /** What was due next has fallen due. */
  fellDue() {
    if (this.rhythm === "grid") {
      this.point += this.interval;
      this.next = this.jittered(this.point);
    } else {
      this.next = null;
    }
  }

  /** An operation ended at `now`. Only those rhythms listen that wait for it. */
  ended(now, well) {
    if (this.rhythm === "paced") {
      this.point = Math.max(this.point + this.interval, now);
      this.next = Math.max(this.jittered(this.point), now);
    } else if (this.rhythm === "serial") {
      this.next = well ? now : now + BACKOFF;
    }
  }

  /** `point` moved by up to `jitter` either way, uniformly, both ends included. */
  jittered(point) {
    return this.jitter === 0 ? point : point - this.jitter + this.random.below(2 * this.jitter + 1);
  }

  /** It as plain data, for `restore`. */
  save() {
    return { point: this.point, next: this.next, random: this.random.save() };
  }

  restore(saved) {
    this.point = saved.point;
    this.next = saved.next;
    this.random = Stream.restored(saved.random);
  }
}
