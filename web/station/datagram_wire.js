// The format of the datagrams, which are the messages of a data channel: version 1, as in `traffic::datagram`. Numbers are
// big-endian. Times are whole nanoseconds.

import { MAX_REPORTED } from "./video.js";

const MAGIC = 0x4e42524e;
const VERSION = 1;
const KIND = { hello: 1, welcome: 2, probe: 3, echo: 4, request: 5, report: 6, up: 7, down: 8, media: 9, feedback: 10 };
/** The length of a hello and of a welcome, and the minimum length of a probe, in bytes. */
const MIN_SIZE = 64;
/** The minimum length of a packet of a stream. */
const MIN_PACKET = 32;
/** The maximum length of a datagram. */
export const MAX_SIZE = 1400;
/** The length of a request without ages. */
const REQUEST = 72;
/** The maximum number of ages in a report. */
export const MAX_AGES = (MAX_SIZE - REQUEST) / 4;
const NEVER = 0xffffffff;
/** The minimum length of a packet of a frame, and the length of a feedback without ages. */
const MIN_MEDIA = 40;
const FEEDBACK = 32;
/** Transport numbers are below this number, so that they are exact. */
const MAX_TRANSPORT = BigInt(Number.MAX_SAFE_INTEGER - MAX_REPORTED);
/** The length of the parameters of a video call in a request. */
const VIDEO = 12;

function begin(kind, size) {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint8(4, VERSION);
  view.setUint8(5, kind);
  return { bytes, view };
}

function clamp(size, min) {
  return Math.min(Math.max(size, min), MAX_SIZE);
}

/** A request for a cookie. `token` is a random BigInt of 64 bits. */
export function hello(token) {
  const { bytes, view } = begin(KIND.hello, MIN_SIZE);
  view.setBigUint64(8, token);
  return bytes;
}

/** A probe of `size` bytes. `id` is a BigInt of 64 bits. */
export function probe(cookie, id, size, dscp) {
  const { bytes, view } = begin(KIND.probe, clamp(size, MIN_SIZE));
  bytes.set(cookie, 8);
  view.setBigUint64(24, id);
  view.setUint8(32, dscp);
  return bytes;
}

/**
 * A request for the server's packets with numbers below `until`, and for the arrivals of `ages` packets from `from` on. In a
 * video call, `video` is `{minRate, startRate, timeout}`, and the packets are frames.
 */
export function request(cookie, { call, anchor, stream, until, from, dscp, stamp, video = null }, ages) {
  const { bytes, view } = begin(KIND.request, REQUEST + Math.max(4 * Math.min(ages, MAX_AGES), video ? VIDEO : 0));
  if (video) {
    view.setUint8(55, 1);
    view.setUint32(REQUEST, video.minRate);
    view.setUint32(REQUEST + 4, video.startRate);
    view.setUint32(REQUEST + 8, video.timeout);
  }
  bytes.set(cookie, 8);
  view.setBigUint64(24, call);
  view.setBigInt64(32, BigInt(anchor));
  view.setUint32(40, stream.interval);
  view.setUint32(44, until);
  view.setUint32(48, from);
  view.setUint16(52, stream.size);
  view.setUint8(54, dscp);
  view.setBigInt64(56, BigInt(stamp));
  view.setUint32(64, stream.spacing);
  view.setUint16(68, stream.burst);
  return bytes;
}

/** Packet `number` of the station. */
export function up(call, number, size) {
  const { bytes, view } = begin(KIND.up, clamp(size, MIN_PACKET));
  view.setBigUint64(8, call);
  view.setUint32(16, number);
  return bytes;
}

/** A packet of a frame of the station: `{transport, frame, index, count, size}`. */
export function media(call, { transport, frame, index, count, size }) {
  const { bytes, view } = begin(KIND.media, clamp(size, MIN_MEDIA));
  view.setBigUint64(8, call);
  view.setUint32(16, frame);
  view.setBigUint64(28, BigInt(transport));
  view.setUint16(36, index);
  view.setUint16(38, count);
  return bytes;
}

/** A feedback about the packets of the server: `{stamp, from, ages}`. */
export function feedback(call, { stamp, from, ages }) {
  const { bytes, view } = begin(KIND.feedback, FEEDBACK + 4 * ages.length);
  view.setBigUint64(8, call);
  view.setBigUint64(16, BigInt(from));
  view.setBigInt64(24, BigInt(stamp));
  ages.forEach((age, at) => {
    view.setUint32(FEEDBACK + 4 * at, age === null ? NEVER : Math.min(Math.floor(age / 1000), NEVER - 1));
  });
  return bytes;
}

/** Decodes a datagram of the server. Returns `null` for others. */
export function read(bytes) {
  const { length } = bytes;
  if (length < MIN_PACKET || length > MAX_SIZE) {
    return null;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  if (view.getUint32(0) !== MAGIC || view.getUint8(4) !== VERSION || view.getUint16(6) !== 0) {
    return null;
  }
  const time = (at) => Number(view.getBigInt64(at));
  switch (view.getUint8(5)) {
    case KIND.welcome:
      return length === MIN_SIZE
        ? { kind: "welcome", token: view.getBigUint64(8), cookie: bytes.slice(16, 32), goodFor: view.getUint32(32) * 1e6 }
        : null;
    case KIND.echo:
      return length >= MIN_SIZE
        ? { kind: "echo", cookie: bytes.slice(8, 24), id: view.getBigUint64(24), received: time(32), sent: time(40) }
        : null;
    case KIND.report:
      return length >= REQUEST && (length - REQUEST) % 4 === 0 ? readReport(view, time) : null;
    case KIND.down:
      return { kind: "down", call: view.getBigUint64(8), number: view.getUint32(16), due: time(20) };
    case KIND.media:
      return length >= MIN_MEDIA && view.getBigUint64(28) < MAX_TRANSPORT
        ? {
            kind: "media", call: view.getBigUint64(8), due: time(20),
            packet: {
              transport: Number(view.getBigUint64(28)), frame: view.getUint32(16), index: view.getUint16(36),
              count: view.getUint16(38), size: length,
            },
          }
        : null;
    case KIND.feedback: {
      const valid = (length - FEEDBACK) % 4 === 0 && length <= FEEDBACK + 4 * MAX_REPORTED;
      return valid && view.getBigUint64(16) < MAX_TRANSPORT ? readFeedback(view, time) : null;
    }
    default:
      return null;
  }
}

function readFeedback(view, time) {
  const ages = [];
  for (let at = FEEDBACK; at < view.byteLength; at += 4) {
    const micros = view.getUint32(at);
    ages.push(micros === NEVER ? null : micros * 1000);
  }
  const feedback = { stamp: time(24), from: Number(view.getBigUint64(16)), ages };
  return { kind: "feedback", call: view.getBigUint64(8), feedback };
}

/**
 * `arrivals`: the numbers of packets that have arrived, each with the time from its arrival to `received`. The report is for
 * the `ages` numbers from `from` on.
 */
function readReport(view, time) {
  const arrivals = [];
  const from = view.getUint32(48);
  for (let at = REQUEST; at < view.byteLength; at += 4) {
    const micros = view.getUint32(at);
    if (micros !== NEVER) {
      arrivals.push({ number: from + (at - REQUEST) / 4, age: micros * 1000 });
    }
  }
  const ages = (view.byteLength - REQUEST) / 4;
  return {
    kind: "report", call: view.getBigUint64(24), stamp: time(56), received: time(8), sent: time(16), from, ages, arrivals,
  };
}
