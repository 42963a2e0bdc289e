// Requests to the server's HTTP API.

const PREFIX = "/runs/api/";
/** The delay before a new event stream after the server has rejected one (ms). */
const RETRY_DELAY = 3000;

/** The server requires a key. */
export class Unauthorized extends Error {}

async function decode(response) {
  let content = null;
  try {
    content = await response.json();
  } catch (error) {
    // The request can be aborted before its content is complete.
    if (error.name === "AbortError") throw error;
  }
  if (response.status === 401) throw new Unauthorized(content?.error);
  if (!response.ok) throw new Error(content?.error ?? `the server returns status ${response.status}`);
  if (content === null) throw new Error("the server returns an incomplete response");
  return content;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(PREFIX + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not respond; is it still running?");
  }
  return decode(response);
}

/** GET request for a path of the API. */
export function get(path, signal) {
  return request(path, { signal });
}

/** POST request for a path of the API. */
export function post(path, body = {}) {
  return request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

/** Subscribes to the events called `name`. Returns a function that unsubscribes. Reconnects after a loss. */
export function subscribe(path, name, onEvent, onLost) {
  let source = null;
  let retry = null;
  const open = () => {
    source = new EventSource(PREFIX + path);
    source.addEventListener(name, (event) => onEvent(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      onLost?.();
      // After an HTTP error, the browser does not reconnect. The server may be restarting.
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_DELAY);
    });
  };
  open();
  return () => {
    clearTimeout(retry);
    source.close();
  };
}
