// One end of a video call: a sender of frames whose rate follows GCC, and a receiver of frames. The rules are those of
// `workload::video` of the Rust agents. Times are whole nanoseconds.
//
// After each `handle…` call and `sendFrame`, drain `pollTransmit` and `pollFrame`, then call `handleTimeout` at `pollTimeout`.

import { Gcc } from "./gcc.js";

/** The maximum number of transport numbers in a feedback. */
export const MAX_REPORTED = 300;
/** The maximum number of transmissions that are stored. */
const MAX_HISTORY = 1024;
/** The largest time by which the pacer catches up after a late timeout (ns). */
const CATCH_UP = 5e6;
/** The maximum time between the first feedback and another one (ns). */
const MAX_TIME = 365 * 86400e9;
/** The time between two feedbacks, and the minimum one if a packet is missing (ns). */
const INTERVAL = 100e6;
const MIN_INTERVAL = 20e6;
/** The number of arrivals after which a feedback is due at once. */
const MANY = MAX_REPORTED / 2;
/** The maximum numbers of stored arrivals and frames, and of packets of a frame. */
const MAX_ARRIVALS = 1024;
const MAX_FRAMES = 256;
const MAX_PACKETS = 1000;

/** The rate of a stream `{interval, burst, size}` in bit/s, rounded down. */
export function streamRate({ interval, burst, size }) {
  return Number((BigInt(size) * BigInt(burst) * 8000000000n) / BigInt(interval));
}

function frameSize(rate, interval) {
  return Number((BigInt(rate) * BigInt(interval)) / 8000000000n);
}

/** One end of a video call. */
export class VideoEnd {
  /** `{stream, adaptation: {minRate, startRate}, timeout}`: the frames at the maximum rate, and the age of a frame to drop. */
  constructor(config) {
    this.sender = new Sender(config);
    this.receiver = new Receiver();
    this.out = [];
    this.complete = [];
  }

  /** Encodes frame `number` at the current rate and queues its packets. Returns its size. Numbers increase. */
  sendFrame(now, number) {
    const size = this.sender.sendFrame(now, number);
    this.sender.handleTimeout(now, this.out);
    return size;
  }

  /** A packet of the other end: `{transport, frame, index, count, size}`. */
  handleMedia(now, packet) {
    const frame = this.receiver.handleMedia(now, packet);
    if (frame !== null) {
      this.complete.push(frame);
    }
  }

  /** A feedback of the other end: `{stamp, from, ages}`. An age is in ns, or `null` for a packet that has not arrived. */
  handleFeedback(now, feedback) {
    this.sender.handleFeedback(now, feedback);
    this.sender.handleTimeout(now, this.out);
  }

  handleTimeout(now) {
    this.sender.handleTimeout(now, this.out);
    const feedback = this.receiver.handleTimeout(now);
    if (feedback !== null) {
      this.out.push({ feedback });
    }
  }

  /** The next datagram to send: `{media}` or `{feedback}`. */
  pollTransmit() {
    return this.out.shift() ?? null;
  }

  /** The next complete frame: `{number, size}`. */
  pollFrame() {
    return this.complete.shift() ?? null;
  }

  pollTimeout() {
    return Math.min(this.sender.pollTimeout(), this.receiver.due ?? Infinity);
  }

  /** The rate at which the next frame is encoded, in bit/s. */
  rate() {
    return this.sender.gcc.rate();
  }
}

/** Encoder, packets, pacer and retransmissions. */
class Sender {
  constructor(config) {
    const { stream, adaptation } = config;
    this.config = config;
    this.gcc = new Gcc({ start: adaptation.startRate, min: adaptation.minRate, max: streamRate(stream) });
    /** Parts to send, those to send again first. */
    this.again = [];
    this.queue = [];
    /** The earliest time of the next transmission; `null` before the first frame. */
    this.nextSend = null;
    /** The transport number of the first transmission in `history`. */
    this.first = 0;
    this.history = [];
    /** Bytes that were sent again. The next frames are smaller by this number. */
    this.debt = 0;
    this.full = 0;
    /** The stamps of the first and of the last feedback. */
    this.stamps = null;
  }

  sendFrame(now, number) {
    this.startPacing(now);
    const size = this.nextSize();
    const count = Math.min(Math.max(Math.ceil(size / Math.max(this.config.stream.size, 1)), 1), 65535);
    for (let index = 0; index < count; index += 1) {
      const part = Math.floor(size / count) + (index < size % count ? 1 : 0);
      this.queue.push({ frame: number, encoded: now, index, count, size: part });
    }
    return size;
  }

  isEmpty() {
    return this.again.length === 0 && this.queue.length === 0;
  }

  /** Starts the pacer after a time without packets. This time does not let it send faster. */
  startPacing(now) {
    if (this.isEmpty()) {
      this.nextSend = Math.max(this.nextSend ?? now, now);
    }
  }

  /** The size of the next frame: that of the rate, without the bytes sent again, and at least that of the minimum rate. */
  nextSize() {
    const { stream, adaptation } = this.config;
    const ofRate = (rate) => (rate >= streamRate(stream) ? stream.burst * stream.size : frameSize(rate, stream.interval));
    const full = Math.max(ofRate(this.gcc.rate()), 1);
    const least = Math.min(Math.max(ofRate(adaptation.minRate), 1), full);
    const size = Math.max(full - this.debt, least);
    this.debt = Math.max(this.debt - (full - size), 0);
    this.full = full;
    return size;
  }

