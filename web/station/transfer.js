// Transfers of objects over HTTP with the browser's APIs.

import { UploadContent } from "./upload_content.js";

/**
 * Transfers objects between this page and the server at `origins` (such as `http://192.168.1.5:4480`), which differ in the
 * port. Each request has an `observer` with the methods `bytes(count)`, `connected(at)`, `finished()` and `failed(failure)`.
 * Times are those of `clock`.
 */
export class Transfers {
  constructor(origins, clock, browser = globalThis) {
    Object.assign(this, { origins, clock, browser });
    this.content = new UploadContent();
    this.count = 0;
  }

  /** Starts the transfer `{lane, up, path, size, priority}` at the origin of number `lane`. Returns a function that aborts it. */
  begin(request, observer) {
    this.count += 1;
    const url = this.origins[request.lane] + request.path;
    return request.up ? this.send(request, url, observer) : this.fetch(request, url, observer);
  }

  fetch(request, url, observer) {
    const abort = new AbortController();
    this.receive(url, request, abort.signal, observer);
    return () => abort.abort();
  }

  async receive(url, { size, priority }, signal, observer) {
    let responded = false;
    try {
      const response = await this.browser.fetch(url, {
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
        priority,
        signal,
      });
      responded = true;
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new InvalidResponse(`status ${response.status}`);
      }
      const reader = response.body.getReader();
      let left = size;
      for (;;) {
        const { done, value } = await reader.read();
        if (signal.aborted) {
          return;
        }
        if (done) {
          break;
        }
        left -= value.byteLength;
        observer.bytes(value.byteLength);
      }
      if (left !== 0) {
        throw new InvalidResponse(`${size - left} bytes`);
      }
      this.reportConnected(url, observer);
      observer.finished();
    } catch (error) {
      if (!signal.aborted) {
        observer.failed(error instanceof InvalidResponse ? "answer" : responded ? "connection" : "dial");
      }
    }
  }

  send({ size }, url, observer) {
    const request = new this.browser.XMLHttpRequest();
    let sent = 0;
    let over = false;
    const progress = (total) => {
      // Some browsers count more than the content.
      const count = Math.min(total, size) - sent;
      if (count > 0 && !over) {
        sent += count;
        observer.bytes(count);
      }
    };
    const end = (report) => {
      if (!over) {
        over = true;
        report();
      }
    };
    request.open("POST", url);
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onload = () => {
      if (request.status !== 200) {
        return end(() => observer.failed("answer"));
      }
      progress(size);
      end(() => {
        this.reportConnected(url, observer);
        observer.finished();
      });
    };
    // A browser does not report the cause. If bytes were sent, there was a connection.
    request.onerror = () => end(() => observer.failed(sent > 0 ? "connection" : "dial"));
    request.send(this.content.blob(size));
    return () => {
      over = true;
      request.abort();
    };
  }

  /** Reports when a new connection was established, if the browser's Resource Timing entry is available. */
  reportConnected(url, observer) {
    const { performance } = this.browser;
    const entry = performance.getEntriesByName?.(url, "resource").at(-1);
    if (entry && entry.connectEnd > entry.connectStart) {
      observer.connected(this.clock.at(entry.connectEnd));
    }
    // The browser's list has a limited size.
    if (this.count % 50 === 0) {
      performance.clearResourceTimings?.();
    }
  }
}

/** The server's response differs from the request: wrong status or length. */
class InvalidResponse extends Error {}
