import { byId, el } from "./dom.js";
import { describing } from "./describe.js";
import { drawing, legend } from "./drawing.js";
import { Engine } from "./engine.js";
import { FIRST, USES, addAp, addDevice, applied, positionText, remove, set } from "./home.js";
import { internet, item, wallList } from "./panel.js";
import { causes, headline, remedies, verdicts } from "./results.js";
import { fragment, named, shared } from "./share.js";
import { STORIES } from "./stories.js";
import { themeSwitch } from "./theme.js";
import { WINDOW_MS, queues, timeline } from "./timeline.js";

// The page: one home, its last run, and what a person does with them.

/** Time without an edit before remedies are simulated, in ms. */
const PAUSE = 1200;
/** Time of a run after which it can be cancelled, in ms. */
const SLOW = 1000;
/** Colours of the style sheet. */
const HUES = 6;
const MAX_UNDO = 50;

class Playground {
  constructor(module, script) {
    this.runs = new Engine(module, script);
    this.remedies = new Engine(module, script);
    this.past = [];
    this.selected = null;
    this.drawsWalls = false;
    this.pause = null;
    this.sleeps = false;
    this.seed = 1;
    this.version = 0;
  }

  // The home.

  async show(request, { keepsPast = false } = {}) {
    const version = ++this.version;
    // What is in progress belongs to the home before.
    this.runs.cancel();
    this.remedies.cancel();
    clearTimeout(this.pause);
    this.pause = null;
    this.sleeps = false;
    const before = this.home;
    const reply = await this.runs.ask(request);
    if (version !== this.version) return false;
    this.mistakes(reply);
    if (!reply.ok) return false;
    if (before && !keepsPast) this.past = [...this.past, before.text].slice(-MAX_UNDO);
    this.home = reply.ok;
    this.result = null;
    this.drawHome();
    await this.run(version);
    return true;
  }

  edit(scenario) {
    return this.show({ do: "edit", scenario });
  }

  open(text) {
    this.selected = null;
    return this.show({ do: "read", text });
  }

  undo() {
    const text = this.past.pop();
    if (text !== undefined) this.show({ do: "read", text }, { keepsPast: true });
  }

  /** Shows what is wrong according to a reply, or that nothing is. */
  mistakes(reply) {
    this.wrong = reply.ok ? null : reply;
    const list = reply.mistakes ?? (reply.error ? [{ message: reply.error }] : []);
    byId("mistakes").replaceChildren(...list.slice(0, 5).map(({ key, message, help, line }) =>
      el("p", { class: "warning", role: "alert" }, [line ? `Line ${line}: ` : "", key ? `${key}: ` : "", message, help ? `. ${help}` : ""].join(""))));
  }

  hues() {
    return new Map(this.home.stations.map(({ name }, index) => [name, index % HUES]));
  }

  drawHome() {
    const { home } = this;
    const focused = document.activeElement?.dataset?.item;
    const verdict = new Map(this.result?.summary.stations.map((one) => [one.name, one.verdict]) ?? []);
    const change = (scenario) => this.edit(scenario);
    const act = {
      select: (key) => { this.selected = key; this.drawHome(); },
      move: (kind, name, at) => this.edit(set(home.scenario, [kind, name, "position"], positionText(at))),
      remove: (kind, name) => { this.selected = null; this.edit(remove(home.scenario, kind, name)); },
      wall: (from, to) => this.edit(set(home.scenario, ["building", "walls"], [...(home.scenario.building?.walls ?? []), `${positionText(from)} to ${positionText(to)}`])),
    };
    byId("title").textContent = home.title ?? "A home";
    byId("question").textContent = home.question ?? "";
    byId("drawing").replaceChildren(drawing(home, { selected: this.selected, drawsWalls: this.drawsWalls, verdicts: verdict, hues: this.hues() }, act), legend(home));
    byId("item").replaceChildren(item(home, this.selected, change, () => { this.selected = null; }));
    byId("line").replaceChildren(internet(home, change));
    byId("walls").replaceChildren(wallList(home, change, this.drawsWalls, () => { this.drawsWalls = !this.drawsWalls; this.drawHome(); }));
    byId("undo").disabled = this.past.length === 0;
    byId("text").value = home.text;
    if (focused) document.querySelector(`[data-item="${CSS.escape(focused)}"]`)?.focus();
  }

  // The run.

