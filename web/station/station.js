// The worker that measures. It passes what happens in the browser to the agent's code in WebAssembly (crates/station-page), and
// executes its effects. Browsers throttle a worker's timers less than the page's while the page is in the background.

import { Requests } from "./transfer.js";

/** If more bytes wait in the channel, a datagram is not sent, because the wait would be part of its delay. */
const MAX_BUFFERED = 65536;

/** One instance of the module. */
export class Module {
  constructor(module) {
    this.functions = new WebAssembly.Instance(module).exports;
  }

  handle(now, { type, ...fields }) {
    return this.call(this.functions.page_handle, now, new TextEncoder().encode(JSON.stringify({ [type]: fields })));
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

/** The smallest observed step of `performance.now()`, in nanoseconds. Takes at most about 20 ms. */
export function resolution(performance) {
  const start = performance.now();
  let [last, smallest] = [start, 20];
  for (let polls = 0; polls < 200000 && last - start < 20; polls += 1) {
    const now = performance.now();
    smallest = now > last ? Math.min(smallest, now - last) : smallest;
    last = now;
  }
  return Math.max(1, Math.round(smallest * 1e6));
}

/** `post` sends an effect to the page. `zero` is the zero of the page's clock, in whole ms since 1970; it survives reloads. */
export class Station {
  constructor(module, zero, post, browser) {
    Object.assign(this, { zero, post, browser, module: new Module(module), channel: null, sockets: new Map() });
    this.requests = new Requests((input) => this.handle(input), (millis) => this.at(millis), browser);
  }

  /** Converts a time of `performance.now()` to whole nanoseconds since the zero. A double represents a hundred days exactly. */
  at(millis) {
    // Both values are large and close to each other: their difference is exact, their values in nanoseconds are not.
    return Math.round((this.browser.performance.timeOrigin - this.zero + millis) * 1e6);
  }

  now() {
    return this.at(this.browser.performance.now());
  }

  /** Handles the first message of the page. */
  load(page) {
    const random = String(crypto.getRandomValues(new Uint8Array(32)));
    this.handle({ type: "load", ...page, resolution: resolution(this.browser.performance), random });
  }

  /** Handles an input, possibly from the page. A data channel comes with its input. */
  handle({ channel, ...input }) {
    if (channel) {
      this.attach(channel, input.connection);
    }
    this.execute(this.module.handle(this.now(), input));
  }

  execute(effects) {
    for (const effect of effects) {
      const executor = [this, this.requests].find((each) => each[effect.do]);
      executor ? executor[effect.do](effect) : this.post(effect);
    }
    let count = 0;
    for (let bytes = this.module.pollTransmit(); bytes; bytes = this.module.pollTransmit()) {
      if (this.channel?.readyState === "open" && this.channel.bufferedAmount <= MAX_BUFFERED) {
        this.channel.send(bytes);
      } else {
        count += 1;
      }
    }
    if (count > 0) {
      this.handle({ type: "unsent", count });
    }
  }

  wake({ at }) {
    this.browser.clearTimeout(this.timer);
    const delay = Math.max(0, Math.ceil((at - this.now()) / 1e6));
    this.timer = this.browser.setTimeout(() => this.handle({ type: "timeout" }), delay);
  }

  attach(channel, connection) {
    this.channel = channel;
    const pass = (type) => () => this.handle({ type, connection });
    const [onopen, onclose] = [pass("channel-open"), pass("channel-closed")];
    Object.assign(channel, { binaryType: "arraybuffer", onopen, onclose, onerror: onclose });
    channel.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) {
        this.execute(this.module.handleDatagram(this.now(), new Uint8Array(data)));
      }
    };
  }

  open({ socket, url }) {
    const connection = new this.browser.WebSocket(url);
    this.sockets.set(socket, connection);
    connection.onopen = () => this.handle({ type: "opened", socket });
    connection.onmessage = ({ data }) => this.handle({ type: "text", socket, text: String(data) });
    connection.onclose = () => {
      this.sockets.delete(socket);
      this.handle({ type: "closed", socket });
    };
  }

  send({ socket, text }) {
    this.sockets.get(socket)?.send(text);
  }

  close({ socket }) {
    this.sockets.get(socket)?.close();
  }
}

if (typeof WorkerGlobalScope !== "undefined") {
  const compiled = fetch("/station/page.wasm").then((file) => file.arrayBuffer()).then((bytes) => WebAssembly.compile(bytes));
  let station = null;
  // After an error, the state of the module is unknown. The page also ends the worker after an error outside of a promise.
  globalThis.onunhandledrejection = () => globalThis.postMessage({ do: "fail" });
  // Messages are handled in order, from when the module is compiled.
  globalThis.onmessage = async ({ data }) => {
    const module = await compiled;
    station ??= new Station(module, data.zero, (effect) => globalThis.postMessage(effect), globalThis);
    data.load ? station.load(data.load) : station.handle(data);
  };
}
