// Decoding of an assignment: the stations and workloads of this page, from the plan.

import { keyFor, nameFromKey } from "./messages.js";
import { duration, isRate, rate, size } from "./quantity.js";

/** The workload number of idle latency. */
export const BASELINE = 65535;
/** The window of a rate goal and the step between windows (ns). */
const WINDOW = 2e9;
const STEP = 1e8;

/**
 * Decodes an assignment into `{title, duration, baseline, drain, warmup, seed, tls, stations}`. A station is `{number, name,
 * start, end, settle, workloads}`, a workload is `{number, name, config}`. Times are in ns since the run began.
 */
export function readAssignment(assign) {
  const { plan } = assign;
  const length = duration(plan.duration);
  const drain = duration(plan.drain);
  const all = Object.entries(plan.station ?? {});
  const stations = assign.stations.map((number) => {
    if (all[number] === undefined) {
      throw new Error(`the plan has no station ${number}`);
    }
    const [name, station] = all[number];
    const start = duration(station.start ?? "0 s");
    const stop = station.stop === undefined ? length : Math.min(duration(station.stop), length);
    const end = Math.max(stop, start);
    const workloads = list(station.workload).map((workload, index) => {
      const section = plan.workload?.[keyFor(workload)];
      if (section === undefined) {
        throw new Error(`the plan has no workload \`${workload}\``);
      }
      return { number: index, name: workload, config: config(section) };
    });
    return { number, name: nameFromKey(name), start, end, settle: end + drain, workloads };
  });
  return {
    title: plan.title ?? plan.name ?? "a run",
    duration: length,
    baseline: duration(plan.baseline),
    drain,
    warmup: duration(plan.warmup ?? "0 s"),
    seed: String(plan.seed ?? 0),
    tls: plan.server?.tls === true,
    stations,
  };
}

/** The settings of one workload, in ns, bytes and bit/s. */
export function config(section) {
  const goals = list(section.goal).map((text) => {
    if (text === "no stall") {
      return { kind: "no-stall" };
    }
    if (text === "no freeze") {
      return { kind: "no-freeze" };
    }
    if (text === "frames on time") {
      return { kind: "frames" };
    }
    if (text === "no gap") {
      return { kind: "no-gap" };
    }
    if (/lost$/.test(text)) {
      return { kind: "loss" };
    }
    if (/^\d+\s*rpm$/.test(text)) {
      return { kind: "rpm", atLeast: Number.parseInt(text, 10) };
    }
    if (/^R\s*\d+$/.test(text)) {
      return { kind: "quality", atLeast: Number(text.slice(1)) };
    }
    return isRate(text)
      ? { kind: "rate", atLeast: rate(text), window: WINDOW, step: STEP }
      : { kind: "latency", limit: duration(text) };
  });
  const { player, dash } = section;
  return check({
    kind: section.kind,
    objects: section.objects ?? 1,
    // Kinds with streams have no objects.
    objectSize: section.object_size === undefined ? 1 : size(section.object_size),
    interval: section.interval === undefined ? null : duration(section.interval),
    jitter: section.jitter === undefined ? 0 : duration(section.jitter),
    connections: section.connections ?? "keep",
    outstanding: section.outstanding ?? 1,
    streams: section.streams ?? 1,
    activity: {
      start: duration(section.start ?? "0 s"),
      stop: section.stop === undefined ? null : duration(section.stop),
      repeat: section.repeat === undefined ? null : duration(section.repeat),
    },
    priority: section.priority ?? "best-effort",
    dscp: section.dscp ?? DSCP[section.priority] ?? 0,
    cc: section.cc ?? null,
    target: section.target ?? "server",
    packets: packets(section),
    video: section.kind === "video-call" ? video(section) : null,
    player: player ? { start: duration(player.start), rate: rate(player.rate), maxBuffer: duration(player.max_buffer) } : null,
    dash: section.kind === "dash" ? adaptive(dash ?? {}) : null,
    goals,
    timeout: duration(section.timeout ?? "30 s"),
  });
}

