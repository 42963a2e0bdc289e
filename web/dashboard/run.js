// The summary of one run.

import { reportUrl, viewUrl } from "./address.js";
import { get, post } from "./api.js";
import { KINDS, badge, goalMet, length, number, rate, verdictWord, when } from "./display.js";
import { byId, el, prose } from "./dom.js";

export class OneRun {
  constructor(showError) {
    this.showError = showError;
  }

  async show(name) {
    this.name = name;
    const main = byId("run");
    main.replaceChildren(el("p", { class: "quiet" }, "Loading …"));
    await this.draw(() => get(`run?${new URLSearchParams({ name })}`));
  }

  hide() {
    this.name = null;
  }

  async draw(request) {
    const name = this.name;
    let run;
    try {
      run = await request();
      this.showError(null);
    } catch (error) {
      if (this.name === name) {
        byId("run").replaceChildren(this.back());
        this.showError(error);
      }
      return;
    }
    if (this.name !== name) return;
    const content = run.summary ? this.finished(run) : this.open(run);
    byId("run").replaceChildren(this.back(), ...content);
  }

  back() {
    return el("p", {}, el("a", { href: "#" }, "All runs"));
  }

  open(run) {
    const head = el("h1", {}, run.title ?? run.scenario ?? run.name);
    const facts = el("p", { class: "facts" }, [run.name, run.environment, run.path].filter(Boolean).join(" · "));
    const lines = [];
    if (run.state === "live") {
      lines.push(el("p", {}, "This run is in progress. ", el("a", { class: "tool strong", href: viewUrl({ live: run.name }) }, "Watch it")));
    } else if (run.state === "unfinished") {
      const finish = () => this.draw(() => post(`finish?${new URLSearchParams({ name: run.name })}`));
      lines.push(el("p", {}, "This run was interrupted. All rows that were written to disk can be recovered."));
      lines.push(el("p", {}, el("button", { type: "button", onclick: finish }, "Recover the results")));
    } else {
      lines.push(el("p", { class: "warning" }, prose(run.error ?? "This run cannot be read.")));
    }
    return [head, facts, ...lines];
  }

  finished(run) {
    const { summary } = run;
    const reasons = [...summary.reasons, ...summary.self_check.reasons];
    const reliable = summary.reasons.length === 0 && summary.self_check.ok;
    const facts = [
      length(summary.duration_s),
      `seed ${summary.seed}`,
      `${rate(summary.totals.throughput_mbps)} Mbit/s total`,
      run.repeats > 0 && `${run.repeats} runs pooled`,
      run.netburn && `netburn ${run.netburn}`,
      run.host?.name,
    ];
    const several = (run.repeats > 0 ? summary.repeats : []).map((one, index) =>
      el("li", {}, el("a", { href: viewUrl({ run: `${run.name}/${index + 1}` }) }, `Run ${index + 1}`), ` (seed ${one.seed}) `, badge({ verdict: one.verdict, provisional: one.provisional })),
    );
    return [
      el("h1", {}, summary.title ?? summary.scenario),
      summary.question && el("p", { class: "question" }, summary.question),
      el("p", { class: "verdict" }, badge({ verdict: summary.verdict, provisional: summary.provisional }), " ", run.started_ms !== null && when(run.started_ms)),
      el("p", {}, el("a", { class: "tool strong", href: reportUrl(run.name) }, "Open the report")),
      el("p", { class: "facts" }, prose(run.environment_note)),
      el("p", { class: "facts" }, [run.path, ...facts].filter(Boolean).join(" · ")),
      run.damage.length > 0 && el("ul", { class: "warning" }, run.damage.map((line) => el("li", {}, prose(line)))),
      reasons.length > 0 && el("ul", { class: reliable ? "facts" : "warning" }, reasons.map((reason) => el("li", { class: reason.code }, prose(reason.text)))),
      el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Results of the stations" }, this.table(summary.stations)),
      several.length > 0 && el("h2", {}, "Each run"),
      several.length > 0 && el("ul", {}, several),
    ].filter(Boolean);
  }

  table(stations) {
    const rows = stations.flatMap((station) => {
      const airtime = station.airtime_share !== null && el("span", { class: "quiet" }, `${(station.airtime_share * 100).toFixed(1)} % of the airtime`);
      const reasons = station.reasons.map((reason) => reason.text).join("; ");
      const own = el(
        "tr",
        { class: "station" },
        el("th", { scope: "row" }, station.name, airtime),
        el("td", {}),
        el("td", {}, badge(station)),
        cell("Mbit/s", rate(station.throughput_mbps)),
        el("td", { colspan: 4, class: "quiet" }, prose(reasons)),
      );
      return [own, ...station.workloads.map((one) => this.workload(one))];
    });
    const head = ["Station", "Workload", "Verdict", "Mbit/s", "Median", "p95", "Operations", "Goals met"];
    const columns = head.map((word, index) => el("th", { scope: "col", class: index > 2 && index < 7 && "number" }, word));
    return el("table", { class: "results" }, el("thead", {}, el("tr", {}, columns)), el("tbody", {}, rows));
  }

  workload(one) {
    return el(
      "tr",
      {},
      el("td", {}),
      el("td", {}, one.name, el("span", { class: "quiet" }, KINDS[one.kind] ?? one.kind)),
      el("td", {}, one.goals.length > 0 && verdictWord(one.verdict)),
      cell("Mbit/s", rate(one.throughput_mbps)),
      cell("Median", number(one.latency_ms.p50, "ms")),
      cell("p95", number(one.latency_ms.p95, "ms")),
      cell("Operations", one.operations.toLocaleString()),
      el("td", { class: "goals" }, el("ul", { class: "goals" }, one.goals.map((goal) => el("li", { class: goal.verdict === "fail" && "bad" }, goalMet(goal))))),
    );
  }
}

function cell(word, value) {
  return el("td", { class: "number", "data-word": word }, value);
}
