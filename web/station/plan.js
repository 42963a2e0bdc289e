// What a station is to do, out of the plan that an assignment carries.

import { key, nameOf } from "./messages.js";
import { duration, isRate, rate, size } from "./quantity.js";

/** The workload number of idle latency. */
export const BASELINE = 65535;
/** A rate goal's window and step. */
const WINDOW = 2e9;
const STEP = 1e8;

/**
 * Reads an assignment: `{title, duration, baseline, drain, warmup, seed, tls, stations: [{number, name, start, end, settle, workloads:
 * [{number, name, config}]}]}`. Times in ns since the run began.
 */
export function part(assign) {
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
    const workloads = list(station.workload).map((use, index) => {
      const section = plan.workload?.[key(use)];
      if (section === undefined) {
        throw new Error(`the plan has no workload \`${use}\``);
      }
      return { number: index, name: use, config: config(section) };
    });
    return { number, name: nameOf(name), start, end, settle: end + drain, workloads };
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

/** One workload's settings, in ns, bytes and bit/s. */
export function config(section) {
  const goals = list(section.goal).map((text) => {
    if (text === "no stall") {
      return { kind: "no-stall" };
    }
    return isRate(text)
      ? { kind: "rate", atLeast: rate(text), window: WINDOW, step: STEP }
      : { kind: "latency", limit: duration(text) };
  });
  const { player } = section;
  return checked({
    kind: section.kind,
    objects: section.objects ?? 1,
    objectSize: size(section.object_size),
    interval: section.interval === undefined ? null : duration(section.interval),
    jitter: section.jitter === undefined ? 0 : duration(section.jitter),
    connections: section.connections ?? "keep",
    outstanding: section.outstanding ?? 1,
    priority: section.priority ?? "best-effort",
    cc: section.cc ?? null,
    player: player ? { start: duration(player.start), rate: rate(player.rate), maxBuffer: duration(player.max_buffer) } : null,
    goals,
    timeout: duration(section.timeout ?? "30 s"),
  });
}

const KINDS = ["pages", "stream", "calls", "download", "upload", "probe"];

/** Nothing is done but the known uses, within the bounds that scenarios have. */
function checked(config) {
  const within = (name, least, most) => {
    const value = config[name];
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      throw new Error(`\`${name}\` is ${value}; ${least} to ${most}`);
    }
  };
  if (!KINDS.includes(config.kind)) {
    throw new Error(`\`${config.kind}\` is no use that this page knows`);
  }
  within("objects", 1, 1000);
  within("objectSize", 1, 2 ** 34);
  within("outstanding", 1, 1000);
  within("timeout", 1e7, 3600e9);
  within("jitter", 0, 86400e9);
  if (config.cc !== null && !/^[a-z0-9_-]{1,15}$/.test(config.cc)) {
    throw new Error(`\`${config.cc}\` is no name of a congestion control`);
  }
  if (config.objects * config.outstanding > 10000) {
    throw new Error("more than 10000 requests at once");
  }
  if (config.interval === null && !["download", "upload"].includes(config.kind)) {
    throw new Error(`\`interval\` is needed for ${config.kind}`);
  }
  return config;
}

/** How idle latency is measured without datagrams: a byte every 50 ms over kept connections. */
export function idle() {
  return {
    kind: "calls",
    objects: 1,
    objectSize: 1,
    interval: 5e7,
    jitter: 0,
    connections: "keep",
    outstanding: 8,
    priority: "best-effort",
    cc: null,
    player: null,
    goals: [],
    timeout: 3e9,
  };
}

/** Tells apart the workloads of one run, whichever station they are of: what their chance comes from. */
export function index(station, workload) {
  return station * 65536 + workload;
}

function list(value) {
  return value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
}
