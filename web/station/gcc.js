// Google congestion control (GCC) of a real-time sender, draft-ietf-rmcat-gcc-02, with the same rules and constants as
// `workload::gcc` of the Rust agents. Times are whole nanoseconds. Rates are in bit/s.

/** The time between two events in ms. */
const millis = (later, earlier) => (later - earlier) / 1e6;
const clamp = (value, min, max) => Math.min(Math.max(value, min), max);

/** Rate control of one sender. */
export class Gcc {
  /** `{start, min, max}` in bit/s. */
  constructor({ start, min, max }) {
    this.min = min;
    this.max = Math.max(max, min);
    const first = clamp(start, min, this.max);
    this.groups = new Groups();
    this.filter = new Filter();
    this.detector = new Detector();
    this.aimd = new Aimd(first);
    this.loss = new LossController(first);
    this.received = new Received();
    this.signal = "normal";
  }

  /**
   * Processes the packets of a feedback in the order of sending, each `{sent, arrived, size}` with `arrived` by the receiver's
   * clock, or `null` for a lost packet. `roundTrip` is the time from sending to the arrival of the feedback.
   */
  handleFeedback(now, roundTrip, packets) {
    let lost = 0;
    for (const { sent, arrived, size } of packets) {
      if (arrived === null) {
        lost += 1;
        continue;
      }
      this.received.put(arrived, size);
      const variation = this.groups.put(sent, arrived);
      if (variation !== null) {
        const gradient = this.filter.update(variation);
        this.signal = this.detector.update(gradient, variation.at, variation.sent);
      }
    }
    const range = [this.min, this.max];
    this.loss.update(now, lost, packets.length, range);
    if (lost < packets.length) {
      this.aimd.update(now, this.signal, this.received.rate(), roundTrip, range);
    }
  }

  /** The rate at which the sender encodes. */
  rate() {
    return clamp(Math.floor(Math.min(this.aimd.rate, this.loss.rate)), this.min, this.max);
  }
}

/** Packets that are sent within this time of the first one form a group (section 5.2), in ns. */
const BURST = 5e6;
/** The longest group in ms. */
const MAX_LENGTH = 100;

/** Groups of packets that were sent together. */
class Groups {
  constructor() {
    this.firstArrival = null;
    this.previous = null;
    this.current = null;
  }

  /** Adds a packet. Returns the variation of the delay between two complete groups, `{delay, sent, at}` in ms, or `null`. */
  put(sent, arrived) {
    this.firstArrival ??= arrived;
    const single = { firstSent: sent, sent, arrived };
    const { current } = this;
    if (current === null) {
      this.current = single;
      return null;
    }
    const since = sent - current.firstSent;
    if (since < 0) {
      return null;
    }
    // A packet that arrives soon after its group, with a shorter delay, waited behind it and belongs to it.
    const after = millis(arrived, current.arrived);
    const waited = after <= BURST / 1e6 && after < millis(sent, current.sent) && since / 1e6 < MAX_LENGTH;
    if (since <= BURST || waited) {
      current.sent = Math.max(current.sent, sent);
      current.arrived = Math.max(current.arrived, arrived);
      return null;
    }
    const before = this.previous;
    this.previous = current;
    this.current = single;
    if (before === null) {
      return null;
    }
    const spacing = millis(current.sent, before.sent);
    return {
      delay: millis(current.arrived, before.arrived) - spacing,
      sent: spacing,
      at: millis(current.arrived, this.firstArrival),
    };
  }
}

/** Constants of the Kalman filter (section 5.3): noise of the state, initial variance, χ, minimum noise in ms². */
const STATE_NOISE = 1e-3;
const INITIAL_ERROR = 0.1;
const CHI = 0.01;
const MIN_NOISE = 1;
/** A larger residual, in standard deviations of the noise, counts as this one. */
const OUTLIER = 3;
/** Number of groups whose maximum rate scales the noise filter. */
const GROUPS = 60;

/** The estimate of the delay gradient: a Kalman filter with one state. */
class Filter {
  constructor() {
    Object.assign(this, { estimate: 0, error: INITIAL_ERROR, noise: MIN_NOISE, spacings: [] });
  }

