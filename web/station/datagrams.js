// The datagrams of this page: one data channel, and the clients that share it.

/**
 * If more bytes wait in the channel, a datagram is not sent. The wait would be part of its delay. The number does not fall
 * within a task, in which the pacer of a video call sends up to 31 kB.
 */
const MAX_BUFFERED = 65536;
/** The maximum delay of one timer, in ms. */
const MAX_SLEEP = 60000;

/**
 * Passes datagrams between `channel`, an open RTCDataChannel, and its clients. A client has the methods `handleDatagram`,
 * `handleTimeout`, `pollTransmit` and `pollTimeout`.
 */
export class Datagrams {
  constructor(channel, timers = globalThis) {
    Object.assign(this, { channel, timers });
    this.clients = new Set();
    channel.binaryType = "arraybuffer";
    channel.onmessage = ({ data }) => data instanceof ArrayBuffer && this.receive(new Uint8Array(data));
  }

  /**
   * Adds a client. `now()` is the current time of its clock, and `received(event)` is called after each datagram with the
   * result of `handleDatagram`. `unsent()` is called if datagrams could not be sent. Returns the client's `{flush(), close()}`;
   * `flush` sends its datagrams.
   */
  add(client, now, received, unsent = () => {}) {
    const entry = { client, now, received, unsent, timer: null };
    this.clients.add(entry);
    this.wake(entry);
    return {
      flush: () => {
        this.flush(entry);
        this.sleep(entry);
      },
      close: () => {
        this.clients.delete(entry);
        this.timers.clearTimeout(entry.timer);
      },
    };
  }

  receive(bytes) {
    for (const entry of [...this.clients]) {
      const event = entry.client.handleDatagram(entry.now(), bytes);
      this.flush(entry);
      entry.received(event);
      this.sleep(entry);
    }
  }

  wake(entry) {
    if (entry.client.pollTimeout() <= entry.now()) {
      entry.client.handleTimeout(entry.now());
      this.flush(entry);
    }
    this.sleep(entry);
  }

  flush({ client, unsent }) {
    let all = true;
    for (let bytes = client.pollTransmit(); bytes; bytes = client.pollTransmit()) {
      all = this.send(bytes) && all;
    }
    if (!all) {
      unsent();
    }
  }

  send(bytes) {
    if (this.channel.readyState !== "open" || this.channel.bufferedAmount > MAX_BUFFERED) {
      return false;
    }
    this.channel.send(bytes);
    return true;
  }

  sleep(entry) {
    if (!this.clients.has(entry)) {
      return;
    }
    this.timers.clearTimeout(entry.timer);
    const delay = Math.max(0, Math.ceil((entry.client.pollTimeout() - entry.now()) / 1e6));
    entry.timer = this.timers.setTimeout(() => this.wake(entry), Math.min(delay, MAX_SLEEP));
  }
}
