// What the page is to show of a station, as plain data and plain sentences.

const LABELS = { pages: "Web pages", stream: "Video", calls: "Call", download: "Download", upload: "Upload", probe: "Probe" };

/** Between a number and its unit: no line breaks there. */
const NARROW = "\u00a0";

/** `{state, title, line, fraction, uses: [{label, name, value, unit, line, verdict}], verdict, warning}`. */
export function picture(station) {
  const { standing, part, last } = station;
  const shared = { name: station.name, fleet: standing.fleet, waiting: station.late.size, away: standing.state === "away" };
  if (part?.plan && part.zero !== null) {
    return { ...shared, ...running(part) };
  }
  if (part) {
    return { ...shared, state: "preparing", title: part.plan?.title ?? "", line: "Getting ready", uses: [] };
  }
  if (last) {
    return { ...shared, ...ended(last) };
  }
  const line = standing.reason ?? station.told;
  return { ...shared, state: standing.state, line, uses: [] };
}

function running(part) {
  const now = part.now();
  const { duration, title } = part.plan;
  const over = part.stage !== "started";
  const line = over ? "Bringing the results home" : now < 0 ? "Listening to the idle network" : `${clock(duration - now)} left`;
  return {
    state: over ? "collecting" : now < 0 ? "idle" : "running",
    title,
    line: now > duration && !over ? "Finishing what is under way" : line,
    fraction: Math.min(1, Math.max(0, now / duration)),
    uses: uses(part, now),
    cut: part.away !== null,
  };
}

function ended(part) {
  const done = part.outcome === "done" || part.outcome === "late";
  const measured = done && part.results.length > 0;
  const uses_ = measured ? uses(part, Infinity) : [];
  const because = part.reason ?? "";
  return {
    state: measured ? "result" : "ended",
    title: part.plan?.title ?? "",
    line: part.outcome === "late" ? `It ended early: ${because}. The results wait on this device until the controller wants them.` : because,
    uses: uses_,
    verdict: uses_.map(({ verdict }) => verdict).reduce(worse, "none"),
  };
}

const ORDER = ["none", "pass", "marginal", "inconclusive", "fail"];

function worse(one, other) {
  return ORDER.indexOf(other) > ORDER.indexOf(one) ? other : one;
}

function uses(part, now) {
  const at = Math.min(now, part.plan.duration);
  return part.results.map((result, index) => {
    const seen = result.at(at);
    const { config, load } = result;
    const machine = part.driver?.machines[index] ?? null;
    return { label: LABELS[config.kind], name: load.name, verdict: seen.verdict, ...words(config, seen, machine, now) };
  });
}

/** The large figure of a use, and a sentence below it. */
function words(config, seen, machine, now) {
  const live = Number.isFinite(now);
  if (config.kind === "pages" || config.kind === "calls") {
    const shown = live ? seen.last : seen.median;
    const goal = seen.goals.find(({ kind }) => kind === "latency");
    const within = goal ? `${goal.within} of ${seen.samples} within ${millis(goal.limit)}` : `${seen.samples} so far`;
    const slowest = seen.slowest === null ? "" : `, slowest ${millis(seen.slowest)}`;
    return { ...figure(shown, millis), line: seen.samples > 0 ? within + slowest + bad(seen) : "Nothing yet" };
  }
  if (config.kind === "stream") {
    const buffered = live && machine?.workload.player ? machine.workload.player.buffered() : null;
    const stood = seen.stalls > 0 ? `Stood still ${times(seen.stalls)}, ${seconds(seen.stalled)} in all` : "Never stood still";
    const rate = seen.goals.find(({ kind }) => kind === "rate");
    const enough = rate && rate.samples > 0 ? `, fast enough ${share(rate.met)} of the time` : "";
    const held = buffered === null ? "–" : (buffered / 1e9).toFixed(1);
    const shown = live ? { value: held, unit: "s buffered" } : mbps(seen.rate);
    return { ...shown, line: seen.bytes > 0 ? stood + enough : "Nothing yet" };
  }
  return { ...mbps(seen.rate), line: `${size(seen.bytes)} moved${bad(seen)}` };
}

function bad({ notStarted, failures }) {
  const said = [];
  if (notStarted > 0) {
    said.push(`${notStarted} not started`);
  }
  if (failures > 0) {
    said.push(`${failures} failed`);
  }
  return said.length > 0 ? `; ${said.join(", ")}` : "";
}

function figure(value, write) {
  if (value === null) {
    return { value: "–", unit: "" };
  }
  const [number, unit] = write(value).split(NARROW);
  return { value: number, unit };
}

function mbps(rate) {
  const value = rate / 1e6;
  return { value: value >= 10 ? value.toFixed(0) : value.toFixed(1), unit: "Mbit/s" };
}

function millis(nanos) {
  return nanos < 1e10 ? `${Math.round(nanos / 1e6)}${NARROW}ms` : seconds(nanos);
}

function seconds(nanos) {
  return `${(nanos / 1e9).toFixed(1)}${NARROW}s`;
}

function size(bytes) {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)}${NARROW}GB` : `${Math.round(bytes / 1e6)}${NARROW}MB`;
}

function share(met) {
  const percent = met * 100;
  return `${percent > 99 && percent < 100 ? percent.toFixed(1) : Math.floor(percent)}${NARROW}%`;
}

function times(count) {
  return count === 1 ? "once" : `${count} times`;
}

function clock(nanos) {
  const left = Math.max(0, Math.ceil(nanos / 1e9));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}