/** The ladder and the buffer of adaptive streaming, in bit/s and ns. A plan has all keys. */
function adaptive({ ladder, segment, start, max_buffer, reservoir, cushion }) {
  const dash = {
    ladder: list(ladder).map(rate),
    segment: duration(segment),
    start: duration(start),
    maxBuffer: duration(max_buffer),
    reservoir: duration(reservoir),
    cushion: duration(cushion),
  };
  const ascends = dash.ladder.every((rate, at) => rate >= 1000 && rate <= 1e9 && (at === 0 || rate > dash.ladder[at - 1]));
  const valid =
    ascends && dash.ladder.length >= 1 && dash.ladder.length <= MAX_BIT_RATES &&
    dash.segment >= MIN_SEGMENT && dash.segment <= MAX_SEGMENT && dash.start > 0 &&
    dash.maxBuffer >= dash.start + dash.segment && dash.maxBuffer <= MAX_BUFFER &&
    dash.reservoir <= MAX_BUFFER && dash.cushion > 0 && dash.cushion <= MAX_BUFFER;
  if (!valid) {
    throw new Error(`invalid adaptive streaming: ${JSON.stringify(dash)}`);
  }
  return dash;
}

/** The bounds of adaptive streaming: number of bit rates, length of a segment (ns), buffer (ns). */
const MAX_BIT_RATES = 32;
const MIN_SEGMENT = 5e8;
const MAX_SEGMENT = 30e9;
const MAX_BUFFER = 600e9;

/** The minimum length of a window in which a workload runs, and the minimum time between the begins of two (ns). */
const MIN_WINDOW = 1e8;
const MIN_REPEAT = 1e9;

/** The DSCP of each priority (RFC 2474). */
const DSCP = { background: 8, "best-effort": 0, video: 40, voice: 48 };

/** The streams of packets of a kind whose datagrams are not answered: `{up, down}`, `null` without a stream. */
function packets({ kind, interval, object_size, up, down }) {
  if (kind === "voice") {
    const stream = { interval: duration(interval), burst: 1, spacing: 0, size: size(object_size) };
    return { up: checkStream(stream), down: checkStream(stream) };
  }
  // A frame of a video call is one operation.
  const asFrames = (stream) => (kind === "video-call" ? { ...stream, burst: 1, spacing: 0, size: stream.burst * stream.size } : stream);
  return { up: up ? asFrames(packetsOf(up)) : null, down: down ? asFrames(packetsOf(down)) : null };
}

/** The stream of packets of a section `up` or `down`. */
function packetsOf(section) {
  return checkStream({
    interval: duration(section.interval),
    burst: section.burst ?? 1,
    spacing: duration(section.spacing ?? "0 s"),
    size: size(section.size),
  });
}

/** Both streams of packets of a video call at their maximum rates, and the range of the rate in bit/s. */
function video({ up, down, adaptation }) {
  const settings = {
    up: packetsOf(up),
    down: packetsOf(down),
    adaptation: { minRate: rate(adaptation.min_rate), startRate: Math.min(rate(adaptation.start_rate), MAX_RATE) },
  };
  const { minRate, startRate } = settings.adaptation;
  if (minRate < 1 || startRate < minRate) {
    throw new Error(`invalid range of the rate of a video call: ${JSON.stringify(settings.adaptation)}`);
  }
  return settings;
}

/** The maximum rate in a request, which has 32 bits (bit/s). */
const MAX_RATE = 2 ** 32 - 1;

/** The minimum mean time between the packets of a stream, and the maximum time between its bursts (ns). */
const MIN_PACKET_PERIOD = 1e5;
const MAX_BURST_INTERVAL = 1e9;

function checkStream(stream) {
  const { interval, burst, spacing, size: length } = stream;
  const valid =
    Number.isSafeInteger(burst) && burst >= 1 && burst <= 1000 && length >= 32 && length <= 1400 &&
    interval <= MAX_BURST_INTERVAL && interval >= MIN_PACKET_PERIOD * burst && spacing * (burst - 1) < interval;
  if (!valid) {
    throw new Error(`invalid stream of datagrams: ${JSON.stringify(stream)}`);
  }
  return stream;
}

