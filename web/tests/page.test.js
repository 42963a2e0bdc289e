// The page's script with a fake document and a fake worker.

import assert from "node:assert/strict";
import { test } from "node:test";

const IDS = ["leave", "form", "station-name", "bar", "done", "workloads", "workload", "failure", "main", "footer"];
const TEXTS = ["name", "title", "head", "line", "warning", "hint", "button", "name_error", "document_title"];

function element(text) {
  const listeners = new Map();
  return {
    dataset: { text },
    textContent: "",
    value: "",
    style: {},
    children: [],
    replaceChildren(...children) {
      this.children = children;
    },
    remove() {
      this.removed = true;
    },
    addEventListener: (name, listener) => listeners.set(name, listener),
    fire: (name) => listeners.get(name)({ preventDefault() {} }),
  };
}

let loads = 0;

/** Loads the script. Returns its document, and the messages to the worker. */
async function load(globals) {
  const messages = [];
  const byId = Object.fromEntries(IDS.map((id) => [id, element()]));
  const texts = Object.fromEntries(TEXTS.map((name) => [name, element(name)]));
  const listeners = new Map();
  const fake = {
    document: {
      hidden: false,
      getElementById: (id) => byId[id],
      querySelector: (name) => byId[name],
      querySelectorAll: () => Object.values(texts),
      addEventListener: (name, listener) => listeners.set(name, listener),
    },
    location: { hash: "", host: "controller:4484", hostname: "controller", pathname: "/", protocol: "http:" },
    navigator: { userAgent: "a test's browser" },
    history: { replaceState: (_state, _title, path) => void messages.push({ replaced: path }) },
    addEventListener: (name, listener) => listeners.set(name, listener),
    Worker: class {
      constructor() {
        fake.worker = this;
      }
      postMessage(message, transfer) {
        messages.push(transfer ? { ...message, transfer } : message);
      }
      terminate() {
        this.terminated = true;
      }
    },
  };
  for (const object of [fake, globals]) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      Object.defineProperty(globalThis, name, { ...descriptor, configurable: true });
    }
  }
  loads += 1;
  await import(`../station/page.js?${loads}`);
  const effect = async (data) => {
    fake.worker.onmessage?.({ data });
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { byId, texts, messages, effect, fake, listeners };
}

function storage(entries) {
  const map = new Map(Object.entries(entries));
  return {
    map,
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => map.set(key, value),
    removeItem: (key) => map.delete(key),
    key: (at) => [...map.keys()][at],
    get length() {
      return map.size;
    },
  };
}

const STORAGES = () => ({ sessionStorage: storage({ "netburn.zero": "5", other: "x" }), localStorage: storage({ "netburn.name": "tv" }) });

test("the worker gets the stored strings of the page, and its writes are confirmed", async () => {
  const storages = STORAGES();
  const { messages, effect } = await load(storages);
  const [{ zero, load: first }] = messages;
  assert.equal(zero, 5);
  assert.deepEqual([first.tab, first.device], [{ "netburn.zero": "5" }, { "netburn.name": "tv" }]);
  await effect({ do: "store", number: 3, tab: { "netburn.run.a": "1" }, device: { "netburn.name": null } });
  assert.deepEqual(messages.at(-1), { type: "stored", number: 3 });
  assert.equal(storages.sessionStorage.getItem("netburn.run.a"), "1");
  assert.equal(storages.localStorage.getItem("netburn.name"), null);
  await effect({ do: "hide-key" });
  assert.deepEqual(messages.at(-1), { replaced: "/" });
});

test("a disabled storage is tolerated", async () => {
  const forbidding = {
    get sessionStorage() {
      throw new Error("no");
    },
    get localStorage() {
      throw new Error("no");
    },
  };
  const { messages, effect } = await load(forbidding);
  assert.deepEqual([messages[0].load.tab, messages[0].load.device], [{}, {}]);
  assert.ok(messages[0].zero > 0);
  await effect({ do: "store", number: 1, tab: { a: "1", b: null }, device: {} });
  assert.deepEqual(messages.at(-1), { type: "stored", number: 1 });
});