  handleFeedback(now, { stamp, from, ages }) {
    const base = this.accept(stamp);
    const last = ages.findLastIndex((age) => age !== null);
    if (base === null || last < 0) {
      return;
    }
    const reports = [];
    let roundTrip = 0;
    for (let offset = 0; offset <= last; offset += 1) {
      const sent = this.history[from + offset - this.first];
      if (!sent) {
        continue;
      }
      const age = ages[offset];
      // Arrivals by the receiver's clock, counted from the first feedback.
      const arrived = age === null ? null : stamp - base - age;
      if (age !== null) {
        roundTrip = Math.max(Math.max(now - sent.at, 0) - age, 0);
      }
      if (!sent.reported) {
        sent.reported = true;
        reports.push({ sent: sent.at, arrived, size: sent.part.size });
        if (arrived === null && this.debt < this.full) {
          this.startPacing(now);
          this.again.push(sent.part);
          this.debt += sent.part.size;
        }
      }
    }
    // A transmission that no feedback reports any more stays unknown.
    while (this.history.length > 0 && (this.history[0].reported || this.first < from)) {
      this.history.shift();
      this.first += 1;
    }
    if (reports.length > 0) {
      this.gcc.handleFeedback(now, roundTrip, reports);
    }
  }

  /** The stamp of the first feedback; `null` for a feedback that is older than another one, or far from the first. */
  accept(stamp) {
    const [base, last] = this.stamps ?? [stamp, stamp];
    if (stamp < base || stamp - base > MAX_TIME || stamp < last || (stamp === last && this.stamps !== null)) {
      return null;
    }
    this.stamps = [base, stamp];
    return base;
  }

  /** Sends the packets that are due at `now`. Those of frames that are too old are dropped. */
  handleTimeout(now, out) {
    while (this.nextSend !== null && this.nextSend <= now && !this.isEmpty()) {
      const part = this.again.shift() ?? this.queue.shift();
      if (Math.max(now - part.encoded, 0) > this.config.timeout) {
        continue;
      }
      const rate = Math.floor((this.gcc.rate() * 5) / 2);
      const gap = Math.ceil((part.size * 8e9) / rate);
      this.nextSend = Math.max(this.nextSend, now - CATCH_UP) + gap;
      const transport = this.first + this.history.length;
      this.history.push({ at: now, part, reported: false });
      if (this.history.length > MAX_HISTORY) {
        this.history.shift();
        this.first += 1;
      }
      const { frame, index, count, size } = part;
      out.push({ media: { transport, frame, index, count, size } });
    }
  }

  pollTimeout() {
    return this.nextSend === null || this.isEmpty() ? Infinity : this.nextSend;
  }
}

/** Complete frames, and feedback about the packets that arrived. */
class Receiver {
  constructor() {
    /** Frames of which packets have arrived, by number: `{count, left, arrived, bytes}`. */
    this.frames = new Map();
    /** Arrivals by transport number. */
    this.arrivals = new Map();
    /** The first transport number of the next feedback, and the first one that no feedback has covered. */
    this.from = 0;
    this.fresh = 0;
    /** Arrivals since the last feedback. */
    this.count = 0;
    /** The transport number after the highest one that arrived. */
    this.expected = null;
    this.reported = null;
    this.due = null;
  }

  handleMedia(now, { transport, frame, index, count, size }) {
    if (count < 1 || count > MAX_PACKETS || index >= count) {
      return null;
    }
    this.arrived(now, transport);
    if (this.frames.size >= MAX_FRAMES && frame < least(this.frames)) {
      return null;
    }
    let partial = this.frames.get(frame);
    if (!partial) {
      partial = { count, left: count, arrived: new Set(), bytes: 0 };
      this.frames.set(frame, partial);
    }
    let complete = null;
    if (partial.count === count && !partial.arrived.has(index)) {
      partial.arrived.add(index);
      partial.bytes += size;
      partial.left -= 1;
      complete = partial.left === 0 ? { number: frame, size: partial.bytes } : null;
    }
    if (this.frames.size > MAX_FRAMES) {
      this.frames.delete(least(this.frames));
    }
    return complete;
  }

  /** Records an arrival for the next feedback. */
  arrived(now, transport) {
    if (transport < this.from || this.arrivals.has(transport)) {
      return;
    }
    this.arrivals.set(transport, now);
    if (this.arrivals.size > MAX_ARRIVALS) {
      this.arrivals.delete(least(this.arrivals));
    }
    const isGap = this.expected !== null && transport > this.expected;
    this.expected = Math.max(this.expected ?? 0, transport + 1);
    this.count += 1;
    const wait = this.count >= MANY ? 0 : isGap ? MIN_INTERVAL : INTERVAL;
    const due = this.reported === null ? now : Math.max(this.reported + wait, now);
    this.due = Math.min(this.due ?? due, due);
  }

  handleTimeout(now) {
    if (this.due === null || this.due > now || this.expected === null) {
      return null;
    }
    Object.assign(this, { due: null, reported: now, count: 0 });
    const end = this.expected;
    const from = Math.max(this.from, end - MAX_REPORTED);
    const ages = [];
    for (let number = from; number < end; number += 1) {
      const at = this.arrivals.get(number);
      ages.push(at === undefined ? null : now - at);
    }
    this.from = this.fresh;
    this.fresh = end;
    for (const number of this.arrivals.keys()) {
      if (number < this.from) {
        this.arrivals.delete(number);
      }
    }
    return { stamp: now, from, ages };
  }
}

/** The lowest key of a map. */
function least(map) {
  let lowest = Infinity;
  for (const key of map.keys()) {
    lowest = Math.min(lowest, key);
  }
  return lowest;
}
