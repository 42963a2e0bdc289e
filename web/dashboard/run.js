// One run in short.

import { report, to } from "./address.js";
import { ask, order } from "./ask.js";
import { byId, el } from "./dom.js";
import { KINDS, badge, length, number, rate, verdictWord, when } from "./figures.js";

export class OneRun {
  constructor(trouble) {
    this.trouble = trouble;
  }

  async show(name) {
    this.name = name;
    const main = byId("run");
    main.replaceChildren(el("p", { class: "quiet" }, "Loading …"));
    await this.draw(() => ask(`run?${new URLSearchParams({ name })}`));
  }

  hide() {
    this.name = null;
  }

  async draw(question) {
    const name = this.name;
    let told;
    try {
      told = await question();
      this.trouble(null);
    } catch (error) {
      if (this.name === name) {
        byId("run").replaceChildren(this.back());
        this.trouble(error);
      }
      return;
    }
    if (this.name !== name) return;
    const content = told.summary ? this.finished(told) : this.open(told);
    byId("run").replaceChildren(this.back(), ...content);
  }

  back() {
    return el("p", {}, el("a", { href: "#" }, "All runs"));
  }

  open(told) {
    const head = el("h1", {}, told.title ?? told.scenario ?? told.name);
    const facts = el("p", { class: "facts" }, [told.name, told.environment, told.path].filter(Boolean).join(" · "));
    const lines = [];
    if (told.state === "live") {
      lines.push(el("p", {}, "It is running. ", el("a", { class: "tool strong", href: to({ live: told.name }) }, "Watch it")));
    } else if (told.state === "unfinished") {
      const finish = () => this.draw(() => order(`finish?${new URLSearchParams({ name: told.name })}`));
      lines.push(el("p", {}, "Whoever recorded it was killed. Every row that reached the disk is still there."));
      lines.push(el("p", {}, el("button", { type: "button", onclick: finish }, "Bring back what was measured")));
    } else {
      lines.push(el("p", { class: "warning" }, told.error ?? "It can't be read."));
    }
    return [head, facts, ...lines];
  }

  finished(told) {
    const { summary } = told;
    const reasons = [...summary.reasons, ...summary.self_check.reasons];
    const facts = [
      length(summary.duration_s),
      `seed ${summary.seed}`,
      `${rate(summary.totals.throughput_mbps)} Mbit/s in all`,
      told.repeats > 0 && `${told.repeats} runs pooled`,
      told.netburn && `netburn ${told.netburn}`,
      told.host?.name,
    ];
    const several = (told.repeats > 0 ? summary.repeats : []).map((one, index) =>
      el("li", {}, el("a", { href: to({ run: `${told.name}/${index + 1}` }) }, `Run ${index + 1}`), ` (seed ${one.seed}) `, badge({ verdict: one.verdict, provisional: one.provisional })),
    );
    return [
      el("h1", {}, summary.title ?? summary.scenario),
      summary.question && el("p", { class: "question" }, summary.question),
      el("p", { class: "verdict" }, badge({ verdict: summary.verdict, provisional: summary.provisional }), " ", told.started_ms !== null && when(told.started_ms)),
      el("p", {}, el("a", { class: "tool strong", href: report(told.name) }, "Open the report")),
      el("p", { class: "facts" }, told.sentence),
      el("p", { class: "facts" }, [told.path, ...facts].filter(Boolean).join(" · ")),
      told.damage.length > 0 && el("ul", { class: "warning" }, told.damage.map((line) => el("li", {}, line))),
      reasons.length > 0 && el("ul", { class: "warning" }, reasons.map((reason) => el("li", {}, reason))),
      el("div", { class: "wide" }, this.table(summary.stations)),
      several.length > 0 && el("h2", {}, "Each run"),
      several.length > 0 && el("ul", {}, several),
    ].filter(Boolean);
  }

  table(stations) {
    const head = ["Station", "Use", "Verdict", "Mbit/s", "Median", "95 %", "Done", "Missed"];
    const rows = stations.flatMap((station) => {
      const own = el("tr", {}, el("th", { scope: "row" }, station.name), el("td", {}, station.airtime_share !== null && `${(station.airtime_share * 100).toFixed(1)} % of the air`), el("td", {}, badge(station)), el("td", { class: "number" }, rate(station.throughput_mbps)), el("td", { colspan: 4, class: "quiet" }, station.reasons.join("; ")));
      return [own, ...station.workloads.map((one) => this.use(one))];
    });
    return el("table", {}, el("thead", {}, el("tr", {}, head.map((word, index) => el("th", { scope: "col", class: index > 2 && "number" }, word)))), el("tbody", {}, rows));
  }

  use(one) {
    return el(
      "tr",
      {},
      el("td", {}),
      el("td", {}, one.name, el("span", { class: "quiet" }, KINDS[one.kind] ?? one.kind)),
      el("td", {}, one.goals.length > 0 && verdictWord(one.verdict)),
      el("td", { class: "number" }, rate(one.throughput_mbps)),
      el("td", { class: "number" }, number(one.latency_ms.p50, "ms")),
      el("td", { class: "number" }, number(one.latency_ms.p95, "ms")),
      el("td", { class: "number" }, one.operations.toLocaleString()),
      el("td", { class: "number" }, one.goal_misses.toLocaleString()),
    );
  }
}