test("the view is displayed as text, and the user's inputs are passed on", async () => {
  const { byId, texts, messages, effect, fake, listeners } = await load(STORAGES());
  const view = { head: "<b>", button: "Leave", form: true, fraction: 0.5, past: false, workloads: [], suggestion: "tv-01", busy: false };
  await effect({ do: "show", view });
  assert.deepEqual([texts.head.textContent, texts.line.textContent], ["<b>", ""]);
  assert.deepEqual([byId.form.hidden, byId.bar.hidden, texts.button.textContent], [false, false, "Leave"]);
  assert.deepEqual([byId.done.style.transform, byId["station-name"].value], ["scaleX(0.5)", "tv-01"]);
  byId["station-name"].value = "Küche";
  byId.form.fire("submit");
  assert.deepEqual(messages.at(-1), { type: "join", name: "Ku\u0308che" });
  byId.leave.fire("click");
  assert.deepEqual(messages.at(-1), { type: "leave" });
  fake.document.hidden = true;
  listeners.get("visibilitychange")();
  assert.deepEqual(messages.at(-1), { type: "hidden", hidden: true });
  fake.location.hash = "#key";
  listeners.get("hashchange")();
  assert.deepEqual(messages.at(-1), { type: "key", hash: "#key" });
});

test("after a failure of the module the worker ends, and a reload does not join the run again", async () => {
  for (const fail of [({ worker }) => worker.onerror(), ({ worker }) => worker.onmessage({ data: { do: "fail" } })]) {
    const storages = STORAGES();
    storages.sessionStorage.setItem("netburn.joined", "yes");
    storages.sessionStorage.setItem("netburn.run.run.r-1", "{}");
    let released = false;
    const wakeLock = { request: async () => ({ released: false, release: () => (released = true) }) };
    const navigator = { userAgent: "a test's browser", wakeLock };
    const { byId, effect, fake } = await load({ ...storages, navigator });
    byId.failure.content = "the message";
    await effect({ do: "show", view: { form: false, fraction: 0, past: false, workloads: [], suggestion: "", busy: true } });
    fail(fake);
    assert.ok(fake.worker.terminated && released);
    assert.deepEqual([...storages.sessionStorage.map.keys()], ["netburn.zero", "other", "netburn.run.run.r-1"]);
    assert.deepEqual([byId.main.children, byId.footer.removed], [["the message"], true]);
    await effect({ do: "store", number: 9, tab: { "netburn.joined": "yes" }, device: {} });
    assert.equal(storages.sessionStorage.getItem("netburn.joined"), null);
  }
});

test("the page connects, passes the channel to the worker, and answers its own offer", async () => {
  const made = [];
  class RTCPeerConnection {
    constructor() {
      made.push(this);
    }
    createDataChannel(label, options) {
      this.options = options;
      return { label };
    }
    async setLocalDescription() {
      this.localDescription = { sdp: "v=0" };
    }
    async setRemoteDescription(description) {
      if (description.sdp === "wrong") {
        throw new Error("it is no SDP");
      }
      this.remote = description;
    }
    close() {
      this.closed = true;
    }
  }
  const { messages, effect } = await load({ ...STORAGES(), RTCPeerConnection });
  assert.equal(messages[0].load.webrtc, true);
  await effect({ do: "connect", connection: 3 });
  assert.deepEqual(made[0].options, { negotiated: true, id: 0, ordered: false, maxRetransmits: 0 });
  const channel = { label: "netburn" };
  assert.deepEqual(messages.slice(-2), [
    { type: "channel", connection: 3, channel, transfer: [channel] },
    { type: "offer", connection: 3, sdp: "v=0" },
  ]);
  await effect({ do: "answer", connection: 3, sdp: "v=1" });
  assert.deepEqual(made[0].remote, { type: "answer", sdp: "v=1" });
  await effect({ do: "answer", connection: 3, sdp: "wrong" });
  assert.deepEqual(messages.at(-1), { type: "connection-failed", connection: 3, error: "it is no SDP" });
  await effect({ do: "disconnect", connection: 3 });
  assert.ok(made[0].closed);
  await effect({ do: "answer", connection: 3, sdp: "v=1" });
  assert.equal(messages.at(-1).type, "connection-failed");
});
