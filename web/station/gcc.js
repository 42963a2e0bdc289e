// Google congestion control (GCC) of a real-time sender, draft-ietf-rmcat-gcc-02 and libwebrtc, with the same rules and
// constants as `workload::gcc` of the Rust agents. Times are whole nanoseconds. Rates are in bit/s.

/** The time between two events in ms. */
const millis = (later, earlier) => (later - earlier) / 1e6;
const clamp = (value, min, max) => Math.min(Math.max(value, min), max);

/** After this time without feedback, earlier delays do not count (ns). */
const TIMEOUT = 2e9;

/** Rate control of one sender. */
export class Gcc {
  /** `{start, min, max}` in bit/s. */
  constructor({ start, min, max }) {
    this.min = min;
    this.max = Math.max(max, min);
    const first = clamp(start, min, this.max);
    this.lastFeedback = null;
    this.resetDelays();
    this.aimd = new Aimd(first);
    this.loss = new LossController(first);
    this.received = new Received();
  }

  resetDelays() {
    this.groups = new Groups();
    this.trend = new Trend();
    this.detector = new Detector();
    this.signal = "normal";
  }

  /**
   * Processes the packets of a feedback in the order of sending, each `{sent, arrived, size}` with `arrived` by the receiver's
   * clock, or `null` for a lost packet. `roundTrip` is the time from sending to the arrival of the feedback.
   */
  handleFeedback(now, roundTrip, packets) {
    const lost = packets.filter(({ arrived }) => arrived === null).length;
    if (lost < packets.length) {
      if (this.lastFeedback !== null && now - this.lastFeedback > TIMEOUT) {
        this.resetDelays();
      }
      this.lastFeedback = now;
    }
    for (const { sent, arrived, size } of packets) {
      if (arrived === null) {
        continue;
      }
      this.received.put(arrived, size);
      const variation = this.groups.put(sent, arrived);
      if (variation !== null) {
        const trend = this.trend.update(variation);
        this.signal = this.detector.update(trend, variation.at, variation.sent);
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

/** The number of groups of the line. */
const TREND_GROUPS = 20;
/** The weight of the previous value in the smoothed delay. */
const DELAY_SMOOTHING = 0.9;

/** The trend of the delay: the slope of a line through the delays of the last groups. */
class Trend {
  constructor() {
    Object.assign(this, { delay: 0, smoothed: 0, points: [], slope: 0 });
  }

  /** Returns the growth of the delay in ms per ms. It is 0 before there are enough groups. */
  update({ delay, at }) {
    this.delay += delay;
    this.smoothed = DELAY_SMOOTHING * this.smoothed + (1 - DELAY_SMOOTHING) * this.delay;
    this.points.push({ at, delay: this.smoothed });
    if (this.points.length > TREND_GROUPS) {
      this.points.shift();
    }
    if (this.points.length === TREND_GROUPS) {
      this.slope = regressionSlope(this.points) ?? this.slope;
    }
    return this.slope;
  }
}

/** The slope of the regression line, or `null` if all groups arrived at the same time. */
function regressionSlope(points) {
  let sumAt = 0;
  let sumDelay = 0;
  for (const { at, delay } of points) {
    sumAt += at;
    sumDelay += delay;
  }
  const meanAt = sumAt / points.length;
  const meanDelay = sumDelay / points.length;
  let covariance = 0;
  let variance = 0;
  for (const { at, delay } of points) {
    covariance += (at - meanAt) * (delay - meanDelay);
    variance += (at - meanAt) * (at - meanAt);
  }
  return variance > 0 ? covariance / variance : null;
}

/** The threshold of the detector (section 5.4): initial value, range, gains per ms. */
const THRESHOLD = 12.5;
const MIN_THRESHOLD = 6;
const MAX_THRESHOLD = 600;
const UP = 0.0087;
const DOWN = 0.039;
/** The threshold is unchanged if the trend is further beyond it than this, and changes for at most this time (ms). */
const MAX_BEYOND = 15;
const MAX_STEP = 100;
/** The time (ms) and the number of groups for which the trend must exceed the threshold. */
const OVER_USE_TIME = 10;
const OVER_USE_GROUPS = 2;
/** The factor of the trend before it is compared with the threshold. */
const GAIN = 4;
/** The number of groups after which a trend has its full weight. */
const FULL = 60;

/** The over-use detector with an adaptive threshold. */
class Detector {
  constructor() {
    /** `over` is the time and the number of groups for which the trend has exceeded the threshold, `{time, groups}`. */
    Object.assign(this, { threshold: THRESHOLD, groups: 0, before: 0, updated: null, over: null, signal: "normal" });
  }

  /** Processes the trend at the arrival of a group at `at` ms, `sent` ms after the one before was sent. */
  update(trend, at, sent) {
    this.groups = Math.min(this.groups + 1, FULL);
    const weighted = trend * this.groups * GAIN;
    if (weighted > this.threshold) {
      this.over =
        this.over === null
          ? { time: sent / 2, groups: 1 }
          : { time: this.over.time + sent, groups: this.over.groups + 1 };
      const { time, groups } = this.over;
      if (time > OVER_USE_TIME && groups >= OVER_USE_GROUPS && trend >= this.before) {
        this.over = { time: 0, groups: 0 };
        this.signal = "over-use";
      }
    } else {
      this.over = null;
      this.signal = weighted < -this.threshold ? "under-use" : "normal";
    }
    this.before = trend;
    this.adapt(Math.abs(weighted), at);
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
/** The decreased rate is lower by this number of bit/s. */
const MARGIN = 5e3;
/** The rate rises to at most this multiple of the received rate, and this number of bit/s above. */
const MAX_FACTOR = 1.5;
const MAX_OFFSET = 10e3;
/** The minimum multiplicative increase in bit/s, and the minimum additive increase in bit/s per second. */
const MIN_STEP = 1000;
const MIN_SLOPE = 4000;
/** Frames per second, and bits of a packet, that the additive increase assumes. */
const FRAME_RATE = 30;
const PACKET_BITS = 1200 * 8;
/** The weight of the previous average in the average of the maximum. */
const SMOOTHING = 0.95;
/** The number of standard deviations within which a received rate is near the maximum. */
const NEAR = 3;
/** The range of the time between a change and a decrease (ns). */
const MIN_PAUSE = 10e6;
const MAX_PAUSE = 200e6;
/** A decrease does not wait if the received rate is below this factor of the rate. */
const COLLAPSE = 0.5;
/** The delay of the reaction without the round trip (ms). */
const RESPONSE = 100;
/** The range of the variance of the maximum, relative to its average (bit/s). The lowest one is the first. */
const INITIAL_VARIANCE = 0.4e3;
const MAX_VARIANCE = 2.5e3;

/** Additive or multiplicative increase, multiplicative decrease. */
class Aimd {
  constructor(rate) {
    /**
     * `changed` is the time of the last increase or decrease. `holds` is true from a decrease or under-use to the next
     * normal signal. `maximum` is the average and the variance of the received rate at decreases, `{average, variance}`.
     */
    Object.assign(this, { rate, changed: null, holds: true, maximum: null });
  }

  update(now, signal, received, roundTrip, [min, max]) {
    if (signal === "under-use") {
      this.holds = true;
    } else if (signal === "normal") {
      this.increase(now, received, roundTrip);
    } else if (this.mayDecrease(now, received, roundTrip)) {
      this.decrease(now, received);
    }
    this.rate = clamp(this.rate, min, max);
  }

  increase(now, received, roundTrip) {
    if (this.holds) {
      Object.assign(this, { changed: now, holds: false });
    }
    const seconds = Math.max(now - this.changed, 0) / 1e9;
    this.changed = now;
    if (this.maximum && received !== null && received > this.maximum.average + NEAR * deviation(this.maximum)) {
      this.maximum = null;
    }
    const raised = this.maximum
      ? this.rate + this.slope(roundTrip) * seconds
      : this.rate + Math.max(this.rate * (INCREASE ** Math.min(seconds, 1) - 1), MIN_STEP);
    const most = received === null ? raised : MAX_FACTOR * received + MAX_OFFSET;
    // The limit does not lower the rate of a sender that sends less.
    this.rate = Math.min(raised, Math.max(most, this.rate));
  }

  /** The effect of a change is known after a round trip. */
  mayDecrease(now, received, roundTrip) {
    const pause = clamp(roundTrip, MIN_PAUSE, MAX_PAUSE);
    return (
      this.changed === null || now - this.changed >= pause || (received !== null && received < COLLAPSE * this.rate)
    );
  }

  decrease(now, received) {
    Object.assign(this, { changed: now, holds: true });
    if (received === null) {
      this.rate /= 2;
      return;
    }
    let decreased = DECREASE * received;
    if (decreased > MARGIN) {
      decreased -= MARGIN;
    }
    if (decreased > this.rate && this.maximum) {
      decreased = DECREASE * this.maximum.average;
    }
    this.rate = Math.min(this.rate, decreased);
    if (this.maximum && received < this.maximum.average - NEAR * deviation(this.maximum)) {
      this.maximum = null;
    }
    this.maximum = smoothed(this.maximum, received);
  }

  /** The additive increase in bit/s per second: half a packet in each response time. */
  slope(roundTrip) {
    const response = (RESPONSE + roundTrip / 1e6) / 1000;
    const frame = this.rate / FRAME_RATE;
    const packet = frame / Math.max(Math.ceil(frame / PACKET_BITS), 1);
    return Math.max(packet / 2 / response, MIN_SLOPE);
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
