// The page: asks for a name, starts the worker that measures, draws what it tells, and keeps what must survive a reload.

import { Awake } from "./awake.js";
import { newZero } from "./clock.js";
import { isName, suggestion, tidy } from "./names.js";
import { Screen } from "./screen.js";
import { Store } from "./store.js";

/** States in which the screen should stay on and the page in front. */
const BUSY = ["member", "away", "preparing", "idle", "running", "collecting"];
/** What the page says of itself in messages; the controller's version goes with its files. */
const VERSION = "netburn station page";

const screen = new Screen(document);
const store = new Store();
const awake = new Awake();
let token = store.token();
let worker = null;
let state = "join";
let hiddenSince = document.hidden ? performance.now() : null;

function ask(wrong = "") {
  state = wrong ? "refused" : "join";
  store.joined = false;
  worker?.terminate();
  worker = null;
  awake.want(false);
  screen.show({ state: token ? state : "no-key", line: wrong });
  screen.hint("");
  const field = document.getElementById("called");
  field.value ||= store.name ?? suggestion(navigator.userAgent);
}

function lockedOut() {
  ask();
  state = "wrong-key";
  screen.show({ state });
}

function join(name) {
  store.name = name;
  store.joined = true;
  screen.wrong("");
  worker = new Worker("/station/station.js", { type: "module" });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = () => ask("This browser is too old for the page, or a file of it is missing.");
  worker.postMessage({
    join: {
      name,
      token,
      zero: store.zero(newZero()),
      version: VERSION,
      system: navigator.userAgent.slice(0, 500),
      host: location.host,
      secure: location.protocol === "https:",
      entries: store.entries(),
    },
  });
  worker.postMessage({ hidden: document.hidden });
  screen.show({ state: "joining", name });
}

function hear(message) {
  if (message.keep) {
    store.keep(message.keep);
    worker?.postMessage({ kept: message.number });
  } else if (message.show) {
    show(message.show);
  }
}

function show(picture) {
  if (picture.state === "refused") {
    // It gets no better by asking again with the same key.
    return /token/.test(picture.line) ? lockedOut() : ask(sentence(picture.line));
  }
  state = picture.state;
  screen.show(picture);
  const busy = BUSY.includes(state);
  awake.want(busy);
  screen.hint(busy && !awake.can ? "Set this screen to stay on: the browser lets a page do that only over TLS." : "");
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

document.getElementById("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = tidy(document.getElementById("called").value);
  document.getElementById("called").value = name;
  if (isName(name)) {
    join(name);
  } else {
    screen.wrong("A name has letters, digits and - only.");
  }
});

document.getElementById("leave").addEventListener("click", () => {
  if (state === "result" || state === "ended") {
    worker?.postMessage({ onward: true });
  } else {
    worker?.postMessage({ leave: true });
    // Its goodbye needs a moment to leave.
    setTimeout(ask, 150);
  }
});

document.addEventListener("visibilitychange", () => {
  worker?.postMessage({ hidden: document.hidden });
  if (document.hidden) {
    hiddenSince = performance.now();
    return;
  }
  const away = (performance.now() - (hiddenSince ?? performance.now())) / 1000;
  hiddenSince = null;
  if (worker && ["idle", "running", "collecting"].includes(state)) {
    screen.warn(`This page was in the background for ${away.toFixed(0)} s. Keep it in front while it measures.`);
    setTimeout(() => screen.warn(""), 15000);
  }
});

addEventListener("hashchange", () => {
  if (location.hash) {
    token = store.token();
    ask();
  }
});

if (token && store.joined && store.name) {
  join(store.name);
} else {
  ask();
}
