// Requests over HTTP with the browser's APIs: documents, and transfers of objects.

/** The maximum length of a document, in characters. */
const MAX_DOCUMENT = 65536;
/** The maximum size of one `getRandomValues` request, in bytes (Web Cryptography API), and the number of them in a piece. */
const MAX_RANDOM = 65536;
const REQUESTS = 16;
const OPTIONS = { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" };

/** Passes the content of a response in pieces, until `pass` returns false. */
async function read(response, pass) {
  const reader = response.body.getReader();
  for (let piece = await reader.read(); !piece.done && pass(piece.value) !== false; piece = await reader.read());
}

/** `handle` passes inputs to the module, which ignores those of aborted requests. `at` converts a time of `performance.now()` to
 * its clock. */
export class Requests {
  constructor(handle, at, browser) {
    // Transfers by their number, and requests for documents by their negative number.
    Object.assign(this, { handle, at, browser, aborts: new Map() });
    // The browser's list has a limited size.
    browser.performance.onresourcetimingbufferfull = () => browser.performance.clearResourceTimings();
  }

  async get({ get, url }) {
    const decoder = new TextDecoder();
    let text = "";
    try {
      const response = await this.fetch(-get, url);
      if (response.status === 200) {
        await read(response, (piece) => (text += decoder.decode(piece, { stream: true })).length <= MAX_DOCUMENT);
      }
      this.handle({ type: "response", get, status: response.status, text: text.slice(0, MAX_DOCUMENT) });
    } catch {
      this.handle({ type: "unreachable", get });
    }
    this.abort({ get });
  }

  abort({ get }) {
    this.cancel({ request: -get });
  }

  begin(transfer) {
    const pass = (type, more) => this.handle({ type, request: transfer.request, ...more });
    transfer.up ? this.upload(transfer, pass) : this.download(transfer, pass);
  }

  /** Aborts a request, unless it has ended. */
  cancel({ request }) {
    this.aborts.get(request)?.();
    this.aborts.delete(request);
  }

  fetch(request, url, options) {
    const abort = new AbortController();
    this.aborts.set(request, () => abort.abort());
    return this.browser.fetch(url, { ...OPTIONS, ...options, signal: abort.signal });
  }

  async download({ request, url, priority }, pass) {
    try {
      const response = await this.fetch(request, url, { priority });
      pass("status", { status: response.status });
      await read(response, ({ byteLength }) => pass("bytes", { bytes: byteLength }));
      this.finish(url, pass);
    } catch {
      pass("failed");
    }
    this.cancel({ request });
  }

  upload({ request, url, size }, pass) {
    const upload = new this.browser.XMLHttpRequest();
    this.aborts.set(request, () => upload.abort());
    upload.open("POST", url);
    upload.upload.onprogress = ({ loaded }) => pass("sent", { total: loaded });
    upload.onload = () => {
      pass("status", { status: upload.status });
      this.finish(url, pass);
    };
    upload.onerror = () => pass("failed");
    upload.onloadend = () => this.aborts.delete(request);
    upload.send(this.content(size));
  }

  /** Also reports the time of the connection, if the browser's Resource Timing entry is available. */
  finish(url, pass) {
    const { connectStart = 0, connectEnd = 0 } = this.browser.performance.getEntriesByName?.(url, "resource").at(-1) ?? {};
    pass("finished", { connect_start: this.at(connectStart), connect_end: this.at(connectEnd) });
  }

  /** A blob of `size` bytes. A large one consists of references to one small blob, which browsers do not copy. */
  content(size) {
    // Random bytes, so that no device on the path can compress them.
    const pieces = () => Array.from({ length: REQUESTS }, () => crypto.getRandomValues(new Uint8Array(MAX_RANDOM)));
    const piece = (this.piece ??= new Blob(pieces()));
    // Without a type, the browser sends no Content-Type and no CORS preflight request.
    return new Blob([...Array(Math.floor(size / piece.size)).fill(piece), piece.slice(0, size % piece.size)]);
  }
}
