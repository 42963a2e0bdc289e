// Transfers of objects over HTTP with the browser's APIs.

/** The maximum size of one `getRandomValues` request, in bytes (Web Cryptography API), and the number of them in a piece. */
const MAX_RANDOM = 65536;
const REQUESTS = 16;
const OPTIONS = { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" };

/** `handle` passes inputs to the module. `at` converts a time of `performance.now()` to its clock. */
export class Transfers {
  constructor(handle, at, browser) {
    Object.assign(this, { handle, at, browser, count: 0, aborts: new Map() });
  }

  begin(transfer) {
    this.count += 1;
    const { request } = transfer;
    const pass = (type, more) => {
      const isOpen = type === "finished" || type === "failed" ? this.aborts.delete(request) : this.aborts.has(request);
      return isOpen && this.handle({ type, request, ...more });
    };
    transfer.up ? this.upload(transfer, pass) : this.download(transfer, pass);
  }

  cancel({ request }) {
    const abort = this.aborts.get(request);
    this.aborts.delete(request);
    abort?.();
  }

  async download({ request, url, priority }, pass) {
    const abort = new AbortController();
    this.aborts.set(request, () => abort.abort());
    try {
      const response = await this.browser.fetch(url, { ...OPTIONS, priority, signal: abort.signal });
      pass("status", { status: response.status });
      const reader = response.body.getReader();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        pass("bytes", { bytes: piece.value.byteLength });
      }
      this.finish(url, pass);
    } catch {
      pass("failed");
    }
  }

  upload({ request, url, size }, pass) {
    const upload = new this.browser.XMLHttpRequest();
    let sent = 0;
    this.aborts.set(request, () => upload.abort());
    upload.open("POST", url);
    upload.upload.onprogress = ({ loaded }) => {
      pass("bytes", { bytes: loaded - sent });
      sent = loaded;
    };
    upload.onload = () => {
      pass("status", { status: upload.status });
      this.finish(url, pass);
    };
    upload.onerror = () => pass("failed");
    upload.send(this.content(size));
  }

  /** Also reports when a new connection was established, if the browser's Resource Timing entry is available. */
  finish(url, pass) {
    const { performance } = this.browser;
    const entry = performance.getEntriesByName?.(url, "resource").at(-1);
    if (entry && entry.connectEnd > entry.connectStart) {
      pass("connected", { at: this.at(entry.connectEnd) });
    }
    // The browser's list has a limited size.
    if (this.count % 50 === 0) {
      performance.clearResourceTimings?.();
    }
    pass("finished");
  }

  /** A blob of `size` bytes. A large one consists of references to one small blob, which browsers do not copy. */
  content(size) {
    // Random bytes, so that no device on the path can compress them.
    this.piece ??= new Blob(Array.from({ length: REQUESTS }, () => crypto.getRandomValues(new Uint8Array(MAX_RANDOM))));
    const { piece } = this;
    // Without a type, the browser sends no Content-Type and no CORS preflight request.
    return new Blob([...Array(Math.floor(size / piece.size)).fill(piece), piece.slice(0, size % piece.size)]);
  }
}
