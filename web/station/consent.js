// Whether a server may be measured against: only one that consents, to this very fleet.

import { hex, hmac } from "./sha256.js";

const PATH = "/.well-known/netburn";
const MAX_SIZE = 65536;
/** How long the server may take to answer, in ms. */
const PATIENCE = 5000;

/** A number that nobody used before. */
export function newNonce() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/** What a server that holds `token` answers to `nonce`. */
export function answerTo(nonce, token) {
  const encoder = new TextEncoder();
  return hex(hmac(encoder.encode(token), encoder.encode(nonce)));
}

/** Why the document `text`, an answer to `nonce`, is no consent to a fleet with one of these tokens; `null`: it is. */
export function objection(text, nonce, tokens) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return "what answers there is not a netburn server";
  }
  if (document?.schema !== "netburn.consent/1") {
    return "the server's consent is of a kind that this page doesn't know";
  }
  if (document.consents !== true) {
    return "the server does not consent to be measured against";
  }
  const answer = String(document.fleet ?? "").toLowerCase();
  if (!tokens.some((token) => answer === answerTo(nonce, token))) {
    return "the server does not consent to this fleet";
  }
  return null;
}

/** Asks the server at `origin`. Gives why not, or `null` when it consents to a fleet with one of `tokens`. */
export async function refusal(origin, tokens, fetch = globalThis.fetch) {
  const nonce = newNonce();
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), PATIENCE);
  try {
    const url = `${origin}${PATH}?fleet=${nonce}`;
    const response = await fetch(url, { cache: "no-store", credentials: "omit", signal: ending.signal });
    if (response.status !== 200 || Number(response.headers.get("content-length") ?? 0) > MAX_SIZE) {
      return `the server at ${origin} answers the question for its consent with status ${response.status}`;
    }
    return objection((await response.text()).slice(0, MAX_SIZE), nonce, tokens);
  } catch {
    const waited = ending.signal.aborted;
    return waited ? `the server at ${origin} did not answer in 5 s` : `the server at ${origin} can't be reached`;
  } finally {
    clearTimeout(timer);
  }
}
