// Due times of a workload's operations, in whole nanoseconds since the run began.

import { offset, operationOf } from "./packet_stream.js";
import { isOneWay, maxInFlight } from "./plan.js";
import { Stream } from "./seed.js";

/** Delay after a failure of a workload without an interval, to limit the load on a failing server: 1 s. */
export const BACKOFF = 1e9;
/** The minimum interval: 100 µs. */
const MIN_INTERVAL = 1e5;

export class Schedule {
  /**
   * The first due time is at a random phase within one interval after `start`. Without an interval, it is `start`.
   *
   * There are several modes. Grid: fixed points in time; jitter moves an operation, not the grid. Paced: one interval after
   * the last due time, or at the end of the last operation if that is later. Serial: in each of the workload's streams, at the end of the last operation.
   * Datagrams that are not answered have a further mode, packets: streams up and down, independent of each other.
   */
  constructor(config, start, seed, index) {
    /** The streams of packets: `{direction, stream, first, number, due}` with number and due time of the next packet. */
    this.packets = [];
    if (isOneWay(config)) {
      this.initPackets(config.packets, start, seed, index);
      return;
    }
    const serial = config.kind === "download" || config.kind === "upload" || config.interval === null;
    this.interval = serial ? 0 : Math.max(config.interval, MIN_INTERVAL);
    this.mode = serial ? "serial" : config.kind === "stream" ? "paced" : "grid";
    /** The time from the begin of a window to its first due time. */
    this.phase = serial ? 0 : Stream.forCause(seed, "phase", index).below(this.interval);
    this.streams = maxInFlight(config);
    const first = start + this.phase;
    /** The due time of `next` without jitter. */
    this.point = first;
    /** The next due time; `null` while it depends on an operation in progress. */
    this.next = first;
    /** In serial mode, the due times after `next`. */
    this.later = serial ? Array(this.streams - 1).fill(start) : [];
    this.jitter = Math.min(config.jitter, Math.floor(this.interval / 2));
    this.random = Stream.forCause(seed, "jitter", index);
  }

  /** The first packet of a stream is due at a random phase within one interval: up after `start`, down after the first packet up. */
  initPackets({ up, down }, start, seed, index) {
    this.mode = "packets";
    const add = (direction, stream, after, cause) => {
      const phase = Stream.forCause(seed, cause, index).below(Math.max(stream.interval, MIN_INTERVAL));
      this.packets.push({ direction, stream, first: after + phase, number: 0, due: after + phase });
    };
    if (up) {
      add("up", up, start, "phase");
    }
    if (down) {
      add("down", down, this.packets[0]?.first ?? start, "down phase");
    }
    this.next = this.firstStream()?.due ?? null;
  }

  /** The stream whose packet is due first; at one instant the stream up. */
  firstStream() {
    return this.packets.reduce((first, stream) => (first === null || stream.due < first.due ? stream : first), null);
  }

  /** The due time of the first packet of a direction, or `null`. */
  firstPacket(direction) {
    return this.packets.find((stream) => stream.direction === direction)?.first ?? null;
  }

  /** Starts again with a window that begins at `from`. Streams of packets have one window. */
  restart(from) {
    if (this.mode === "packets") {
      return;
    }
    this.point = from + this.phase;
    this.next = this.point;
    this.later = this.mode === "serial" ? Array(this.streams - 1).fill(from) : [];
  }

  /**
   * Advances to the following due time: the operation at `next` has become due. Returns the number of that operation if a
   * stream of packets determines it, else `null`.
   */
  advance() {
    if (this.mode === "packets") {
      const stream = this.firstStream();
      const operation = operationOf(stream.direction, stream.number);
      stream.number += 1;
      stream.due = stream.first + offset(stream.stream, stream.number);
      this.next = this.firstStream().due;
      return operation;
    }
    if (this.mode === "grid") {
      this.point += this.interval;
      this.next = this.jittered(this.point);
    } else {
      this.next = this.takeLater();
    }
    return null;
  }

  /** An operation ended at `now`. The grid mode ignores it. */
  ended(now, succeeded) {
    if (this.mode === "paced") {
      this.point = Math.max(this.point + this.interval, now);
      this.next = Math.max(this.jittered(this.point), now);
    } else if (this.mode === "serial") {
      this.later.push(succeeded ? now : now + BACKOFF);
      if (this.next !== null) {
        this.later.push(this.next);
      }
      this.next = this.takeLater();
    }
  }

  /** Returns true if due times are fixed, independent of the duration of operations. */
  isFixed() {
    return this.mode === "grid" || this.mode === "packets";
  }

  /** Moves due times before `now` to `now`. */
  postpone(now) {
    this.next = this.next === null ? null : Math.max(this.next, now);
    this.later = this.later.map((due) => Math.max(due, now));
  }

  /** Removes the earliest due time of `later`; `null` without any. */
  takeLater() {
    if (this.later.length === 0) {
      return null;
    }
    const earliest = Math.min(...this.later);
    this.later.splice(this.later.indexOf(earliest), 1);
    return earliest;
  }

  /** `point` plus a uniformly distributed offset in the closed range −`jitter` to `jitter`. */
  jittered(point) {
    return this.jitter === 0 ? point : point - this.jitter + this.random.below(2 * this.jitter + 1);
  }

  /** The state as plain data for `restore`. */
  save() {
    if (this.mode === "packets") {
      return { packets: this.packets.map(({ number, due }) => ({ number, due })) };
    }
    return { point: this.point, next: this.next, later: [...this.later], random: this.random.save() };
  }

  restore(saved) {
    if (this.mode === "packets") {
      saved.packets.forEach((state, at) => Object.assign(this.packets[at], state));
      this.next = this.firstStream()?.due ?? null;
      return;
    }
    this.point = saved.point;
    this.next = saved.next;
    this.later = [...saved.later];
    this.random = Stream.restored(saved.random);
  }
}
