// The state of a station as plain data and sentences for display.

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
    workloads: cards(session, true),
    disconnected: session.disconnectedSince !== null,
  };
}

function ended(session) {
  const done = session.outcome === "done" || session.outcome === "late";
  const list = done ? cards(session, false) : [];
  const reason = session.reason ?? "";
  const stored = "Results are stored on this device and will be sent when the controller is available.";
  return {
    state: list.length > 0 ? "result" : "ended",
    title: session.assignment?.title ?? "",
    line: session.outcome === "late" ? `The run ended early: ${reason}. ${stored}` : reason,
    workloads: list,
    verdict: worst(list.map(({ verdict }) => verdict)),
  };
}

/** The values of the workloads, during the run or at its end. */
function cards(session, live) {
  return session.zero !== null ? (session.core.handle(session.now(), { type: "view", live }).cards ?? []) : [];
}

const ORDER = ["none", "report", "pass", "marginal", "inconclusive", "fail"];

/** The worst of `verdicts`. */
function worst(verdicts) {
  return ORDER[Math.max(0, ...verdicts.map((verdict) => ORDER.indexOf(verdict)))];
}

function clock(nanos) {
  const left = Math.max(0, Math.ceil(nanos / 1e9));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}
