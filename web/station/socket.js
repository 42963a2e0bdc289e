// A WebSocket that comes back by itself.

/** The first wait after a loss, and the longest, in ms; each is shortened by up to half, so that many don't come at once. */
const FIRST = 250;
const LONGEST = 8000;

/**
 * Keeps a WebSocket to `url` open. `on.open()`, `on.text(text)` and `on.lost()` are called as things happen.
 */
export class Socket {
  constructor(url, on, browser = globalThis) {
    Object.assign(this, { url, on, browser });
    this.failures = 0;
    this.socket = null;
    this.timer = null;
    this.over = false;
    this.open();
  }

  get isOpen() {
    return this.socket?.readyState === 1;
  }

  send(message) {
    if (this.isOpen) {
      this.socket.send(JSON.stringify(message));
    }
  }

  /** Ends it for good, once what was sent is on its way. */
  close() {
    this.over = true;
    this.browser.clearTimeout(this.timer);
    this.socket?.close();
  }

  /** The other side is glad to have us: the next loss is a first one. */
  welcomed() {
    this.failures = 0;
  }

  /** Ends this connection and begins another at once. */
  again() {
    this.failures = 0;
    this.socket?.close();
  }

  open() {
    const socket = new this.browser.WebSocket(this.url);
    this.socket = socket;
    const live = () => !this.over && this.socket === socket;
    socket.onopen = () => live() && this.on.open();
    socket.onmessage = ({ data }) => live() && this.on.text(String(data));
    socket.onclose = () => {
      if (!live()) {
        return;
      }
      this.failures += 1;
      this.on.lost();
      if (!this.over) {
        const wait = Math.min(LONGEST, FIRST * 2 ** Math.min(this.failures - 1, 10));
        this.timer = this.browser.setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
      }
    };
  }
}
