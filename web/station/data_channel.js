// Opening of the data channel to a server, in the worker. The page has the RTCPeerConnection, which workers lack.

import { newNonce } from "./consent.js";
import { hex, hmac } from "./sha256.js";

const PATH = "/.well-known/netburn/channel";
/** The time for each of the steps, and for all of them together, in ms. The controller waits for a station for 20 s. */
const TIMEOUT = 5000;
const TOTAL_TIMEOUT = 8000;

/** The proof of an offer by a station that has `token`. `certificate` is the SHA-256 of the browser's certificate. */
export function proofOfOffer(nonce, certificate, token) {
  const encoder = new TextEncoder();
  return hex(hmac(encoder.encode(token), encoder.encode(`channel ${nonce} ${certificate}`)));
}

/**
 * Opens a data channel to the server at `origin`. `connect()` requests a connection of the page: it returns
 * `{channel, certificate, failure, answer(answer), close()}` with three promises, of which `failure` is only rejected. Returns `{channel, close}`, or `{error}` with the
 * reason why there is no data channel.
 */
export async function openDataChannel(origin, tokens, connect, browser) {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  if (!/^[\d.]+$|:/.test(host)) {
    return { error: `the address of this page has the name \`${host}\`; open it at its IP address` };
  }
  const connection = connect();
  const within = deadline(browser);
  try {
    const channel = await within(connection.channel, "the page did not create a connection");
    const certificate = await within(connection.certificate, "the browser did not create an offer");
    const answer = await offer(origin, tokens, certificate, { browser, within });
    connection.answer({ ...answer, host });
    await within(Promise.race([opened(channel), connection.failure]), `UDP port ${answer.port} of the server did not answer; a firewall may block it`);
    return { channel, close: () => connection.close() };
  } catch (error) {
    connection.close();
    return { error: String(error?.message ?? error) };
  }
}

/** Sends the offer to the server with the proof by each of the tokens, until one is accepted. */
async function offer(origin, tokens, certificate, { browser, within }) {
  let status = 0;
  for (const token of tokens) {
    const nonce = newNonce();
    const proof = proofOfOffer(nonce, certificate, token);
    const url = `${origin}${PATH}?fleet=${nonce}&certificate=${certificate}&proof=${proof}`;
    const response = await within(
      browser.fetch(url, { cache: "no-store", credentials: "omit" }),
      "the server did not answer the offer",
    );
    status = response.status;
    if (status === 200) {
      return checkAnswer(JSON.parse(await response.text()));
    }
  }
  throw new Error(
    status === 404 ? "the server has no data channels" : `the server rejected the offer of a data channel: status ${status}`,
  );
}

/** Checks that the answer of a server has no characters with a meaning in SDP. */
export function checkAnswer(answer) {
  const { schema, ufrag, password, certificate, port } = answer ?? {};
  const isIce = (text) => typeof text === "string" && /^[A-Za-z0-9+/]{4,256}$/.test(text);
  const valid =
    schema === "netburn.channel/1" && isIce(ufrag) && isIce(password) && /^[\da-f]{64}$/.test(certificate) &&
    Number.isInteger(port) && port >= 1 && port <= 65535;
  if (!valid) {
    throw new Error("invalid answer of the server to the offer of a data channel");
  }
  return { ufrag, password, certificate, port };
}

function opened(channel) {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error("the data channel was closed"));
    if (channel.readyState === "open") {
      resolve();
    }
    channel.onopen = () => resolve();
    channel.onclose = closed;
    channel.onerror = closed;
  });
}

/** Returns a function that waits for a promise: its result, or an error with `reason` after the timeout. */
function deadline(browser) {
  const end = browser.performance.now() + TOTAL_TIMEOUT;
  return (promise, reason) => {
    const time = Math.max(0, Math.min(TIMEOUT, end - browser.performance.now()));
    let timer;
    const timeout = new Promise((_, reject) => {
      timer = browser.setTimeout(() => reject(new Error(reason)), time);
    });
    return Promise.race([promise, timeout]).finally(() => browser.clearTimeout(timer));
  };
}
