// The client of a server's echo: handshake and probes, with the same rules as `traffic::datagram::Prober`.
//
// After each `handle…` call and command, drain `pollTransmit`, then wait until `pollTimeout` or the next datagram.

import { hello, probe, read } from "./datagram_wire.js";

/** The interval after the first hello, in ns. It doubles with each retry, up to the maximum. */
const INITIAL_RETRY = 1e9;
const MAX_RETRY = 8e9;
/** The time without an echo, while probes are sent, after which the handshake is repeated (ns). */
const SILENCE = 2e9;
/** The maximum number of probes that wait for the handshake. The oldest are dropped and count as lost. */
const MAX_WAITING = 64;

/** A random BigInt of 64 bits. */
export function random64() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}

export class Prober {
  /** The first hello is due at `now`. `token` is a random BigInt of 64 bits. `dscp` is that of the echoes. */
  constructor(now, token, dscp = 0) {
    Object.assign(this, { token, dscp });
    /** Clients of one data channel get the same cookie. This part of an id belongs to this client. */
    this.prefix = BigInt.asUintN(64, token << 32n);
    this.held = null;
    this.previous = null;
    this.hello = { at: now, wait: INITIAL_RETRY };
    /** The time of the first probe since the last datagram. */
    this.unheard = null;
    this.waiting = [];
    this.out = [];
  }

  /** The valid cookie, or `null`. */
  cookie(now) {
    return this.held && now < this.held.until ? this.held.cookie : null;
  }

  /** Sends a probe of `size` bytes, now or after the handshake. `id` is an integer below 2³². */
  probe(now, id, size) {
    const cookie = this.cookie(now);
    if (cookie) {
      this.send(now, cookie, id, size);
      return;
    }
    this.waiting.push({ id, size });
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.shift();
    }
  }

  /** Returns `{kind: "ready"}`, `{kind: "echo", id, received, sent}` with the server's times, or `null`. */
  handleDatagram(now, bytes) {
    const datagram = read(bytes);
    if (datagram?.kind === "welcome" && datagram.token === this.token) {
      this.previous = this.held?.cookie ?? null;
      this.held = { cookie: datagram.cookie, until: now + datagram.goodFor };
      // The cookie is renewed after half of its validity, which leaves time for retries.
      this.hello = { at: now + Math.max(Math.floor(datagram.goodFor / 2), INITIAL_RETRY), wait: INITIAL_RETRY };
      this.unheard = null;
      this.waiting.splice(0).forEach(({ id, size }) => this.send(now, datagram.cookie, id, size));
      return { kind: "ready" };
    }
    const isOurs = datagram?.kind === "echo" && datagram.id >> 32n === this.prefix >> 32n;
    if (isOurs && [this.held?.cookie, this.previous].some((cookie) => cookie && equal(cookie, datagram.cookie))) {
      this.unheard = null;
      return { kind: "echo", id: Number(datagram.id & 0xffffffffn), received: datagram.received, sent: datagram.sent };
    }
    return null;
  }

  handleTimeout(now) {
    if (this.unheard !== null && now >= this.unheard + SILENCE) {
      // Starts counting again, and sends a hello at once unless a handshake is in progress.
      this.unheard = null;
      if (this.hello.wait === INITIAL_RETRY) {
        this.hello.at = Math.min(this.hello.at, now);
      }
    }
    if (now >= this.hello.at) {
      this.out.push(hello(this.token));
      this.hello = { at: now + this.hello.wait, wait: Math.min(this.hello.wait * 2, MAX_RETRY) };
    }
  }

  pollTransmit() {
    return this.out.shift() ?? null;
  }

  pollTimeout() {
    return Math.min(this.hello.at, this.unheard === null ? Infinity : this.unheard + SILENCE);
  }

  send(now, cookie, id, size) {
    this.unheard ??= now;
    this.out.push(probe(cookie, this.prefix | BigInt(id), size, this.dscp));
  }
}

function equal(one, other) {
  return one.every((byte, at) => byte === other[at]);
}
