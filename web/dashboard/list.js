// The runs there are, and which of them are to be compared.

import { comparison, here, report, to } from "./address.js";
import { ask, listen } from "./ask.js";
import { byId, el, replace } from "./dom.js";
import { badge, length, plural, rate, stateWord, verdictWord, when } from "./figures.js";

const PIECE = 100;
const MOST_STATIONS = 12;

export class List {
  constructor(trouble) {
    this.trouble = trouble;
    this.count = PIECE;
    this.picks = [];
    this.rows = new Map();
    this.asked = null;
    this.stop = null;
    for (const id of ["verdict", "environment", "state", "sort"]) byId(id).addEventListener("change", () => this.narrow());
    byId("q").addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.narrow(), 150);
    });
    byId("filter").addEventListener("submit", (event) => {
      event.preventDefault();
      this.narrow();
    });
    byId("more").addEventListener("click", () => {
      this.count += PIECE * 2;
      this.load();
    });
    byId("clear").addEventListener("click", () => this.pick([]));
    byId("swap").addEventListener("click", () => this.pick([...this.picks].reverse()));
    document.addEventListener("visibilitychange", () => this.watch());
  }

  show() {
    this.shown = true;
    const params = here();
    for (const id of ["q", "verdict", "environment", "state"]) {
      const field = byId(id);
      const value = params.get(id) ?? "";
      if (field.tagName === "SELECT" && value && ![...field.options].some((option) => option.value === value)) field.append(el("option", { value }, value));
      field.value = value;
    }
    byId("sort").value = params.get("sort") ?? "-when";
    if (!byId("sort").value) byId("sort").value = "-when";
    this.load();
    this.watch();
  }

  hide() {
    this.shown = false;
    this.watch();
  }

  /** News come while somebody looks: browsers have few connections to a server, and other tabs want theirs. */
  watch() {
    const wanted = this.shown && !document.hidden;
    if (wanted && !this.stop) {
      this.stop = listen("live", "news", () => this.load(), () => {});
    } else if (!wanted && this.stop) {
      this.stop();
      this.stop = null;
    }
  }

  narrow() {
    this.count = PIECE;
    const value = (id) => byId(id).value;
    const sort = value("sort") === "-when" ? "" : value("sort");
    history.replaceState(null, "", to({ q: value("q"), verdict: value("verdict"), environment: value("environment"), state: value("state"), sort }));
    this.load();
  }

  async load() {
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    const params = new URLSearchParams({ sort: byId("sort").value, count: Math.min(this.count, 500) });
    for (const id of ["q", "verdict", "environment", "state"]) if (byId(id).value) params.set(id, byId(id).value);
    try {
      const found = await ask(`runs?${params}`, asked.signal);
      // Beyond one answer: piece by piece.
      while (found.runs.length < Math.min(this.count, found.matching)) {
        params.set("from", found.runs.length);
        const more = await ask(`runs?${params}`, asked.signal);
        if (!more.runs.length) break;
        found.runs.push(...more.runs);
      }
      this.trouble(null);
      this.draw(found);
    } catch (error) {
      if (error.name !== "AbortError") this.trouble(error);
    }
  }

  draw(found) {
    this.options("verdict", found.verdicts, verdictWord);
    this.options("environment", found.environments, (environment) => environment);
    this.options("state", found.states, stateWord);
    const shown = found.runs.length;
    const narrowed = found.matching < found.total ? ` of ${found.total.toLocaleString()}` : "";
    byId("count").textContent =
      found.total === 0
        ? "No runs yet: netburn run makes one."
        : found.matching === 0
          ? "No run fits."
          : shown < found.matching
            ? `${shown.toLocaleString()} of ${plural(found.matching, "run", "runs")} shown${narrowed && `, ${found.total.toLocaleString()} in all`}`
            : `${plural(found.matching, "run", "runs")}${narrowed}`;
    byId("more").hidden = shown >= found.matching;
    byId("runs").hidden = shown === 0;
    const rows = new Map();
    const drawn = found.runs.map((run) => {
      const said = JSON.stringify(run);
      const old = this.rows.get(run.name);
      const row = old?.said === said ? old : { said, node: this.row(run) };
      rows.set(run.name, row);
      return row.node;
    });
    this.rows = rows;
    replace(byId("rows"), drawn);
    replace(byId("now"), found.runs.filter((run) => run.state === "live").map((run) => this.card(run)));
    this.mark();
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
    return el("li", { class: "card live" }, el("a", { href: to({ live: run.name }) }, run.title ?? run.scenario ?? run.name), " is running", run.environment && ` on ${run.environment}`);
  }

  row(run) {
    const finished = run.state === "finished";
    const pick = el("input", {
      type: "checkbox",
      "aria-label": `Compare ${run.name}`,
      onchange: (event) => this.pick(event.target.checked ? [...this.picks, run.name].slice(-2) : this.picks.filter((name) => name !== run.name)),
    });
    const name = run.title ?? run.scenario ?? run.name;
    const link = run.state === "live" ? to({ live: run.name }) : to({ run: run.name });
    const facts = [run.name, run.environment, run.repeats > 0 && `${run.repeats} runs pooled`, !run.sound && "in doubt"].filter(Boolean).join(" · ");
    const stations = run.stations.slice(0, MOST_STATIONS).map(([station, verdict]) => el("li", { class: `dot ${verdict}`, title: `${station}: ${verdictWord(verdict)}` }, station, el("span", { class: "unseen" }, `: ${verdictWord(verdict)}`)));
    const rest = run.stations.length - MOST_STATIONS;
    return el(
      "tr",
      { "data-name": run.name },
      el("td", { class: "pick" }, finished && pick),
      el("th", { scope: "row" }, el("a", { href: link }, name), el("span", { class: "quiet" }, facts), run.error && el("span", { class: "bad" }, run.error)),
      el("td", {}, badge(run), finished && el("a", { class: "quiet", href: report(run.name) }, "Report")),
      el("td", {}, el("ul", { class: "dots" }, stations, rest > 0 && el("li", {}, `and ${rest} more`))),
      el("td", {}, when(run.at_ms)),
      el("td", { class: "number", "data-word": "long" }, length(run.duration_s)),
      el("td", { class: "number", "data-word": run.throughput_mbps === null ? null : "Mbit/s" }, rate(run.throughput_mbps)),
    );
  }

  pick(names) {
    this.picks = names;
    this.mark();
  }

  /** Shows what is picked, in the list and below it. */
  mark() {
    for (const row of byId("rows").children) {
      const box = row.querySelector("input");
      if (box) box.checked = this.picks.includes(row.dataset.name);
    }
    const [before, after] = this.picks;
    byId("picked").hidden = !before;
    byId("picks").replaceChildren(...this.picks.map((name, place) => el("li", {}, el("span", { class: "quiet" }, place === 0 ? "against " : "compare "), el("b", {}, name))), ...(after || !before ? [] : [el("li", { class: "quiet" }, "pick another to hold against it")]));
    byId("swap").hidden = !after;
    byId("compare").hidden = !after;
    if (after) byId("compare").setAttribute("href", comparison(after, before));
  }
}
