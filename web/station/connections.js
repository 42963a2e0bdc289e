// The use of a browser's connections to one origin, which HTTP/1.1 limits.

/** Connections of a browser to one origin over HTTP/1.1 (the same in Chromium, Firefox and Safari). */
export const CONNECTIONS = 6;

/** The requests to one origin in progress, in the order of their start. The first ones have the connections. */
export class Connections {
  constructor() {
    this.requests = [];
  }

  /**
   * Adds a request of the workload `owner`. If it waits for connections that another workload uses, `waited(nanos)` is called
   * once: when it gets a connection, or when it ends. Returns a function that ends the request.
   */
  request(owner, now, waited) {
    const waits = this.requests.length >= CONNECTIONS;
    const isBehindOthers = waits && this.requests.slice(0, CONNECTIONS).some((other) => other.owner !== owner);
    const request = { owner, since: isBehindOthers ? now() : null, waited, now };
    this.requests.push(request);
    return () => {
      const at = this.requests.indexOf(request);
      if (at >= 0) {
        this.requests.splice(at, 1);
        report(request);
        this.requests.slice(0, CONNECTIONS).forEach(report);
      }
    };
  }
}

function report(request) {
  if (request.since !== null) {
    const { since } = request;
    request.since = null;
    request.waited(request.now() - since);
  }
}
