// The state of a station as plain data and sentences for display.

import { obstacle } from "./limitations.js";
import { isDatagram } from "./plan.js";
import { worst } from "./result.js";

const LABELS = {
  pages: "Web pages",
  stream: "Video",
  calls: "Call",
  download: "Download",
  upload: "Upload",
  probe: "Probe",
  voice: "Voice",
  datagrams: "Datagrams",
  game: "Game",
  "cloud-gaming": "Cloud gaming",
  "video-call": "Video call",
  responsiveness: "Responsiveness",
  dash: "Adaptive streaming",
};

/** No-break space between a number and its unit. */
const SPACE = "\u00a0";

/** `{state, title, line, fraction, workloads: [{label, name, value, unit, line, verdict}], verdict, …}`. */
export function viewModel(station) {
  const { fleet, session, last } = station;
  const reconnecting = fleet.state === "reconnecting";
  const shared = { name: station.name, fleet: fleet.fleet, pending: station.late.size, reconnecting };
  if (session?.assignment && session.zero !== null) {
    return { ...shared, ...running(session) };
  }
  if (session) {
    const title = session.assignment?.title ?? "";
    return { ...shared, state: "preparing", title, line: "Waiting for the start of the run.", workloads: [] };
  }
  if (last) {
    return { ...shared, ...ended(last) };
  }
  const line = fleet.reason ?? station.notice;
  return { ...shared, state: fleet.state, line, invalidToken: fleet.invalidToken, workloads: [] };
}

function running(session) {
  const now = session.now();
  const { duration, title } = session.assignment;
  const over = session.stage !== "running";
  const line = over ? "Sending the results" : now < 0 ? "The load starts in a moment." : `${clock(duration - now)} left`;
  return {
    state: over ? "collecting" : now < 0 ? "idle" : "running",
    title,
    line: now > duration && !over ? "Finishing the last operations" : line,
    fraction: Math.min(1, Math.max(0, now / duration)),
    workloads: workloads(session, now),
    disconnected: session.disconnectedSince !== null,
  };
}

function ended(session) {
  const done = session.outcome === "done" || session.outcome === "late";
  const measured = done && session.results.length + skipped(session).length > 0;
  const list = measured ? workloads(session, Infinity) : [];
  const reason = session.reason ?? "";
  const stored = "Results are stored on this device and will be sent when the controller is available.";
  return {
    state: measured ? "result" : "ended",
    title: session.assignment?.title ?? "",
    line: session.outcome === "late" ? `The run ended early: ${reason}. ${stored}` : reason,
    workloads: list,
    verdict: worst(list.map(({ verdict }) => verdict)),
  };
}

function workloads(session, now) {
  return [...measuredWorkloads(session, now), ...skipped(session)];
}

/** The workloads that this browser cannot run, with the reason. */
function skipped(session) {
  const all = (session.assignment?.stations ?? []).flatMap(({ workloads }) => workloads);
  const reasonOf = (config) => obstacle(config, session.channel.error ?? null);
  return all.filter(({ config }) => reasonOf(config)).map(({ name, config }) => {
    const line = `Not measured: ${reasonOf(config)}`;
    return { label: LABELS[config.kind], name, verdict: "none", value: "–", unit: "", line };
  });
}

function measuredWorkloads(session, now) {
  const at = Math.min(now, session.assignment.duration);
  return session.results.map((result, index) => {
    const values = result.at(at);
    const { config, load } = result;
    const machine = session.driver?.machines[index] ?? null;
    const label = LABELS[config.kind];
    return { label, name: load.name, verdict: values.verdict, ...describe(config, values, machine, now) };
  });
}

/** The main value of a workload, and a line below it. */
function describe(config, values, machine, now) {
  const live = Number.isFinite(now);
  if (config.kind === "pages" || config.kind === "calls") {
    const shown = live ? values.last : values.median;
    const goal = values.goals.find(({ kind }) => kind === "latency");
    const within = goal
      ? `${goal.within} of ${values.samples} within ${millis(goal.limit)}`
      : `${values.samples} operations`;
    const slowest = values.slowest === null ? "" : `, slowest ${millis(values.slowest)}`;
    const statistic = shown === null ? "" : live ? "Latest; " : "Median; ";
    const line = values.samples > 0 ? statistic + within + slowest + problems(values) : "No data yet";
    return { ...split(shown, millis), line };
  }
  if (config.kind === "stream" || config.kind === "dash") {
    const buffered = live && machine?.workload.player ? machine.workload.player.buffered() : null;
    const { stalls } = values;
    const stalled = stalls > 0 ? `Stalled ${times(stalls)}, ${seconds(values.stalled)} total` : "Never stalled";
    const rate = values.goals.find(({ kind }) => kind === "rate");
    const part = config.dash ? "of the segments" : "of the time";
    const enough = rate && rate.samples > 0 ? `, fast enough ${share(rate.met)} ${part}` : "";
    const level = buffered === null ? "–" : (buffered / 1e9).toFixed(1);
    const { segments } = values;
    const mean = segments.length > 0 ? segments.reduce((a, b) => a + b, 0) / segments.length : 0;
    const shown = live ? { value: level, unit: "s buffered" } : mbps(config.dash ? mean : values.rate);
    return { ...shown, line: values.bytes > 0 ? stalled + enough : "No data yet" };
  }
  if (isDatagram(config)) {
    const { samples, timeouts } = values;
    const unit = config.video ? "frames" : "datagrams";
    const lost = `Median delay; this device counted ${share(timeouts / samples)} of ${samples} ${unit} as lost`;
    const ended = machine?.unconnected ? "; ended early: the data channel is closed" : "";
    return { ...split(values.median, tenths), line: (samples > 0 ? lost : "No data yet") + ended };
  }
  return { ...mbps(values.rate), line: `${size(values.bytes)} transferred${problems(values)}` };
}

function problems({ notStarted, failures }) {
  const list = [];
  if (notStarted > 0) {
    list.push(`${notStarted} not started`);
  }
  if (failures > 0) {
    list.push(`${failures} failed`);
  }
  return list.length > 0 ? `; ${list.join(", ")}` : "";
}

function split(value, write) {
  if (value === null) {
    return { value: "–", unit: "" };
  }
  const [number, unit] = write(value).split(SPACE);
  return { value: number, unit };
}

function mbps(rate) {
  const value = rate / 1e6;
  return { value: value >= 10 ? value.toFixed(0) : value.toFixed(1), unit: "Mbit/s" };
}

function millis(nanos) {
  return nanos < 1e10 ? `${Math.round(nanos / 1e6)}${SPACE}ms` : seconds(nanos);
}

function tenths(nanos) {
  return `${(nanos / 1e6).toFixed(1)}${SPACE}ms`;
}

function seconds(nanos) {
  return `${(nanos / 1e9).toFixed(1)}${SPACE}s`;
}

function size(bytes) {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)}${SPACE}GB` : `${Math.round(bytes / 1e6)}${SPACE}MB`;
}

function share(met) {
  const percent = met * 100;
  return `${percent > 99 && percent < 100 ? percent.toFixed(1) : Math.floor(percent)}${SPACE}%`;
}

function times(count) {
  return count === 1 ? "once" : `${count} times`;
}

function clock(nanos) {
  const left = Math.max(0, Math.ceil(nanos / 1e9));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}