  /** Returns the new estimate in ms. */
  update({ delay, sent }) {
    this.spacings.push(Math.max(sent, 1));
    if (this.spacings.length > GROUPS) {
      this.spacings.shift();
    }
    const shortest = Math.min(...this.spacings);
    const alpha = (1 - CHI) ** ((30 / 1000) * shortest);
    const residual = delay - this.estimate;
    const limit = OUTLIER * Math.sqrt(this.noise);
    const bounded = clamp(residual, -limit, limit);
    this.noise = Math.max(alpha * this.noise + (1 - alpha) * bounded * bounded, MIN_NOISE);
    const predicted = this.error + STATE_NOISE;
    const gain = predicted / (this.noise + predicted);
    this.estimate += residual * gain;
    this.error = (1 - gain) * predicted;
    return this.estimate;
  }
}

/** The threshold of the detector in ms (section 5.4): initial value, range, gains per ms. */
const THRESHOLD = 12.5;
const MIN_THRESHOLD = 6;
const MAX_THRESHOLD = 600;
const UP = 0.01;
const DOWN = 0.00018;
/** The threshold is unchanged if the gradient is further beyond it than this (ms), and changes for at most this time (ms). */
const MAX_BEYOND = 15;
const MAX_STEP = 100;
/** The time for which the gradient must exceed the threshold (ms). */
const OVER_USE_TIME = 10;
/** The number of groups after which a gradient has its full weight. */
const FULL = 60;

/** The over-use detector with an adaptive threshold. */
class Detector {
  constructor() {
    Object.assign(this, { threshold: THRESHOLD, groups: 0, before: 0, updated: null, over: null, signal: "normal" });
  }

  /** Processes the gradient of a group that arrived at `at` ms, `sent` ms after the one before was sent. */
  update(gradient, at, sent) {
    this.groups = Math.min(this.groups + 1, FULL);
    const sum = gradient * this.groups;
    if (sum > this.threshold) {
      this.over = this.over === null ? sent / 2 : this.over + sent;
      if (this.over > OVER_USE_TIME && gradient >= this.before) {
        this.signal = "over-use";
      }
    } else {
      this.over = null;
      this.signal = sum < -this.threshold ? "under-use" : "normal";
    }
    this.before = gradient;
    this.adapt(Math.abs(sum), at);
    return this.signal;
  }

  adapt(size, at) {
    const step = clamp(this.updated === null ? 0 : at - this.updated, 0, MAX_STEP);
    this.updated = at;
    if (size - this.threshold > MAX_BEYOND) {
      return;
    }
    const gain = size < this.threshold ? DOWN : UP;
    this.threshold = clamp(this.threshold + step * gain * (size - this.threshold), MIN_THRESHOLD, MAX_THRESHOLD);
  }
}

/** The factor of a decrease, of the received rate (section 5.5). */
const DECREASE = 0.85;
/** The factor of a multiplicative increase in one second. */
const INCREASE = 1.08;
/** The rate rises to at most this multiple of the received rate. */
const MAX_FACTOR = 1.5;
/** The minimum additive increase in bit/s. */
const MIN_ADDITION = 1000;
/** Frames per second, and bits of a packet, that the additive increase assumes. */
const FRAME_RATE = 30;
const PACKET_BITS = 1200 * 8;
/** The weight of the previous average in the average of the maximum. */
const SMOOTHING = 0.95;
/** The number of standard deviations within which a received rate is near the maximum. */
const NEAR = 3;
/** The range of the minimum time between two decreases (ns). */
const MIN_PAUSE = 10e6;
const MAX_PAUSE = 200e6;
/** The delay of the reaction without the round trip (ms). */
const RESPONSE = 100;
/** The range of the variance of the maximum, relative to its average (bit/s). The lowest one is the first. */
const INITIAL_VARIANCE = 0.4e3;
const MAX_VARIANCE = 2.5e3;

/** Additive or multiplicative increase, multiplicative decrease. */
class Aimd {
  constructor(rate) {
    /** `maximum` is the average and the variance of the received rate at decreases, `{average, variance}`. */
    Object.assign(this, { rate, updated: null, decreased: null, maximum: null });
  }

