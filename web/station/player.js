// The buffer of a video player: bytes in, stalls out.
//
// The player starts when enough is buffered, and plays at a constant rate. It stalls when the buffer is empty, until enough
// is buffered again. Media is counted in billionths of a bit (BigInt), so that the amount played in a whole number of
// nanoseconds is an integer. The only rounding: the buffer becomes empty at the next whole nanosecond.

const BYTE = 8000000000n;

export class Player {
  /** A player with `{start, rate, maxBuffer}` (ns, bit/s, ns) that starts at `now` with an empty buffer. */
  constructor(config, now) {
    this.rate = BigInt(Math.max(config.rate, 1));
    this.startLevel = max(this.rate * BigInt(config.start), 1n);
    this.maxBuffer = max(this.rate * BigInt(config.maxBuffer), this.startLevel);
    this.level = 0n;
    this.at = now;
    this.began = now;
    /** The time from the start to the first picture, in ns; `null` before. */
    this.startup = null;
    this.state = "starting";
    this.stalled = null;
    this.stalls = [];
  }

  /** The play time of the buffered media, in ns. */
  buffered() {
    return Number(this.level / this.rate);
  }

  handleBytes(now, bytes) {
    this.put(now, BigInt(bytes) * BYTE);
  }

  /** Media with a play time of `length` ns were received. */
  handleMedia(now, length) {
    this.put(now, this.rate * BigInt(length));
  }

  /** Media in billionths of a bit were received. */
  put(now, media) {
    this.playUntil(now);
    if (this.state === "stopped") {
      return;
    }
    // Media that arrive at the instant at which the buffer becomes empty prevent a stall.
    this.level = min(this.level + media, this.maxBuffer);
    if (this.level < this.startLevel) {
      return;
    }
    if (this.state === "starting") {
      this.startup = Math.max(now, this.began) - this.began;
    } else if (this.state === "stalled") {
      this.closeStall(this.stalled, this.at);
    }
    this.state = "playing";
  }

  /**
   * The first time from `now` on at which the buffer has room for media with a play time of `length` ns, if no other media
   * arrive. `now`, if it has room already or does not play.
   */
  roomAt(now, length) {
    const excess = this.level + this.rate * BigInt(length) - this.maxBuffer;
    if (this.state !== "playing" || excess <= 0n) {
      return now;
    }
    return Math.max(this.at + Number((excess + this.rate - 1n) / this.rate), now);
  }

  handleTimeout(now) {
    this.playUntil(now);
    if (this.state === "playing" && this.level === 0n) {
      this.stall(this.at);
    }
  }

  /** Stops the player at `now`. If it never started to play, the whole time is a stall. */
  stop(now) {
    this.playUntil(now);
    if (this.state === "stalled") {
      this.closeStall(this.stalled, this.at);
    } else if (this.state === "starting") {
      this.closeStall(this.began, this.at);
    }
    this.state = "stopped";
  }

  pollStall() {
    return this.stalls.shift() ?? null;
  }

  /** The time at which the buffer becomes empty if no bytes arrive; `null` if the player does not play. */
  pollTimeout() {
    return this.state === "playing" ? this.emptyAt() : null;
  }

  /** The first whole nanosecond at which the buffer is empty. */
  emptyAt() {
    return this.at + Number((this.level + this.rate - 1n) / this.rate);
  }

  /** Plays until `now`. If the buffer became empty before, a stall began at that time. */
  playUntil(now) {
    if (now < this.at) {
      return;
    }
    if (this.state === "playing") {
      const empty = this.emptyAt();
      if (empty < now) {
        this.level = 0n;
        this.stall(empty);
      } else {
        this.level = max(this.level - this.rate * BigInt(now - this.at), 0n);
      }
    }
    this.at = now;
  }

  stall(began) {
    this.state = "stalled";
    this.stalled = began;
  }

  closeStall(began, ended) {
    if (ended > began) {
      this.stalls.push({ began, length: ended - began });
    }
  }

  /** The state as plain data for `restore`. */
  save() {
    const { at, began, startup, state, stalled } = this;
    return { at, began, startup, state, stalled, level: this.level.toString() };
  }

  restore(saved) {
    Object.assign(this, saved, { level: BigInt(saved.level) });
  }
}

function max(one, other) {
  return one < other ? other : one;
}

function min(one, other) {
  return one > other ? other : one;
}
