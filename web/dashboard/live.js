// A run in progress.

import { reportUrl, viewUrl } from "./address.js";
import { get, subscribe } from "./api.js";
import { KINDS, badge, length, number, rate } from "./display.js";
import { byId, el, plain } from "./dom.js";
import { sparkline } from "./sparkline.js";

export class LiveRun {
  constructor(showError) {
    this.showError = showError;
    this.unsubscribe = null;
  }

  show(name) {
    this.name = name;
    // These elements stay in place during updates; only their content changes.
    this.elements = {
      title: el("h1", {}, name),
      question: el("p", { class: "question" }),
      facts: el("p", { class: "facts" }),
      status: el("p", { id: "status" }, "Waiting for the first rows …"),
      bar: el("progress", { max: 1, value: 0, "aria-label": "Progress of the run" }),
      stations: el("ul", { class: "cards stations" }),
      eventsHeading: el("h2", { hidden: true }, "Events"),
      events: el("ul", { class: "events" }),
    };
    byId("live").replaceChildren(el("p", {}, el("a", { href: "#" }, "All runs")), ...Object.values(this.elements));
    this.updateSubscription();
    this.onVisibilityChange = () => this.updateSubscription();
    document.addEventListener("visibilitychange", this.onVisibilityChange);
  }

  hide() {
    document.removeEventListener("visibilitychange", this.onVisibilityChange);
    this.name = null;
    this.updateSubscription();
  }

  updateSubscription() {
    const subscribed = this.name && !this.over && !document.hidden;
    if (subscribed && !this.unsubscribe) {
      const path = `live?${new URLSearchParams({ name: this.name })}`;
      this.unsubscribe = subscribe(path, "run", (update) => this.handleUpdate(update), () => this.showError(new Error("connection lost; trying again")));
    } else if (!subscribed && this.unsubscribe) {
      this.unsubscribe();
      this.unsubscribe = null;
    }
    if (!this.name) this.over = false;
  }

  handleUpdate(update) {
    if (!this.name) return;
    this.showError(null);
    if (!["live", "catching-up"].includes(update.state)) {
      this.over = true;
      this.updateSubscription();
    }
    const { run } = update;
    if (run) this.draw(update, run);
    if (this.over) this.end(update.state);
  }

  draw(update, run) {
    const { title, question, facts, status, bar, stations, eventsHeading, events } = this.elements;
    const at = Math.max(run.at_s ?? 0, 0);
    const part = update.run_number ? `run ${update.run_number} of ${update.runs} · ` : "";
    const progress = run.at_s === null ? run.phase : `${run.phase}, ${length(Math.round(at))} of ${length(run.duration_s)}`;
    title.textContent = plain(run.title ?? run.scenario);
    question.textContent = plain(run.question ?? "");
    facts.textContent = plain(`${this.name} · ${run.environment} · ${part}seed ${run.seed} · ${run.rows.toLocaleString()} rows`);
    status.replaceChildren(el("b", {}, `${rate(run.mbps)} Mbit/s`), ` total · ${progress}`);
    bar.value = run.duration_s > 0 ? Math.min(at / run.duration_s, 1) : 0;
    stations.replaceChildren(...run.stations.map((station) => this.station(station)));
    eventsHeading.hidden = run.events.length === 0;
    events.replaceChildren(...[...run.events].reverse().map((event) => this.event(event)));
  }

  event(event) {
    return el("li", {}, el("span", { class: "quiet" }, `${event.at_s.toFixed(1)} s `), el("b", {}, event.kind), event.station && ` ${event.station}`, event.text && `: ${event.text}`);
  }

  station(station) {
    const facts = [
      station.idle_ms !== null && `idle ${number(station.idle_ms, "ms")}`,
      station.airtime_share !== null && `${(station.airtime_share * 100).toFixed(0)} % of the airtime`,
      station.signal_dbm !== null && `${station.signal_dbm.toFixed(0)} dBm`,
      station.ssid,
    ].filter(Boolean);
    return el(
      "li",
      { class: "card" },
      el("h2", {}, station.name, station.lost && el("span", { class: "badge fail" }, "lost")),
      el("p", { class: "big" }, rate(station.mbps), el("small", {}, " Mbit/s")),
      el("p", { class: "facts" }, facts.join(" · ")),
      station.workloads.map((workload) => this.workload(workload)),
    );
  }

  workload(workload) {
    const over = workload.limit_ms !== null && workload.latency_ms !== null && workload.latency_ms > workload.limit_ms;
    const counts = [`${workload.operations.toLocaleString()} done`, `${workload.goal_misses.toLocaleString()} goal misses`, workload.stalls > 0 && `${workload.stalls} stalls`].filter(Boolean);
    const hasRate = workload.history_mbps.length > 0;
    const hasLatency = workload.history_ms.some((value) => value !== null);
    return el(
      "section",
      {},
      el("h3", {}, workload.name, el("span", { class: "quiet" }, ` ${KINDS[workload.kind] ?? workload.kind}`)),
      el("p", { class: "values" }, `${rate(workload.mbps)} Mbit/s`, workload.latency_ms !== null && el("span", { class: over && "bad" }, ` · ${number(workload.latency_ms, "ms")}`), workload.limit_ms !== null && el("span", { class: "quiet" }, ` of ${number(workload.limit_ms, "ms")}`)),
      el("p", { class: "quiet" }, counts.join(", ")),
      hasRate && sparkline(workload.history_mbps, { label: `Throughput of the last minute, at most ${rate(Math.max(...workload.history_mbps))} Mbit/s` }),
      hasLatency && sparkline(workload.history_ms, { limit: workload.limit_ms, colour: "h1", label: "Longest latency in each second of the last minute" }),
      hasLatency && el("p", { class: "quiet" }, "Mbit/s, and longest latency in each second"),
    );
  }

  async end(state) {
    const name = this.name;
    const { status } = this.elements;
    status.setAttribute("role", "status");
    if (state === "finished") {
      const link = el("a", { class: "tool strong", href: reportUrl(name) }, "Open the report");
      status.replaceChildren("The run is finished. ", link, " ", el("a", { href: viewUrl({ run: name }) }, "Summary"));
      try {
        const content = await get(`run?${new URLSearchParams({ name })}`);
        if (this.name === name && content.summary) status.prepend(badge({ verdict: content.summary.verdict, provisional: content.summary.provisional }), " ");
      } catch (error) {
        this.showError(error);
      }
    } else if (state === "unfinished") {
      status.replaceChildren("This run was interrupted. ", el("a", { href: viewUrl({ run: name }) }, "Show details"));
    } else {
      status.replaceChildren("This run no longer exists.");
    }
  }
}
