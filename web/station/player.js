// A video player's buffer: bytes in, stalls out.
//
// It waits until enough is buffered, plays at a constant rate, and stands still when it runs empty until enough is
// buffered again. Media is counted in billionths of a bit (BigInt), so that what plays in a whole number of nanoseconds
// is a whole number; the only rounding is that it runs empty at the next whole nanosecond.

const BYTE = 8000000000n;

export class Player {
  /** A player with `{start, rate, maxBuffer}` (ns, bit/s, ns) that is switched on at `now` with nothing buffered. */
  constructor(config, now) {
    this.rate = BigInt(Math.max(config.rate, 1));
    this.enough = atLeast(this.rate * BigInt(config.start), 1n);
    this.maxBuffer = atLeast(this.rate * BigInt(config.maxBuffer), this.enough);
    this.level = 0n;
    this.at = now;
    this.began = now;
    /** How long it took until it began to play. */
    this.startup = null;
    this.state = "starting";
    this.stalled = null;
    this.stalls = [];
  }

  /** How long it can go on with what it holds, in ns. */
  buffered() {
    return Number(this.level / this.rate);
  }

  handleBytes(now, bytes) {
    this.playUntil(now);
    if (this.state === "stopped") {
      return;
    }
    // Bytes that come at the very instant it would run empty keep it going.
    this.level = atMost(this.level + BigInt(bytes) * BYTE, this.maxBuffer);
    if (this.level < this.enough) {
      return;
    }
    if (this.state === "starting") {
      this.startup = Math.max(now, this.began) - this.began;
    } else if (this.state === "stalled") {
      this.closeStall(this.stalled, this.at);
    }
    this.state = "playing";
  }

  handleTimeout(now) {
    this.playUntil(now);
    if (this.state === "playing" && this.level === 0n) {
      this.stall(this.at);
    }
  }

  /** It is switched off at `now`. Never to have started is a stall from beginning to end: whoever watched saw nothing. */
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

  /** When it will run empty if nothing more comes; `null` when it doesn't play. */
  pollTimeout() {
    return this.state === "playing" ? this.emptyAt() : null;
  }

  /** The first whole nanosecond at which nothing is left. */
  emptyAt() {
    return this.at + Number((this.level + this.rate - 1n) / this.rate);
  }

  /** Plays what is there up to `now`. Where it ran empty before that, a stall began then. */
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
        this.level = atLeast(this.level - this.rate * BigInt(now - this.at), 0n);
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

  /** It as plain data, for `restore`. */
  save() {
    const { at, began, startup, state, stalled } = this;
    return { at, began, startup, state, stalled, level: this.level.toString() };
  }

  restore(saved) {
    Object.assign(this, saved, { level: BigInt(saved.level) });
  }
}

function atLeast(value, least) {
  return value < least ? least : value;
}

function atMost(value, most) {
  return value > most ? most : value;
}
