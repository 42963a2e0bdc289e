import { el, prose } from "./dom.js";

// Verdicts, causes and remedies in words for a home user first.

const WORDS = {
  voice: ["The call is clear", "The call sometimes breaks up", "The call breaks up"],
  calls: ["The call is clear", "The call sometimes stutters", "The call stutters"],
  "video-call": ["The picture and the sound are good", "The video call sometimes freezes", "The video call freezes"],
  pages: ["Pages load fast", "Some pages load slowly", "Pages load slowly"],
  stream: ["The film plays", "The film is short of reserve", "The film stops or loses quality"],
  dash: ["The film plays", "The film is short of reserve", "The film stops or loses quality"],
  game: ["The game reacts fast", "The game sometimes lags", "The game lags"],
  "cloud-gaming": ["The game reacts fast", "The game sometimes lags", "The game lags"],
};
const ORDER = ["pass", "marginal", "fail"];

function percent(share) {
  return share === null ? "–" : `${Math.round(share * 1000) / 10} %`;
}

function number(value, unit) {
  if (value === null || value === undefined) return null;
  return `${value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${unit}`;
}

/** One sentence on a workload: how it feels. */
export function feeling(workload) {
  const words = WORDS[workload.kind]?.[ORDER.indexOf(workload.verdict)];
  if (words) return `${words}.`;
  if (workload.verdict === "none") return `No goal: ${workload.name} has ${number(workload.throughput_mbps, "Mbit/s") ?? "no data"}.`;
  return `${workload.name}: ${workload.verdict}.`;
}

function values(workload) {
  const parts = workload.goals.map((goal) => `${goal.goal}: met ${percent(goal.met)}`);
  const latency = workload.latency_ms;
  const percentiles = [["median", latency?.p50], ["95 %", latency?.p95]].filter(([, value]) => typeof value === "number");
  if (percentiles.length > 0) parts.push(`latency ${percentiles.map(([name, value]) => `${number(value, "ms")} (${name})`).join(", ")}`);
  // Without a goal, the sentence has the throughput.
  if (workload.verdict !== "none" && workload.throughput_mbps > 0.05) parts.push(number(workload.throughput_mbps, "Mbit/s"));
  return parts.join(" · ");
}

/** The verdict of each device. */
export function verdicts(summary, hues, select) {
  return el("ul", { class: "devices" }, summary.stations.map((station) =>
    el("li", {},
      el("button", { type: "button", class: "plain", onclick: () => select(`station ${station.name}`) },
        el("span", { class: "dot", style: `background:var(--h${hues.get(station.name)})` }), el("b", {}, station.name)),
      " ", station.verdict === "none" ? null : el("span", { class: `badge ${station.verdict}` }, station.verdict),
      station.workloads.map((workload) => el("div", {}, feeling(workload), " ", el("span", { class: "quiet" }, values(workload))))),
  ));
}

/** One sentence on the whole home. */
export function headline(summary) {
  const bad = summary.stations.filter(({ verdict }) => verdict === "fail" || verdict === "marginal").map(({ name }) => name);
  if (bad.length === 0) return summary.verdict === "none" ? "No device has a goal." : "Every device gets what it needs.";
  const names = bad.length === 1 ? bad[0] : `${bad.slice(0, -1).join(", ")} and ${bad.at(-1)}`;
  return `${names} ${bad.length === 1 ? "does" : "do"} not get what ${bad.length === 1 ? "it needs" : "they need"}.`;
}

/** The likely causes. */
export function causes({ causes: found, unexplained }) {
  const each = found.filter(({ severity }) => severity !== "measurement").map((cause) =>
    el("li", {}, el("b", {}, cause.title), ". ", prose(cause.advice), el("details", {}, el("summary", {}, "Why"), el("p", {}, prose(cause.evidence)))));
  const open = unexplained.map(({ station, what }) => el("li", {}, `${station}: no known cause matches (${what.join("; ")}).`));
  return el("ul", { class: "causes" }, each, open);
}

const EFFORT = { setting: "a setting", program: "a limit in the program", place: "another place", firmware: "other firmware", software: "another version of the system", cable: "a cable", purchase: "a purchase" };

/** Names of the values that matter to a person, in the order in which they are shown. */
const METRICS = [
  [/\.goals\.\d+\.met$/, ({ goal }) => goal],
  [/\.(r|rating|mos)$/, () => "quality of the call"],
  [/\.latency_ms\.p95$/, () => "latency (95 %)"],
  [/\.latency_ms\.p50$/, () => "latency (median)"],
  [/\.throughput_mbps$/, () => "throughput"],
];
const MAX_METRICS = 4;
const UNITS = { mbps: "Mbit/s", points: "of 100" };

/** The values of a remedy that are better or worse by more than chance. */
function effects(whatIf) {
  const changed = whatIf.metrics.filter(({ station, judgement }) => station && (judgement === "better" || judgement === "worse"));
  const ranked = METRICS.flatMap(([name, words]) => changed.filter(({ metric }) => name.test(metric)).map((metric) => ({ ...metric, words: words(metric) })));
  return ranked.slice(0, MAX_METRICS);
}

/** A card for each simulated change: before, after, and a button that makes it. */
export function remedies(explained, apply) {
  if (explained.what_ifs.length === 0) {
    return el("p", {}, explained.not_simulated[0] ?? "There is no change to simulate.");
  }
  const before = explained.verdict;
  return el("ul", { class: "cards" }, explained.what_ifs.map((whatIf) => {
    const best = whatIf.label === explained.best;
    const metrics = effects(whatIf).map((metric) => el("li", {}, metricLine(metric)));
    return el("li", { class: best ? "card best" : "card" },
      best ? el("p", { class: "tag" }, "helps most") : null,
      el("p", {}, el("b", {}, whatIf.label)),
      el("p", {}, el("span", { class: `badge ${before}` }, before), " → ", el("span", { class: `badge ${whatIf.verdict}` }, whatIf.verdict), " ",
        el("span", { class: "quiet" }, EFFORT[whatIf.effort] ?? whatIf.effort)),
      metrics.length ? el("ul", { class: "metrics" }, metrics) : el("p", { class: "quiet" }, "No value of a device changes by more than chance."),
      el("button", { type: "button", onclick: () => apply(whatIf) }, "Make this change"));
  }));
}

function metricLine({ station, workload, words, baseline, value, unit, judgement }) {
  return `${workload ? `${station}, ${workload}` : station}: ${words} ${amount(baseline, unit)} → ${amount(value, unit)} (${judgement})`;
}

function amount(value, unit) {
  if (typeof value !== "number") return "never";
  return unit === "share" ? percent(value) : number(value, UNITS[unit] ?? unit);
}
