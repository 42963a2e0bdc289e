// The messages of this page, as defined by docs/reference/protocol.schema.json, and the decoding of received messages.

import { hex, sha256 } from "./sha256.js";

/** The version of the protocol. */
export const PROTOCOL = 1;
/** The maximum length of a sent string, in bytes. */
const MAX_TEXT = 4096;

/** Decodes a message from an untrusted sender. Returns `{}` if the text is not a JSON object. */
export function decodeOrEmpty(text) {
  try {
    const message = JSON.parse(text);
    return message !== null && typeof message === "object" ? message : {};
  } catch {
    return {};
  }
}

export function register({ name, token, version, system, pending }) {
  const about = { role: "agent", kind: "browser", system: truncate(system) };
  const message = { type: "register", protocol: PROTOCOL, name, token, version: truncate(version), about };
  return pending.length > 0 ? { ...message, pending } : message;
}

export function heartbeat() {
  return { type: "heartbeat" };
}

/** Proves that late results come from the agent that joined the run with `token`. */
export function proof(token) {
  return hex(sha256(new TextEncoder().encode(`late ${token}`)));
}

export function lateResults(run, proof, { sequence, batch }) {
  return { type: "late-results", run, proof, sequence, batch };
}

/** `stopRequestedAt` is the time of the controller's `stop`, in ns of the run's time, or `null`. */
export function lateResultsEnd(run, proof, error, health, stopRequestedAt) {
  const end = { ...(error ? { error: truncate(error) } : {}), ...(health ? { health } : {}) };
  const stop = Number.isSafeInteger(stopRequestedAt) ? { stop_requested_at: stopRequestedAt } : {};
  return { type: "late-results-end", run, proof, ...end, ...stop };
}

export function hello({ name, token, version, reconnect }) {
  const message = { type: "hello", protocol: PROTOCOL, role: "agent", name, token, version: truncate(version) };
  return reconnect ? { ...message, reconnect } : message;
}

export function pong(id, received, sent) {
  return { type: "pong", id, received, sent };
}

/** `unreachable` is the reason why the server cannot be used, or `null`. */
export function ready(unreachable, notes) {
  const reach = unreachable ? { tcp: truncate(unreachable) } : {};
  return { type: "ready", reach, notes: notes.map(truncate) };
}

export function rows(sequence, batch) {
  return { type: "rows", sequence, batch };
}

export function progress(at, pending) {
  return { type: "progress", at, pending };
}

export function health(health) {
  return { type: "health", health };
}

export function done(error) {
  return error ? { type: "done", error: truncate(error) } : { type: "done" };
}

export function bye(reason) {
  return reason ? { type: "bye", reason: truncate(reason) } : { type: "bye" };
}

/** `text`, truncated to `MAX_TEXT` bytes at the end of a character. */
export function truncate(text) {
  const encoder = new TextEncoder();
  let result = String(text).slice(0, MAX_TEXT);
  while (encoder.encode(result).length > MAX_TEXT) {
    result = result.slice(0, -64);
  }
  // Half of a surrogate pair is not a character.
  return result.replace(/[\uD800-\uDBFF]$/, "");
}
