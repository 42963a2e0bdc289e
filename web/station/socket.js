// A WebSocket that reconnects.

/**
 * The first and the maximum delay before a reconnect, in ms. Each delay is shortened by a random part of up to half, so
 * that many clients do not reconnect at the same time.
 */
const FIRST_DELAY = 250;
const MAX_DELAY = 8000;

/**
 * Keeps a WebSocket to `url` open. Calls `on.open()`, `on.text(text)` and `on.lost()`.
 */
export class ReconnectingSocket {
  constructor(url, on, browser = globalThis) {
    Object.assign(this, { url, on, browser });
    this.failures = 0;
    this.socket = null;
    this.timer = null;
    this.closed = false;
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

  /** Closes the socket permanently, after queued messages have been sent. */
  close() {
    this.closed = true;
    this.browser.clearTimeout(this.timer);
    this.socket?.close();
  }

  /** Resets the reconnect delay: the other side has accepted this client. */
  resetBackoff() {
    this.failures = 0;
  }

  /** Closes this connection and opens another one with the first delay. */
  reconnect() {
    this.failures = 0;
    this.socket?.close();
  }

  open() {
    const socket = new this.browser.WebSocket(this.url);
    this.socket = socket;
    const isCurrent = () => !this.closed && this.socket === socket;
    socket.onopen = () => isCurrent() && this.on.open();
    socket.onmessage = ({ data }) => isCurrent() && this.on.text(String(data));
    socket.onclose = () => {
      if (!isCurrent()) {
        return;
      }
      this.failures += 1;
      this.on.lost();
      if (!this.closed) {
        const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** Math.min(this.failures - 1, 10));
        this.timer = this.browser.setTimeout(() => this.open(), delay * (0.5 + Math.random() / 2));
      }
    };
  }
}
