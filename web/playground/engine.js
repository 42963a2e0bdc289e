// Engines in workers.

/** One worker with an engine. Requests are answered in order. */
export class Engine {
  /** `bytes` is the module, and `script` an address of the worker's script. */
  constructor(bytes, script) {
    this.bytes = bytes;
    this.script = script;
    this.waiting = new Map();
    this.number = 0;
    this.start();
  }

  start() {
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.fail(event.message || "the worker of the simulator cannot start");
    // A copy, because this engine may start again.
    this.worker.postMessage({ start: this.bytes });
  }

  receive({ number, reply, progress, broken }) {
    if (progress) {
      for (const { onProgress } of this.waiting.values()) onProgress?.(progress);
      return;
    }
    const waiting = this.waiting.get(number);
    this.waiting.delete(number);
    waiting?.resolve(reply);
    if (broken) this.cancel();
  }

  fail(message) {
    for (const { resolve } of this.waiting.values()) resolve({ error: message });
    this.waiting.clear();
  }

  /** Resolves with the reply to a request. */
  ask(request, onProgress) {
    return new Promise((resolve) => {
      const number = ++this.number;
      this.waiting.set(number, { resolve, onProgress });
      this.worker.postMessage({ number, request });
    });
  }

  get busy() {
    return this.waiting.size > 0;
  }

  /** Ends all work. The requests resolve with `{ cancelled: true }`. */
  cancel() {
    if (!this.busy) return;
    this.worker.terminate();
    const open = [...this.waiting.values()];
    this.waiting.clear();
    this.start();
    for (const { resolve } of open) resolve({ cancelled: true });
  }
}
