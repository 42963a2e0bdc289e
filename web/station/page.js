// The page: displays the view of the worker that measures, stores what must survive a reload, and has what workers lack: the
// connections of data channels and the wake lock. Strings from other sources are inserted as text, never as markup.

/** The data channel is unordered and unreliable. Both sides open it as SCTP stream 0 without negotiation. */
const CHANNEL = { negotiated: true, id: 0, ordered: false, maxRetransmits: 0 };
const ZERO = "netburn.zero";

const at = (id) => document.getElementById(id);
const storages = { tab: attempt(() => sessionStorage), device: attempt(() => localStorage) };
const connections = new Map();
let wakeLock = null;
let busy = false;

/** The result of `access`, or `null` if the browser forbids it. If the storage is full or disabled, only a reload loses data. */
function attempt(access) {
  try {
    return access() ?? null;
  } catch {
    return null;
  }
}

/** Changes the texts of elements with `data-text` below `root` only if they differ, so that screen readers announce only changes. */
function write(root, texts) {
  for (const element of root.querySelectorAll("[data-text]")) {
    const text = texts[element.dataset.text] ?? element.textContent;
    if (element.textContent !== text) {
      element.textContent = text;
    }
  }
}

const effects = {
  show({ view }) {
    write(document, view);
    at("form").hidden = !view.form;
    at("station-name").value ||= view.suggestion;
    at("bar").hidden = view.fraction === null;
    at("bar").className = view.past ? "past" : "";
    at("done").style.transform = `scaleX(${view.fraction ?? 0})`;
    const list = at("workloads");
    if (list.children.length !== view.workloads.length) {
      list.replaceChildren(...view.workloads.map(() => at("workload").content.cloneNode(true)));
    }
    view.workloads.forEach((workload, index) => {
      write(list.children[index], workload);
      list.children[index].querySelector(".verdict").className = `verdict ${workload.verdict}`;
    });
    busy = view.busy;
    keepAwake();
  },

  store({ number, ...entries }) {
    for (const [place, storage] of Object.entries(storages)) {
      for (const [key, value] of Object.entries(entries[place])) {
        attempt(() => (value === null ? storage.removeItem(key) : storage.setItem(key, value)));
      }
    }
    worker.postMessage({ type: "stored", number });
  },

  "hide-key": () => history.replaceState(null, "", location.pathname),

  async connect({ connection }) {
    const peer = new RTCPeerConnection();
    connections.set(connection, peer);
    const channel = peer.createDataChannel("netburn", CHANNEL);
    // A browser transfers a channel only in the task that creates it.
    worker.postMessage({ type: "channel", connection, channel }, [channel]);
    await peer.setLocalDescription();
    worker.postMessage({ type: "offer", connection, sdp: peer.localDescription.sdp });
  },

  answer: async ({ connection, sdp }) => connections.get(connection).setRemoteDescription({ type: "answer", sdp }),

  disconnect({ connection }) {
    connections.get(connection)?.close();
    connections.delete(connection);
  },

  /** Ends the worker. A reload shows the form, and so does not repeat a run in which the page fails. */
  fail() {
    worker.terminate();
    worker.onmessage = null;
    attempt(() => storages.tab.removeItem("netburn.joined"));
    connections.forEach((connection) => connection.close());
    busy = false;
    keepAwake();
    document.querySelector("main").replaceChildren(at("failure").content);
    document.querySelector("footer").remove();
  },
};

/** Keeps the screen on, if the browser supports it (Screen Wake Lock API). */
async function keepAwake() {
  if (!busy) {
    wakeLock?.release();
    wakeLock = null;
  } else if (navigator.wakeLock && !document.hidden && (wakeLock?.released ?? true)) {
    // Fails if the battery is low, or the page became hidden. The run continues without a wake lock.
    wakeLock = await navigator.wakeLock.request("screen").catch(() => null);
  }
}

/** The page's strings in a storage, by key. */
function stored(storage) {
  const entries = Array.from({ length: storage?.length ?? 0 }, (_, index) => [storage.key(index), storage.getItem(storage.key(index))]);
  return Object.fromEntries(entries.filter(([key]) => key.startsWith("netburn.")));
}

const worker = new Worker("/station/station.js", { type: "module" });
worker.onerror = effects.fail;
const failed = (connection) => (error) => worker.postMessage({ type: "connection-failed", connection, error: String(error.message) });
worker.onmessage = ({ data }) => effects[data.do](data)?.catch(failed(data.connection));
const [tab, device] = [stored(storages.tab), stored(storages.device)];
const zero = Number(tab[ZERO]) || Math.floor(performance.timeOrigin);
attempt(() => storages.tab.setItem(ZERO, String(zero)));
const { hash, host, hostname } = location;
const [secure, webrtc, wake_lock] = [location.protocol === "https:", Boolean(globalThis.RTCPeerConnection), Boolean(navigator.wakeLock)];
const browser = { secure, system: navigator.userAgent.slice(0, 500), hidden: document.hidden, webrtc, wake_lock };
worker.postMessage({ zero, load: { tab, device, hash, host, hostname, ...browser } });

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  worker.postMessage({ type: "join", name: at("station-name").value.normalize("NFKD") });
});
at("leave").addEventListener("click", () => worker.postMessage({ type: "leave" }));
addEventListener("hashchange", () => location.hash && worker.postMessage({ type: "key", hash: location.hash }));
document.addEventListener("visibilitychange", () => {
  worker.postMessage({ type: "hidden", hidden: document.hidden });
  keepAwake();
});
