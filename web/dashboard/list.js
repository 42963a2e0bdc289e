// The list of runs, and the selection of runs to compare.

import { comparisonUrl, parameters, reportUrl, viewUrl } from "./address.js";
import { get, subscribe } from "./api.js";
import { badge, length, plural, rate, stateWord, verdictWord, when } from "./display.js";
import { byId, el, prose, replace } from "./dom.js";

/** The number of runs that the list shows first. */
const PAGE_SIZE = 100;
/** The maximum number of runs in one response. */
const MAX_COUNT = 500;
/** The maximum number of stations shown for a run. */
const MAX_STATIONS = 12;

export class List {
  constructor(showError) {
    this.showError = showError;
    this.count = PAGE_SIZE;
    this.selected = [];
    this.rows = new Map();
    this.pending = null;
    this.unsubscribe = null;
    for (const id of ["verdict", "environment", "state", "sort"]) byId(id).addEventListener("change", () => this.applyFilter());
    byId("q").addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.applyFilter(), 150);
    });
    byId("filter").addEventListener("submit", (event) => {
      event.preventDefault();
      this.applyFilter();
    });
    byId("more").addEventListener("click", () => {
      this.count += PAGE_SIZE * 2;
      this.load();
    });
    byId("clear").addEventListener("click", () => this.select([]));
    byId("swap").addEventListener("click", () => this.select([...this.selected].reverse()));
    document.addEventListener("visibilitychange", () => this.updateSubscription());
  }

  show() {
    this.shown = true;
    const params = parameters();
    for (const id of ["q", "verdict", "environment", "state"]) {
      const field = byId(id);
      const value = params.get(id) ?? "";
      if (field.tagName === "SELECT" && value && ![...field.options].some((option) => option.value === value)) field.append(el("option", { value }, value));
      field.value = value;
    }
    byId("sort").value = params.get("sort") ?? "-when";
    if (!byId("sort").value) byId("sort").value = "-when";
    this.load();
    this.updateSubscription();
    this.showMeasurement();
  }

  /** Shows the link to the measurement on servers that can start one. */
  async showMeasurement() {
    try {
      byId("measure-choice").hidden = !(await get("measure")).available;
    } catch {
      // The list shows the error.
    }
  }

  hide() {
    this.shown = false;
    this.updateSubscription();
  }

  /** Subscribes only while the list is visible: a browser has few connections to a server, shared by all tabs. */
  updateSubscription() {
    const subscribed = this.shown && !document.hidden;
    if (subscribed && !this.unsubscribe) {
      this.unsubscribe = subscribe("live", "changes", () => this.load(), () => {});
    } else if (!subscribed && this.unsubscribe) {
      this.unsubscribe();
      this.unsubscribe = null;
    }
  }

  applyFilter() {
    this.count = PAGE_SIZE;
    const value = (id) => byId(id).value;
    const sort = value("sort") === "-when" ? "" : value("sort");
    history.replaceState(null, "", viewUrl({ q: value("q"), verdict: value("verdict"), environment: value("environment"), state: value("state"), sort }));
    this.load();
  }

  async load() {
    this.pending?.abort();
    const pending = new AbortController();
    this.pending = pending;
    const params = new URLSearchParams({ sort: byId("sort").value, count: Math.min(this.count, MAX_COUNT) });
    for (const id of ["q", "verdict", "environment", "state"]) if (byId(id).value) params.set(id, byId(id).value);
    try {
      const found = await get(`runs?${params}`, pending.signal);
      // More runs than in one response.
      while (found.runs.length < Math.min(this.count, found.matching)) {
        params.set("from", found.runs.length);
        const more = await get(`runs?${params}`, pending.signal);
        if (!more.runs.length) break;
        found.runs.push(...more.runs);
      }
      this.showError(null);
      this.draw(found);
    } catch (error) {
      if (error.name !== "AbortError") this.showError(error);
    }
  }

  draw(found) {
    this.options("verdict", found.verdicts, verdictWord);
    this.options("environment", found.environments, (environment) => environment);
    this.options("state", found.states, stateWord);
    const shown = found.runs.length;
    const ofTotal = found.matching < found.total ? ` of ${found.total.toLocaleString()}` : "";
    const count =
      found.total === 0
        ? "No runs yet. `netburn run` creates one."
        : found.matching === 0
          ? "No matching runs."
          : shown < found.matching
            ? `${shown.toLocaleString()} of ${plural(found.matching, "run", "runs")} shown${ofTotal && `, ${found.total.toLocaleString()} total`}`
            : `${plural(found.matching, "run", "runs")}${ofTotal}`;
    byId("count").replaceChildren(...prose(count));
    byId("more").hidden = shown >= found.matching;
    byId("runs").hidden = shown === 0;
    const rows = new Map();
    const drawn = found.runs.map((run) => {
      const content = JSON.stringify(run);
      const old = this.rows.get(run.name);
      const row = old?.content === content ? old : { content, node: this.row(run) };
      rows.set(run.name, row);
      return row.node;
    });
    this.rows = rows;
    replace(byId("rows"), drawn);
    replace(byId("now"), found.runs.filter((run) => run.state === "live").map((run) => this.card(run)));
    this.showSelection();
  }

  options(id, counts, word) {
    const select = byId(id);
    const chosen = select.value;
    const names = Object.keys(counts);
    if (chosen && !names.includes(chosen)) names.push(chosen);
    select.replaceChildren(el("option", { value: "" }, "any"), ...names.map((name) => el("option", { value: name }, `${word(name)} (${(counts[name] ?? 0).toLocaleString()})`)));
    select.value = chosen;
  }

  card(run) {
    return el("li", { class: "card live" }, el("a", { href: viewUrl({ live: run.name }) }, run.title ?? run.scenario ?? run.name), " is running", run.environment && ` on ${run.environment}`);
  }

  row(run) {
    const finished = run.state === "finished";
    const checkbox = el("input", {
      type: "checkbox",
      "aria-label": `Compare ${run.name}`,
      onchange: (event) => this.select(event.target.checked ? [...this.selected, run.name].slice(-2) : this.selected.filter((name) => name !== run.name)),
    });
    const name = run.title ?? run.scenario ?? run.name;
    const link = run.state === "live" ? viewUrl({ live: run.name }) : viewUrl({ run: run.name });
    const facts = [run.name, run.environment, run.repeats > 0 && `${run.repeats} runs pooled`, !run.reliable && "unreliable"].filter(Boolean).join(" · ");
    const stations = run.stations.slice(0, MAX_STATIONS).map(([station, verdict]) => el("li", { class: `dot ${verdict}`, title: `${station}: ${verdictWord(verdict)}` }, station, el("span", { class: "visually-hidden" }, `: ${verdictWord(verdict)}`)));
    const rest = run.stations.length - MAX_STATIONS;
    return el(
      "tr",
      { "data-name": run.name },
      el("td", { class: "select" }, finished && checkbox),
      el("th", { scope: "row" }, el("a", { href: link }, name), el("span", { class: "quiet" }, facts), run.error && el("span", { class: "bad" }, prose(run.error))),
      el("td", {}, badge(run), finished && el("a", { class: "quiet", href: reportUrl(run.name) }, "Report")),
      el("td", {}, el("ul", { class: "dots" }, stations, rest > 0 && el("li", {}, `and ${rest} more`))),
      el("td", {}, when(run.at_ms)),
      el("td", { class: "number", "data-word": "long" }, length(run.duration_s)),
      el("td", { class: "number", "data-word": run.throughput_mbps === null ? null : "Mbit/s" }, rate(run.throughput_mbps)),
    );
  }

  select(names) {
    this.selected = names;
    this.showSelection();
  }

  /** Shows the selection in the list and below it. */
  showSelection() {
    for (const row of byId("rows").children) {
      const box = row.querySelector("input");
      if (box) box.checked = this.selected.includes(row.dataset.name);
    }
    const [baseline, candidate] = this.selected;
    byId("selection").hidden = !baseline;
    byId("selected").replaceChildren(...this.selected.map((name, place) => el("li", {}, el("span", { class: "quiet" }, place === 0 ? "baseline " : "compare "), el("b", {}, name))), ...(candidate || !baseline ? [] : [el("li", { class: "quiet" }, "select a run to compare with it")]));
    byId("swap").hidden = !candidate;
    byId("compare").hidden = !candidate;
    if (candidate) byId("compare").setAttribute("href", comparisonUrl(candidate, baseline));
  }
}