  update(now, signal, received, roundTrip, [min, max]) {
    const elapsed = this.updated === null ? 0 : Math.max(now - this.updated, 0) / 1e6;
    this.updated = now;
    if (signal === "normal") {
      if (this.maximum && received !== null && received > this.maximum.average + NEAR * deviation(this.maximum)) {
        this.maximum = null;
      }
      const raised = this.maximum
        ? this.rate + this.addition(elapsed, roundTrip)
        : this.rate * INCREASE ** Math.min(elapsed / 1000, 1);
      const most = received === null ? raised : MAX_FACTOR * received;
      // The limit does not lower the rate of a sender that sends less.
      this.rate = Math.min(raised, Math.max(most, this.rate));
    } else if (signal === "over-use") {
      // The effect of a decrease is known after a round trip.
      const pause = clamp(roundTrip, MIN_PAUSE, MAX_PAUSE);
      if (this.decreased !== null && now - this.decreased < pause) {
        return;
      }
      this.decreased = now;
      const arriving = received ?? this.rate;
      if (this.maximum && arriving < this.maximum.average - NEAR * deviation(this.maximum)) {
        this.maximum = null;
      }
      this.rate = Math.min(this.rate, DECREASE * arriving);
      this.maximum = smoothed(this.maximum, arriving);
    }
    this.rate = clamp(this.rate, min, max);
  }

  addition(elapsed, roundTrip) {
    const share = 0.5 * Math.min(elapsed / (RESPONSE + roundTrip / 1e6), 1);
    const frame = this.rate / FRAME_RATE;
    const packet = frame / Math.max(Math.ceil(frame / PACKET_BITS), 1);
    return Math.max(share * packet, MIN_ADDITION);
  }
}

function deviation({ average, variance }) {
  return Math.sqrt(variance * average);
}

function smoothed(maximum, rate) {
  if (maximum === null) {
    return { average: rate, variance: INITIAL_VARIANCE };
  }
  const average = SMOOTHING * maximum.average + (1 - SMOOTHING) * rate;
  const error = average - rate;
  const relative = (error * error) / Math.max(average, 1);
  const variance = SMOOTHING * maximum.variance + (1 - SMOOTHING) * relative;
  return { average, variance: clamp(variance, INITIAL_VARIANCE, MAX_VARIANCE) };
}

/** The shares of lost packets below which the rate rises, and above which it falls (section 6). */
const LOW = 0.02;
const HIGH = 0.1;
/** The factor of a rise, and the part of the loss by which the rate falls. */
const LOSS_INCREASE = 1.05;
const LOSS_DECREASE = 0.5;
/** The minimum time between two changes (ns). */
const LOSS_INTERVAL = 200e6;

/** The rate by the share of lost packets. */
class LossController {
  constructor(rate) {
    Object.assign(this, { rate, changed: null, lost: 0, packets: 0 });
  }

  /** Counts the packets of a feedback at `now`. Every 200 ms their loss changes the rate. */
  update(now, lost, packets, [min, max]) {
    this.lost += lost;
    this.packets += packets;
    this.changed ??= now;
    if (now - this.changed < LOSS_INTERVAL || this.packets === 0) {
      return;
    }
    const share = this.lost / this.packets;
    if (share > HIGH) {
      this.rate *= 1 - LOSS_DECREASE * share;
    } else if (share < LOW) {
      this.rate *= LOSS_INCREASE;
    }
    this.rate = clamp(this.rate, min, max);
    Object.assign(this, { changed: now, lost: 0, packets: 0 });
  }
}

/** The window of the received rate in ns. */
const WINDOW = 500e6;

/** The packets of the last 500 ms. */
class Received {
  constructor() {
    Object.assign(this, { packets: [], bytes: 0, first: null, last: null });
  }

  put(at, size) {
    this.first ??= at;
    this.last = Math.max(this.last ?? at, at);
    const isOld = (time) => this.last - time >= WINDOW;
    if (isOld(at) && at !== this.last) {
      return;
    }
    this.packets.push({ at, size });
    this.bytes += size;
    while (this.packets.length > 0 && isOld(this.packets[0].at)) {
      this.bytes -= this.packets.shift().size;
    }
  }

  /** The rate in bit/s, or `null` before the window is complete. */
  rate() {
    return this.last === null || this.last - this.first < WINDOW ? null : (this.bytes * 8) / (WINDOW / 1e9);
  }
}
