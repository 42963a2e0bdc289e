// The consent of a server: a station sends load only to a server that consents to load tests by its fleet.

import { hex, hmac } from "./sha256.js";

const PATH = "/.well-known/netburn";
const MAX_SIZE = 65536;
/** Timeout for the server's response, in ms. */
const RESPONSE_TIMEOUT = 5000;

/** A random number that is used once. */
export function newNonce() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/** The response to `nonce` of a server that knows `token`. */
export function expectedResponse(nonce, token) {
  const encoder = new TextEncoder();
  return hex(hmac(encoder.encode(token), encoder.encode(nonce)));
}

/**
 * Checks a consent document, the response to `nonce`. Returns an error text, or `null` if the server consents to one of
 * `tokens`.
 */
export function checkConsent(text, nonce, tokens) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return "the response is not from a netburn server";
  }
  if (document?.schema !== "netburn.consent/1") {
    return "unsupported version of the server's consent document";
  }
  if (document.consents !== true) {
    return "the server does not consent to load tests";
  }
  const response = String(document.fleet ?? "").toLowerCase();
  if (!tokens.some((token) => response === expectedResponse(nonce, token))) {
    return "the server does not consent to this fleet";
  }
  return null;
}

/** Requests the consent of the server at `origin`. Returns an error text, or `null` if it consents to one of `tokens`. */
export async function rejection(origin, tokens, fetch = globalThis.fetch) {
  const nonce = newNonce();
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), RESPONSE_TIMEOUT);
  try {
    const url = `${origin}${PATH}?fleet=${nonce}`;
    const response = await fetch(url, { cache: "no-store", credentials: "omit", signal: abort.signal });
    if (response.status !== 200 || Number(response.headers.get("content-length") ?? 0) > MAX_SIZE) {
      return `the server at ${origin} rejects the request for its consent: status ${response.status}`;
    }
    return checkConsent((await response.text()).slice(0, MAX_SIZE), nonce, tokens);
  } catch {
    const timedOut = abort.signal.aborted;
    return timedOut ? `the server at ${origin} did not respond within 5 s` : `the server at ${origin} cannot be reached`;
  } finally {
    clearTimeout(timer);
  }
}
