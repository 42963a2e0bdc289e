// A run under way.

import { report, to } from "./address.js";
import { ask, listen } from "./ask.js";
import { course } from "./course.js";
import { byId, el } from "./dom.js";
import { KINDS, badge, length, number, rate } from "./figures.js";

export class LiveRun {
  constructor(trouble) {
    this.trouble = trouble;
    this.stop = null;
  }

  show(name) {
    this.name = name;
    // What a reader may hold on to stays; only what is in it changes.
    this.parts = {
      title: el("h1", {}, name),
      question: el("p", { class: "question" }),
      facts: el("p", { class: "facts" }),
      stand: el("p", { id: "stand" }, "Waiting for the first rows …"),
      bar: el("progress", { max: 1, value: 0, "aria-label": "How far it is" }),
      stations: el("ul", { class: "cards stations" }),
      happened: el("h2", { hidden: true }, "What happened"),
      events: el("ul", { class: "events" }),
    };
    byId("live").replaceChildren(el("p", {}, el("a", { href: "#" }, "All runs")), ...Object.values(this.parts));
    this.watch();
    this.seen = () => this.watch();
    document.addEventListener("visibilitychange", this.seen);
  }

  hide() {
    document.removeEventListener("visibilitychange", this.seen);
    this.name = null;
    this.watch();
  }

  watch() {
    const wanted = this.name && !this.over && !document.hidden;
    if (wanted && !this.stop) {
      const what = `live?${new URLSearchParams({ name: this.name })}`;
      this.stop = listen(what, "run", (told) => this.hear(told), () => this.trouble(new Error("the run can't be followed at the moment; trying again")));
    } else if (!wanted && this.stop) {
      this.stop();
      this.stop = null;
    }
    if (!this.name) this.over = false;
  }

  hear(told) {
    if (!this.name) return;
    this.trouble(null);
    if (!["live", "behind"].includes(told.stand)) {
      this.over = true;
      this.watch();
    }
    const run = told.run;
    if (run) this.draw(told, run);
    if (this.over) this.end(told.stand);
  }

  draw(told, run) {
    const { title, question, facts, stand, bar, stations, happened, events } = this.parts;
    const at = Math.max(run.at_s ?? 0, 0);
    const part = told.part ? `run ${told.part} of ${told.of} · ` : "";
    const status = run.at_s === null ? run.phase : `${run.phase}, ${length(Math.round(at))} of ${length(run.duration_s)}`;
    title.textContent = run.title ?? run.scenario;
    question.textContent = run.question ?? "";
    facts.textContent = `${this.name} · ${run.environment} · ${part}seed ${run.seed} · ${run.rows.toLocaleString()} rows`;
    stand.replaceChildren(el("b", {}, `${rate(run.mbps)} Mbit/s`), ` in all · ${status}`);
    bar.value = run.duration_s > 0 ? Math.min(at / run.duration_s, 1) : 0;
    stations.replaceChildren(...run.stations.map((station) => this.station(station)));
    happened.hidden = run.events.length === 0;
    events.replaceChildren(...[...run.events].reverse().map((event) => this.event(event)));
  }

  event(event) {
    return el("li", {}, el("span", { class: "quiet" }, `${event.at_s.toFixed(1)} s `), el("b", {}, event.kind), event.station && ` ${event.station}`, event.text && `: ${event.text}`);
  }

  station(station) {
    const facts = [
      station.idle_ms !== null && `idle ${number(station.idle_ms, "ms")}`,
      station.air_share !== null && `${(station.air_share * 100).toFixed(0)} % of the air`,
      station.signal_dbm !== null && `${station.signal_dbm.toFixed(0)} dBm`,
      station.ssid,
    ].filter(Boolean);
    return el(
      "li",
      { class: "card" },
      el("h2", {}, station.name, station.lost && el("span", { class: "badge fail" }, "lost")),
      el("p", { class: "big" }, rate(station.mbps), el("small", {}, " Mbit/s")),
      el("p", { class: "facts" }, facts.join(" · ")),
      station.uses.map((use) => this.use(use)),
    );
  }

  use(use) {
    const over = use.limit_ms !== null && use.latency_ms !== null && use.latency_ms > use.limit_ms;
    const counts = [`${use.operations.toLocaleString()} done`, `${use.goal_misses.toLocaleString()} missed`, use.stalls > 0 && `${use.stalls} stalls`].filter(Boolean);
    const moving = use.course_mbps.length > 0;
    const waited = use.course_ms.some((value) => value !== null);
    return el(
      "section",
      {},
      el("h3", {}, use.name, el("span", { class: "quiet" }, ` ${KINDS[use.kind] ?? use.kind}`)),
      el("p", { class: "figures" }, `${rate(use.mbps)} Mbit/s`, use.latency_ms !== null && el("span", { class: over && "bad" }, ` · ${number(use.latency_ms, "ms")}`), use.limit_ms !== null && el("span", { class: "quiet" }, ` of ${number(use.limit_ms, "ms")}`)),
      el("p", { class: "quiet" }, counts.join(", ")),
      moving && course(use.course_mbps, { label: `Throughput of the last minute, at most ${rate(Math.max(...use.course_mbps))} Mbit/s` }),
      waited && course(use.course_ms, { limit: use.limit_ms, colour: "h1", label: "Longest latency in each second of the last minute" }),
      waited && el("p", { class: "quiet" }, "Mbit/s, and longest wait in each second"),
    );
  }

  async end(stand) {
    const name = this.name;
    const status = this.parts.stand;
    status.setAttribute("role", "status");
    if (stand === "finished") {
      const link = el("a", { class: "tool strong", href: report(name) }, "Open the report");
      status.replaceChildren("It is finished. ", link, " ", el("a", { href: to({ run: name }) }, "In short"));
      try {
        const told = await ask(`run?${new URLSearchParams({ name })}`);
        if (this.name === name && told.summary) status.prepend(badge({ verdict: told.summary.verdict, provisional: told.summary.provisional }), " ");
      } catch (error) {
        this.trouble(error);
      }
    } else if (stand === "left") {
      status.replaceChildren("Whoever recorded it was killed. ", el("a", { href: to({ run: name }) }, "See what there is"));
    } else {
      status.replaceChildren("It is not there any more.");
    }
  }
}
