// One object moved over HTTP, by the browser's own means.

import { Content } from "./bytes.js";

/** What a browser calls the classes of requests; its own idea of an order, not of the packets' marks. */
const PRIORITY = { background: "low", "best-effort": "auto", video: "high", voice: "high" };
/** The DSCP of each class (RFC 2474), which the server is asked to mark its answers with; best effort needs none. */
const DSCP = { background: 8, video: 40, voice: 48 };

/**
 * Moves objects between this page and the server at `origin` (`http://192.168.1.5:4480`). What happens is told to `tell`,
 * which the caller passes with each request: `bytes(count)`, `connected(at)`, `finished()`, `failed(how)`. Times are of
 * `clock`.
 */
export class Transfers {
  constructor(origin, clock, browser = globalThis) {
    this.origin = origin;
    this.clock = clock;
    this.browser = browser;
    this.content = new Content();
    this.count = 0;
  }

  /** Begins `{station, direction, size, priority, slot}`; gives what ends it early. */
  begin(request, tell) {
    this.count += 1;
    const dscp = DSCP[request.priority];
    const wishes = [
      ...(dscp ? [`dscp=${dscp}`] : []),
      ...(request.cc ? [`cc=${request.cc}`] : []),
      ...(request.slot === null ? ["close"] : []),
    ];
    // The server counts by station, so that what this page reports can be checked against it.
    wishes.push(`station=${request.station}`);
    if (request.direction === "up") {
      // A browser asks for leave to upload, and remembers the answer by address: that one stays the same.
      return this.send(request, `${this.origin}/sink?${wishes.join("&")}`, tell);
    }
    return this.fetch(request, `${this.origin}/bytes/${request.size}?${[`n=${this.count}`, ...wishes].join("&")}`, tell);
  }

  fetch(request, url, tell) {
    const ending = new AbortController();
    this.receive(url, request, ending.signal, tell);
    return () => ending.abort();
  }

  async receive(url, { size, priority }, signal, tell) {
    let answered = false;
    try {
      const response = await this.browser.fetch(url, {
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
        priority: PRIORITY[priority] ?? "auto",
        signal,
      });
      answered = true;
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Wrong(`status ${response.status}`);
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
        tell.bytes(value.byteLength);
      }
      if (left !== 0) {
        throw new Wrong(`${size - left} bytes`);
      }
      this.tellConnected(url, tell);
      tell.finished();
    } catch (error) {
      if (!signal.aborted) {
        tell.failed(error instanceof Wrong ? "failed_answer" : answered ? "failed_connection" : "failed_dial");
      }
    }
  }

  send({ size }, url, tell) {
    const request = new this.browser.XMLHttpRequest();
    let sent = 0;
    let over = false;
    const moved = (total) => {
      // What the browser counts is content: never more than there is.
      const count = Math.min(total, size) - sent;
      if (count > 0 && !over) {
        sent += count;
        tell.bytes(count);
      }
    };
    const end = (what) => {
      if (!over) {
        over = true;
        what();
      }
    };
    request.open("POST", url);
    request.upload.onprogress = (event) => moved(event.loaded);
    request.onload = () => {
      if (request.status !== 200) {
        return end(() => tell.failed("failed_answer"));
      }
      moved(size);
      end(() => {
        this.tellConnected(url, tell);
        tell.finished();
      });
    };
    // A browser doesn't say what went wrong. Bytes that moved had a connection.
    request.onerror = () => end(() => tell.failed(sent > 0 ? "failed_connection" : "failed_dial"));
    request.send(this.content.of(size));
    return () => {
      over = true;
      request.abort();
    };
  }

  /** When its connection was ready, if it dialled one and the browser's own timing of it is there already. */
  tellConnected(url, tell) {
    const { performance } = this.browser;
    const entry = performance.getEntriesByName?.(url, "resource").at(-1);
    if (entry && entry.connectEnd > entry.connectStart) {
      tell.connected(this.clock.at(entry.connectEnd));
    }
    // The list is bounded, and nobody else looks at it.
    if (this.count % 50 === 0) {
      performance.clearResourceTimings?.();
    }
  }
}

/** The server answered something else than what was asked for. */
class Wrong extends Error {}