const KINDS = ["pages", "stream", "calls", "download", "upload", "probe", "voice", "datagrams", "game", "cloud-gaming", "video-call", "responsiveness", "dash"];
const DATAGRAMS = ["probe", "voice", "datagrams", "game", "cloud-gaming", "video-call"];

/** Returns whether a workload with these settings sends datagrams, for which a browser needs a data channel. */
export function isDatagram({ kind }) {
  return DATAGRAMS.includes(kind);
}

/** Returns whether the datagrams of a workload are not answered: its latency is a one-way delay. */
export function isOneWay(config) {
  return isDatagram(config) && config.kind !== "probe";
}

/** The strictest goal for the latency of an operation (ns), or `null`. The goals of games are round trips. */
export function latencyLimit({ kind, goals }) {
  const limits = goals.filter((goal) => goal.kind === "latency").map((goal) => goal.limit);
  return kind === "game" || kind === "cloud-gaming" || limits.length === 0 ? null : Math.min(...limits);
}

/** Returns whether a workload with these settings is a bulk transfer: large objects without an interval. */
export function isBulk({ kind }) {
  return kind === "download" || kind === "upload";
}

/** The maximum number of operations in progress, at least 1. */
export function maxInFlight(config) {
  return Math.max(isBulk(config) ? config.streams : config.outstanding, 1);
}

/** Checks that the traffic pattern is known and the values are within the bounds of scenarios. */
function check(config) {
  const within = (name, min, max) => {
    const value = config[name];
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw new Error(`\`${name}\` is out of range: found ${value}, expected ${min} to ${max}`);
    }
  };
  if (!KINDS.includes(config.kind)) {
    throw new Error(`unknown traffic pattern \`${config.kind}\``);
  }
  within("objects", 1, 1000);
  within("objectSize", 1, 2 ** 34);
  within("outstanding", 1, 1000);
  within("streams", 1, 1000);
  within("dscp", 0, 63);
  within("timeout", 1e7, 3600e9);
  within("jitter", 0, 86400e9);
  if (config.cc !== null && !/^[a-z0-9_-]{1,15}$/.test(config.cc)) {
    throw new Error(`invalid name of a congestion control: \`${config.cc}\``);
  }
  if (config.objects * maxInFlight(config) > 10000) {
    throw new Error("more than 10000 simultaneous requests");
  }
  const { start, stop, repeat } = config.activity;
  if (stop !== null && stop - start < MIN_WINDOW) {
    throw new Error(`\`stop\` is too early: found ${stop}, expected at least ${start + MIN_WINDOW}`);
  }
  if (repeat !== null && (stop === null || repeat < Math.max(stop - start, MIN_REPEAT))) {
    throw new Error(`invalid \`repeat\`: found ${repeat}`);
  }
  if (config.interval === null && !isBulk(config) && !isDatagram(config) && config.kind !== "dash") {
    throw new Error(`missing \`interval\` for ${config.kind}`);
  }
  return config;
}

/** The workload that measures idle latency without datagrams: one byte every 50 ms over persistent connections. */
export function idleWorkload() {
  return {
    kind: "calls",
    objects: 1,
    objectSize: 1,
    interval: 5e7,
    jitter: 0,
    connections: "keep",
    outstanding: 8,
    streams: 1,
    activity: { start: 0, stop: null, repeat: null },
    priority: "best-effort",
    dscp: 0,
    cc: null,
    target: "server",
    packets: { up: null, down: null },
    video: null,
    player: null,
    dash: null,
    goals: [],
    timeout: 3e9,
  };
}

/** A number that is unique for each workload of a run. It selects the workload's random streams. */
export function workloadIndex(station, workload) {
  return station * 65536 + workload;
}

function list(value) {
  return value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
}
