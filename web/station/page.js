// The page: asks for a name, starts the worker that measures, displays its view, and stores what must survive a reload.

import { newZero } from "./clock.js";
import { isName, normalizeName, suggestName } from "./names.js";
import { PeerConnections } from "./peer_connection.js";
import { Screen } from "./screen.js";
import { Store } from "./store.js";
import { WakeLock } from "./wake_lock.js";

/** States in which the screen should stay on and the page in front. */
const BUSY = ["member", "reconnecting", "preparing", "idle", "running", "collecting"];
/** The program name in messages. The page is embedded in the controller and has its version. */
const VERSION = "netburn station page";

const screen = new Screen(document);
const store = new Store();
const wakeLock = new WakeLock();
const connections = new PeerConnections((message, transfer) => worker?.postMessage(message, transfer ?? []));
let token = store.token();
let worker = null;
let state = "join";
let hiddenSince = document.hidden ? performance.now() : null;

function askName(error = "") {
  state = error ? "rejected" : "join";
  store.joined = false;
  worker?.terminate();
  connections.closeAll();
  worker = null;
  wakeLock.request(false);
  screen.show({ state: token ? state : "no-key", line: error });
  screen.hint("");
  const field = document.getElementById("station-name");
  field.value ||= store.name ?? suggestName(navigator.userAgent);
}

function rejectKey() {
  askName();
  state = "wrong-key";
  screen.show({ state });
}

function join(name) {
  store.name = name;
  store.joined = true;
  screen.showNameError("");
  worker = new Worker("/station/station.js", { type: "module" });
  worker.onmessage = ({ data }) => handleMessage(data);
  worker.onerror = () => askName("This browser is too old for the page, or a file of the page is missing.");
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

/** Handles a message of the worker. */
function handleMessage(message) {
  if (message.store) {
    store.store(message.store);
    worker?.postMessage({ stored: message.number });
  } else if (message.channel) {
    connections.handle(message.channel);
  } else if (message.show) {
    show(message.show);
  }
}

function show(view) {
  if (view.state === "rejected") {
    // A retry with the same key would be rejected again.
    return view.invalidToken ? rejectKey() : askName(sentence(view.line));
  }
  state = view.state;
  screen.show(view);
  const busy = BUSY.includes(state);
  wakeLock.request(busy);
  const hint = "Turn off auto-lock for this test. (Browsers let a page keep the screen on only over HTTPS.)";
  screen.hint(busy && !wakeLock.isSupported ? hint : "");
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

document.getElementById("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = normalizeName(document.getElementById("station-name").value);
  document.getElementById("station-name").value = name;
  if (isName(name)) {
    join(name);
  } else {
    screen.showNameError("A name consists of 1 to 64 letters, digits and -.");
  }
});

document.getElementById("leave").addEventListener("click", () => {
  if (state === "result" || state === "ended") {
    worker?.postMessage({ dismiss: true });
  } else {
    worker?.postMessage({ leave: true });
    // The worker needs a moment to send its `bye`.
    setTimeout(askName, 150);
  }
});

document.addEventListener("visibilitychange", () => {
  worker?.postMessage({ hidden: document.hidden });
  if (document.hidden) {
    hiddenSince = performance.now();
    return;
  }
  const hidden = (performance.now() - (hiddenSince ?? performance.now())) / 1000;
  hiddenSince = null;
  if (worker && ["idle", "running", "collecting"].includes(state)) {
    screen.warn(`This page was in the background for ${hidden.toFixed(0)} s. Keep it in front while it measures.`);
    setTimeout(() => screen.warn(""), 15000);
  }
});

addEventListener("hashchange", () => {
  if (location.hash) {
    token = store.token();
    askName();
  }
});

if (token && store.joined && store.name) {
  join(store.name);
} else {
  askName();
}