  async run(version = this.version) {
    byId("state").textContent = "Simulating …";
    const begun = performance.now();
    const slow = setTimeout(() => { byId("cancel").hidden = false; }, SLOW);
    const reply = await this.runs.ask({ do: "run", scenario: this.home.scenario, seed: this.seed });
    clearTimeout(slow);
    if (version !== this.version) return;
    byId("cancel").hidden = true;
    if (!reply.ok) {
      if (!reply.cancelled) this.mistakes(reply);
      byId("state").textContent = reply.cancelled ? "Cancelled: the values are those of the run before." : "";
      return;
    }
    this.result = reply.ok;
    const { summary, view } = this.result;
    byId("state").textContent = `${this.home.duration_s} s simulated in ${Math.round((performance.now() - begun) / 10) / 100} s, seed ${this.seed}.`;
    byId("headline").textContent = headline(summary);
    byId("headline").className = `verdict ${summary.verdict}`;
    byId("devices").replaceChildren(verdicts(summary, this.hues(), (key) => { this.selected = key; this.drawHome(); }));
    byId("causes").replaceChildren(causes(view.explanation));
    byId("remedies").replaceChildren();
    this.drawHome();
    await this.showAir(version, Math.min(Math.round(this.home.duration_s / 2) * 1000, Math.max(0, view.bins * view.bin_s * 1000 - WINDOW_MS)));
    const missed = summary.stations.some(({ verdict }) => verdict === "fail" || verdict === "marginal");
    byId("help").hidden = !missed;
    if (missed && version === this.version) this.pause = setTimeout(() => this.explain(version), PAUSE);
  }

  async showAir(version, fromMs) {
    const { view } = this.result;
    byId("queues").replaceChildren(queues(view, this.hues(), (ms) => this.showAir(this.version, ms), fromMs));
    const reply = await this.runs.ask({ do: "air", scenario: this.home.scenario, seed: this.seed, from_ms: fromMs, length_ms: WINDOW_MS });
    if (version !== this.version || !reply.ok) return;
    byId("air").replaceChildren(timeline(reply.ok.transmissions, this.home, this.hues(), fromMs));
  }

  async explain(version = this.version) {
    clearTimeout(this.pause);
    this.pause = null;
    this.remedies.cancel();
    const bar = el("progress", { "aria-label": "Simulated changes" });
    const stop = el("button", { type: "button", onclick: () => this.remedies.cancel() }, "Cancel");
    byId("remedies").replaceChildren(el("p", {}, "Simulating changes … ", bar, " ", stop));
    const reply = await this.remedies.ask({ do: "explain", scenario: this.home.scenario, seed: this.seed }, ({ done, all }) => {
      if (all > 0) {
        bar.max = all;
        bar.value = done;
      }
    });
    if (version !== this.version) return;
    if (reply.cancelled) byId("remedies").replaceChildren(el("p", {}, this.sleeps ? "Waiting until you see this page again." : "Cancelled."));
    else if (!reply.ok) this.mistakes(reply);
    else {
      byId("causes").replaceChildren(causes(reply.ok));
      byId("remedies").replaceChildren(remedies(reply.ok, (whatIf) => this.edit(applied(this.home.scenario, whatIf.set))));
    }
  }

  /** A page that is not seen uses no processor. */
  seen(isSeen) {
    const waits = !isSeen && (this.remedies.busy || this.pause !== null);
    if (waits) {
      this.sleeps = true;
      clearTimeout(this.pause);
      this.remedies.cancel();
    } else if (isSeen && this.sleeps) {
      this.sleeps = false;
      this.explain();
    }
  }

  // Stories.

  async tell(story, number) {
    const step = story.steps[number];
    const box = byId("story");
    box.hidden = false;
    delete box.dataset.shown;
    const go = (id, to, words) => el("button", { id, type: "button", disabled: to < 0 || to >= story.steps.length, onclick: () => this.tell(story, to) }, words);
    box.replaceChildren(el("h2", {}, story.title), el("p", { "aria-live": "polite" }, step.text),
      el("p", {}, go("back", number - 1, "Back"), " ", go("next", number + 1, "Next"), ` ${number + 1} of ${story.steps.length} `,
        el("button", { type: "button", onclick: () => { box.hidden = true; } }, "Close")));
    // A step back repeats the story up to it.
    const first = story.steps.slice(0, number + 1).findLastIndex(({ scenario }) => scenario);
    this.selected = null;
    if (!await this.show({ do: "open", name: story.steps[first].scenario })) return;
    const changes = story.steps.slice(first, number + 1).reduce((all, { set: keys }) => ({ ...all, ...keys }), {});
    if (Object.keys(changes).length > 0 && !await this.edit(applied(this.home.scenario, changes))) return;
    box.dataset.shown = `${story.id} ${number}`;
  }
}

