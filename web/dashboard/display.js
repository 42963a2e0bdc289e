// Formatting of values and names for display.

import { write } from "./format.js";
import { el } from "./dom.js";

const VERDICTS = { pass: "pass", marginal: "marginal", fail: "fail", inconclusive: "inconclusive", none: "no goals" };
const STATES = { live: "running", unfinished: "unfinished", unreadable: "unreadable", finished: "finished" };
export const KINDS = { pages: "web pages", stream: "video", calls: "call", download: "download", upload: "upload", probe: "probe" };

export function verdictWord(verdict) {
  return VERDICTS[verdict] ?? verdict;
}

export function stateWord(state) {
  return STATES[state] ?? state;
}

/** The verdict of a run, or its state if it has none. */
export function badge(run) {
  if (run.verdict) {
    const note = run.provisional ? " (few samples)" : "";
    return el("span", { class: `badge ${run.verdict}` }, verdictWord(run.verdict) + note);
  }
  return el("span", { class: `badge ${run.state}` }, stateWord(run.state));
}

/** How much of a goal was met, with the count that its verdict is about. */
export function goalMet({ goal, met, verdict }) {
  if (met === null || met === undefined) return `${goal}: ${verdictWord(verdict)}`;
  // A share below 100 % is not shown as 100 %.
  const percent = met === 1 ? "100" : Math.min(met * 100, 99.9).toFixed(1);
  return `${goal}: ${percent} %`;
}

export const number = (value, unit) => (value === null || value === undefined ? "–" : write(unit, value));

export function rate(mbps) {
  if (mbps === null || mbps === undefined) return "–";
  if (mbps === 0) return "0";
  return mbps < 1 ? mbps.toFixed(2) : mbps < 100 ? mbps.toFixed(1) : mbps.toFixed(0);
}

export function length(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 120) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 7200) return `${Number((seconds / 60).toFixed(1))} min`;
  return `${Number((seconds / 3600).toFixed(1))} h`;
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function when(ms) {
  return el("time", { datetime: new Date(ms).toISOString() }, clock.format(new Date(ms)));
}

export function plural(count, one, many) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
