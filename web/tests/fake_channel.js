// A data channel to a fake server that answers datagrams: echo and calls, in virtual time.

const HELLO = 1;
const PROBE = 3;
const REQUEST = 5;
const UP = 7;
/** The server's clock is this much ahead of the fake browser's time, in ns. */
const AHEAD = 5_000_000_000_000n;
const COOKIE = Uint8Array.from({ length: 16 }, (_, at) => at + 1);

export class FakeChannel {
  /** `settings` is `{delay, lose}`: the one-way delay in ms, and `lose(direction, number)`, which drops a packet of a call. */
  constructor(browser, { delay = 20, lose = () => false } = {}) {
    Object.assign(this, { browser, delay, lose });
    this.readyState = "connecting";
    this.bufferedAmount = 0;
    this.calls = new Map();
    this.kinds = [];
  }

  open() {
    this.readyState = "open";
    this.onopen();
  }

  send(bytes) {
    const copy = bytes.slice();
    const view = new DataView(copy.buffer);
    this.kinds.push(view.getUint8(5));
    if (view.getUint8(5) === UP && this.lose("up", view.getUint32(16))) {
      return;
    }
    this.browser.at(this.browser.time + this.delay, () => this.receive(copy, view));
  }

  serverTime(time = this.browser.time) {
    return BigInt(Math.round(time * 1e6)) + AHEAD;
  }

  receive(bytes, view) {
    const now = this.serverTime();
    const kind = view.getUint8(5);
    if (kind === HELLO) {
      view.setUint8(5, kind + 1);
      bytes.set(COOKIE, 16);
      view.setUint32(32, 60_000);
      this.deliver(bytes);
    } else if (kind === PROBE) {
      view.setUint8(5, kind + 1);
      view.setBigInt64(32, now);
      view.setBigInt64(40, now);
      this.deliver(bytes);
    } else if (kind === UP) {
      this.calls.get(view.getBigUint64(8))?.arrivals.set(view.getUint32(16), now);
    } else if (kind === REQUEST) {
      this.request(bytes, view, now);
    }
  }

  request(bytes, view, now) {
    const id = view.getBigUint64(24);
    const call = this.calls.get(id) ?? { next: 0, arrivals: new Map() };
    this.calls.set(id, call);
    const anchor = view.getBigInt64(32);
    const [interval, until, from, size] = [view.getUint32(40), view.getUint32(44), view.getUint32(48), view.getUint16(52)];
    for (; call.next < until; call.next += 1) {
      // Streams of single packets.
      const due = anchor + BigInt(call.next) * BigInt(interval);
      this.down(id, call.next, due, size);
    }
    view.setUint8(5, REQUEST + 1);
    view.setBigInt64(8, now);
    view.setBigInt64(16, now);
    for (let at = 72; at < bytes.length; at += 4) {
      const arrival = call.arrivals.get(from + (at - 72) / 4);
      view.setUint32(at, arrival === undefined ? 0xffffffff : Number((now - arrival) / 1000n));
    }
    this.deliver(bytes);
  }

  down(id, number, due, size) {
    const bytes = new Uint8Array(size);
    const view = new DataView(bytes.buffer);
    bytes.set(new TextEncoder().encode("NBRN"));
    view.setUint8(4, 1);
    view.setUint8(5, 8);
    view.setBigUint64(8, id);
    view.setUint32(16, number);
    view.setBigInt64(20, due);
    const at = Number(due - AHEAD) / 1e6;
    if (!this.lose("down", number)) {
      this.browser.at(Math.max(at, this.browser.time), () => this.deliver(bytes));
    }
  }

  deliver(bytes) {
    this.browser.at(this.browser.time + this.delay, () => this.onmessage({ data: bytes.buffer }));
  }
}