/** The engine: WebAssembly, compressed, in base64. */
function engineModule() {
  const packed = Uint8Array.from(atob(byId("engine").textContent), (char) => char.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function workerScript() {
  return URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
}

/** The scenario with which the page was written; the first home if it has none. */
function firstScenario() {
  const written = byId("begin")?.textContent;
  return written ? JSON.parse(written).scenario : FIRST;
}

async function begin() {
  themeSwitch(byId("theme"));
  const playground = new Playground(await engineModule(), workerScript());
  const said = (words) => { byId("said").textContent = words; };
  byId("add-device").append(...USES.map(([use, words]) => el("option", { value: use }, words)));
  byId("add-device").addEventListener("change", ({ target }) => {
    const { scenario, name } = addDevice(playground.home.scenario, target.value, { x: 1 + Math.floor(Math.random() * 8), y: 1 });
    target.value = "";
    playground.selected = `station ${name}`;
    playground.edit(scenario);
  });
  byId("add-ap").addEventListener("click", () => {
    const { scenario, name } = addAp(playground.home.scenario, { x: 9, y: 4 });
    playground.selected = `ap ${name}`;
    playground.edit(scenario);
  });
  const tell = (story) => (event) => {
    event.preventDefault();
    history.replaceState(null, "", `#story=${story.id}`);
    playground.tell(story, 0);
  };
  const dialog = describing(async (answers) => {
    playground.selected = null;
    await playground.show({ do: "describe", answers });
    const { wrong } = playground;
    if (!wrong) return null;
    playground.mistakes({ ok: true });
    return wrong.error ?? wrong.mistakes.map(({ message }) => message).join("; ");
  });
  document.body.append(dialog);
  byId("describe-home").addEventListener("click", () => dialog.showModal());
  byId("stories").append(...STORIES.map((story) => el("li", {}, el("a", { class: "tool", href: `#story=${story.id}`, onclick: tell(story) }, story.title))));
  byId("use-text").addEventListener("click", () => playground.open(byId("text").value));
  byId("undo").addEventListener("click", () => playground.undo());
  byId("new").addEventListener("click", () => playground.open(FIRST));
  byId("run").addEventListener("click", () => playground.run());
  byId("cancel").addEventListener("click", () => playground.runs.cancel());
  document.addEventListener("visibilitychange", () => playground.seen(!document.hidden));
  byId("seed").addEventListener("click", () => { playground.seed += 1; playground.run(++playground.version); });
  byId("explain").addEventListener("click", () => playground.explain());
  byId("open").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (file) await playground.open(await file.text());
    target.value = "";
  });
  byId("save").addEventListener("click", () => {
    const link = el("a", { href: URL.createObjectURL(new Blob([playground.home.text], { type: "application/toml" })), download: "home.toml" });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  byId("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(playground.home.text);
    said("The scenario is copied. Save it as home.toml and run: netburn run home.toml --on simulate");
  });
  byId("share").addEventListener("click", async () => {
    history.replaceState(null, "", await fragment(playground.home.text));
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    said("The link is in the address bar and copied. It holds the whole scenario, and nothing is sent to a server.");
  });
  // Returns what is wrong with the address; `null` if its home is shown, or if it has none.
  const followed = async () => {
    const name = named(location.hash);
    const story = name?.kind === "story" && STORIES.find(({ id }) => id === name.name);
    if (story) await playground.tell(story, 0);
    else if (name) await playground.show({ do: "open", name: name.name });
    else {
      const text = await shared(location.hash);
      if (text === null) return null;
      await playground.open(text);
    }
    return playground.wrong;
  };
  const follow = async () => {
    const wrong = await followed().catch((error) => ({ error: `The link is damaged: ${error.message}` }));
    if (!playground.home) await playground.open(firstScenario());
    if (wrong) playground.mistakes(wrong);
    if (location.hash === "#describe") dialog.showModal();
  };
  window.addEventListener("hashchange", follow);
  await follow();
  document.body.dataset.ready = "true";
}

begin().catch((error) => {
  byId("mistakes").append(el("p", { class: "warning", role: "alert" }, `The playground cannot start: ${error.message}. It needs a browser of 2023 or later.`));
});
