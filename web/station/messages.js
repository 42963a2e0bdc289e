// The messages of this page, exactly as docs/protocol.schema.json has them, and how messages are read.

import { hex, sha256 } from "./sha256.js";

/** The version of the protocol. */
export const PROTOCOL = 1;
/** The longest text that is sent, in bytes. */
const MAX_TEXT = 4096;

/**
 * A message as JavaScript can hold it. The plan's seed becomes a text: it may be larger than a number can tell apart. Names
 * of digits alone get a `=` in front (see `key`): JavaScript would put them before all others, and stations are numbered
 * in the plan's order.
 */
export function read(text) {
  // Quotes inside a JSON text are escaped: what stands between two of them before a colon is a key.
  return JSON.parse(text.replace(/"seed":\s*(\d+)/g, '"seed":"$1"').replace(/"(\d+)":/g, '"=$1":'));
}

/** The same of a text from anybody: what is no message is one that nobody knows. */
export function understood(text) {
  try {
    const message = read(text);
    return message !== null && typeof message === "object" ? message : {};
  } catch {
    return {};
  }
}

/** The key under which `read` leaves something of this name, and the name of that key. */
export function key(name) {
  return /^\d+$/.test(name) ? `=${name}` : name;
}

export function nameOf(key) {
  return key.replace(/^=/, "");
}

export function enrol({ name, token, version, system, waiting }) {
  const about = { role: "agent", kind: "browser", system: cut(system) };
  const message = { type: "enrol", protocol: PROTOCOL, name, token, version: cut(version), about };
  return waiting.length > 0 ? { ...message, waiting } : message;
}

export function alive() {
  return { type: "alive" };
}

/** What shows that late results are of who took part in a run with `token`. */
export function proof(token) {
  return hex(sha256(new TextEncoder().encode(`late ${token}`)));
}

export function late(run, proof, { sequence, batch }) {
  return { type: "late", run, proof, sequence, batch };
}

/** `told` is when it was told to end, in the run's time, or `null`. */
export function lateEnd(run, proof, error, health, told) {
  const end = { ...(error ? { error: cut(error) } : {}), ...(health ? { health } : {}) };
  return { type: "late-end", run, proof, ...end, ...(Number.isSafeInteger(told) ? { told } : {}) };
}

export function leave() {
  return { type: "bye" };
}

export function hello({ name, token, version, again }) {
  const message = { type: "hello", protocol: PROTOCOL, role: "agent", name, token, version: cut(version) };
  return again ? { ...message, again } : message;
}

export function pong(id, received, sent) {
  return { type: "pong", id, received, sent };
}

/** `unreachable` says why the server can't be measured against, or is `null`. */
export function ready(unreachable, notes) {
  const reach = unreachable ? { tcp: cut(unreachable) } : {};
  return { type: "ready", reach, notes: notes.map(cut) };
}

export function rows(sequence, batch) {
  return { type: "rows", sequence, batch };
}

export function progress(at, waiting) {
  return { type: "progress", at, waiting };
}

export function health(health) {
  return { type: "health", health };
}

export function done(error) {
  return error ? { type: "done", error: cut(error) } : { type: "done" };
}

export function bye(reason) {
  return reason ? { type: "bye", reason: cut(reason) } : { type: "bye" };
}

/** `text`, cut to what a message takes, at a character's end. */
export function cut(text) {
  const encoder = new TextEncoder();
  let kept = String(text).slice(0, MAX_TEXT);
  while (encoder.encode(kept).length > MAX_TEXT) {
    kept = kept.slice(0, -64);
  }
  // Half of a pair would not be a character.
  return kept.replace(/[\uD800-\uDBFF]$/, "");
}
