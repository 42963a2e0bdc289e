// The agent's code in WebAssembly (crates/station-page), and its interface to the browser: requests, datagrams and a timer.

/** If more bytes wait in the channel, a datagram is not sent, because the wait would be part of its delay. */
const MAX_BUFFERED = 65536;
/** The maximum delay of one timer, in ms. */
const MAX_SLEEP = 60000;

/** One instance of the module. `handle` passes an event to it; docs/contributing/architecture.md describes the events. */
export class Core {
  constructor(module) {
    this.functions = new WebAssembly.Instance(module).exports;
  }

  handle(now, event) {
    return this.call(this.functions.page_handle, now, new TextEncoder().encode(JSON.stringify(event)));
  }

  handleDatagram(now, bytes) {
    return this.call(this.functions.page_datagram, now, bytes);
  }

  /** The next datagram to send, or `null`. */
  pollTransmit() {
    const length = this.functions.page_transmit();
    return length > 0 ? this.output(length).slice() : null;
  }

  call(handle, now, bytes) {
    const at = this.functions.page_input(bytes.length);
    new Uint8Array(this.functions.memory.buffer, at, bytes.length).set(bytes);
    return JSON.parse(new TextDecoder().decode(this.output(handle(now))));
  }

  output(length) {
    return new Uint8Array(this.functions.memory.buffer, this.functions.page_output(), length);
  }
}

/**
 * Executes the commands of `core` in a run that begins at `zero` on `clock`. `channel` is an open RTCDataChannel, or `null`.
 * `settled()` is called once, after the end of all operations.
 */
export class Measurement {
  constructor(core, { clock, zero, transfers, channel, settled, browser }) {
    Object.assign(this, { core, clock, zero, transfers, channel, settled, browser });
    this.requests = new Map();
    this.ended = false;
    this.armed = Infinity;
    if (channel) {
      channel.binaryType = "arraybuffer";
      channel.onmessage = ({ data }) => {
        if (data instanceof ArrayBuffer && !this.ended) {
          this.execute(core.handleDatagram(this.now(), new Uint8Array(data)));
        }
      };
    }
  }

  now() {
    return this.clock.now() - this.zero;
  }

  handle(event) {
    const reply = this.core.handle(this.now(), event);
    this.execute(reply);
    return reply;
  }

  /** Aborts all requests without results. */
  abandon() {
    this.handle({ type: "abandon" });
    this.ended = true;
    this.browser.clearTimeout(this.timer);
  }

  execute({ commands, timeout = Infinity, settled }) {
    for (const command of commands) {
      if (command.do === "begin") {
        this.begin(command);
      } else {
        this.requests.get(command.request)?.();
        this.requests.delete(command.request);
      }
    }
    this.transmit();
    this.sleep(timeout);
    if (settled && !this.ended) {
      this.ended = true;
      // Not within the current call stack.
      this.browser.setTimeout(() => this.settled(), 0);
    }
  }

  begin({ request, ...transfer }) {
    const pass = (event) => this.requests.has(request) && this.handle({ request, ...event });
    const end = (event) => (pass(event), this.requests.delete(request));
    const abort = this.transfers.begin(transfer, {
      connected: (at) => pass({ type: "connected", at: at - this.zero }),
      bytes: (bytes) => pass({ type: "bytes", bytes }),
      finished: () => end({ type: "finished" }),
      failed: (failure) => end({ type: "failed", failure }),
    });
    this.requests.set(request, abort);
  }

  transmit() {
    const { channel } = this;
    let count = 0;
    for (let bytes = this.core.pollTransmit(); bytes; bytes = this.core.pollTransmit()) {
      if (channel?.readyState === "open" && channel.bufferedAmount <= MAX_BUFFERED) {
        channel.send(bytes);
      } else {
        count += 1;
      }
    }
    if (count > 0) {
      this.core.handle(this.now(), { type: "unsent", count });
    }
  }

  sleep(timeout) {
    // Each received byte delays the timeout. One early wake-up costs less than a new timer for each byte.
    if (timeout === Infinity || this.armed <= timeout) {
      return;
    }
    this.armed = timeout;
    this.browser.clearTimeout(this.timer);
    const delay = Math.min(Math.max(0, Math.ceil((timeout - this.now()) / 1e6)), MAX_SLEEP);
    this.timer = this.browser.setTimeout(() => {
      this.armed = Infinity;
      this.handle({ type: "timeout" });
    }, delay);
  }
}

/** `count` unpredictable numbers of 64 bits, in hexadecimal. */
export function random64(count) {
  return [...crypto.getRandomValues(new BigUint64Array(count))].map((number) => number.toString(16));
}
