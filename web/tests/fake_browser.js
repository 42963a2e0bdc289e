// A fake browser in virtual time: timers, sockets and HTTP; and a fake fleet with one run.

import { createHash, createHmac } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { Station } from "../station/station.js";
import { FakeChannel } from "./fake_channel.js";

/** If set, all messages of the stations are also appended to this file. */
const { NETBURN_MESSAGES } = process.env;

export const MODULE = new WebAssembly.Module(readFileSync(new URL("../station/page.wasm", import.meta.url)));

export const TOKEN = "fleet-token-0123456789";
export const RUN_TOKEN = "run-token-0123456789";

const hmac = (token, text) => createHmac("sha256", token).update(text).digest("hex");

export class FakeBrowser {
  constructor({ rate = 20e6, delay = 5, consents = true } = {}) {
    Object.assign(this, { rate, delay, consents });
    this.time = 0;
    this.timers = [];
    this.number = 0;
    /** The tab's storage, which survives a reload. */
    this.tab = { "netburn.token": TOKEN };
    this.sockets = [];
    this.sent = { standing: [], run: [] };
    this.views = [];
    this.origin = 1795326063123.4;
    this.reachable = true;
    /** Origins that no request reaches. */
    this.blocked = [];
    /** The requests that wait for one of the 6 connections to an origin, and the number of those in use. */
    this.connections = new Map();
    /** The data channel of the server, or the reason why there is none. */
    this.channel = { webrtc: false };
    this.documentBytes = 0;
  }

  /** A browser for one load of the page. */
  load({ hash = "" } = {}) {
    const fake = this;
    const loadedAt = this.time;
    const browser = {
      unloaded: false,
      location: { protocol: "http:", hash },
      performance: {
        timeOrigin: this.origin + loadedAt,
        now: () => fake.time - loadedAt,
        getEntriesByName: () => [],
        clearResourceTimings: () => {},
      },
      setTimeout: (callback, delay = 0) => fake.at(fake.time + Math.max(0, delay), () => browser.unloaded || callback()),
      clearTimeout: (id) => fake.cancel(id),
      setInterval: (callback, interval) => {
        const id = { current: 0 };
        const schedule = () => {
          id.current = browser.setTimeout(() => {
            schedule();
            callback();
          }, interval);
        };
        schedule();
        return id;
      },
      clearInterval: (id) => fake.cancel(id.current),
      fetch: (url, options) => fake.fetch(browser, url, options),
    };
    browser.WebSocket = class {
      constructor(url) {
        fake.connect(browser, this, url);
      }
      send(text) {
        fake.receive(this, text);
      }
      close() {
        fake.drop(this, false);
      }
    };
    browser.XMLHttpRequest = class {
      constructor() {
        this.upload = {};
      }
      open(method, url) {
        this.url = url;
      }
      send(blob) {
        fake.upload(browser, this, blob.size);
      }
      abort() {
        this.aborted = true;
        this.release?.();
      }
    };
    return browser;
  }

  /** A station in a new load of the page, with the stored entries. */
  station(name = "phone-4f") {
    const browser = this.load();
    const post = (effect) => {
      if (browser.unloaded) {
        return;
      }
      if (effect.do === "store") {
        for (const [key, value] of Object.entries(effect.tab)) {
          value === null ? delete this.tab[key] : (this.tab[key] = value);
        }
        browser.setTimeout(() => station.handle({ type: "stored", number: effect.number }), 1);
      } else if (effect.do === "show") {
        this.views.push(effect.view);
      } else {
        browser.setTimeout(() => this.connectChannel(station, effect), 1);
      }
    };
    const station = new Station(MODULE, Math.floor(this.origin), post, browser);
    const address = { hash: "", host: "controller:4484", hostname: "controller", secure: false };
    const about = { system: "a test's browser", hidden: false, webrtc: this.channel.webrtc ?? true, wake_lock: true };
    station.load({ tab: { ...this.tab }, device: {}, ...address, ...about });
    if (!this.tab["netburn.joined"]) {
      station.handle({ type: "join", name });
    }
    return station;
  }

  /** The stored entries of runs. */
  get entries() {
    return Object.fromEntries(Object.entries(this.tab).filter(([key]) => key.startsWith("netburn.run.")));
  }

  /** The page's part of a data channel. */
  connectChannel(station, { do: what, connection, sdp }) {
    const reply = (type, more) => station.handle({ type, connection, ...more });
    if (what === "connect" && this.channel.error) {
      reply("connection-failed", { error: this.channel.error });
    } else if (what === "connect") {
      this.openedChannel = new FakeChannel(this, this.channel);
      reply("channel", { channel: this.openedChannel });
      reply("offer", { sdp: `a=mid:0\r\na=fingerprint:sha-256 ${Array(32).fill("07").join(":")}\r\n` });
    } else if (what === "answer" && this.channel.rejects) {
      reply("connection-failed", { error: this.channel.rejects });
    } else if (what === "answer") {
      this.answer = sdp;
      this.at(this.time + this.delay, () => this.channel.blocked || this.openedChannel.open());
    }
  }

  /** Unloads the page: its sockets close and its timers stop. */
  unload(station) {
    station.browser.unloaded = true;
    this.sockets.filter((socket) => socket.browser === station.browser).forEach((socket) => this.drop(socket, true));
  }

  at(time, callback) {
    this.number += 1;
    this.timers.push({ time, number: this.number, callback });
    return this.number;
  }

  cancel(id) {
    this.timers = this.timers.filter((timer) => timer.number !== id);
  }

  /** Advances the time until `done()` or by `limit` ms. Returns `done()`. */
  async until(done, limit) {
    const end = this.time + limit;
    while (!done()) {
      await settle();
      this.timers.sort((a, b) => a.time - b.time || a.number - b.number);
      const next = this.timers[0];
      if (!next || next.time > end) {
        this.time = end;
        return done();
      }
      this.timers.shift();
      this.time = Math.max(this.time, next.time);
      next.callback();
      await settle();
    }
    return true;
  }

  advance(millis) {
    return this.until(() => false, millis);
  }

  sleep(millis) {
    return new Promise((resolve) => this.at(this.time + millis, resolve));
  }

  connect(browser, socket, url) {
    Object.assign(socket, { browser, readyState: 0, kind: url.endsWith("/join") ? "standing" : "run", url });
    this.at(this.time + this.delay, () => {
      if (browser.unloaded || !this.reachable || (socket.kind === "run" && this.noRun)) {
        return this.drop(socket, true);
      }
      socket.readyState = 1;
      this.sockets.push(socket);
      socket.onopen();
    });
  }

  drop(socket, notify) {
    if (socket.readyState === 3) {
      return;
    }
    socket.readyState = 3;
    this.sockets = this.sockets.filter((other) => other !== socket);
    if (notify || !socket.browser.unloaded) {
      this.at(this.time + 1, () => socket.browser.unloaded || socket.onclose?.());
    }
  }

  /** The open socket of a kind: `standing` (to the fleet) or `run`. */
  socket(kind) {
    return this.sockets.find((socket) => socket.kind === kind) ?? null;
  }

  receive(socket, text) {
    const message = JSON.parse(text);
    if (NETBURN_MESSAGES) {
      appendFileSync(NETBURN_MESSAGES, `${socket.kind} ${text}\n`);
    }
    this.sent[socket.kind].push(message);
    this.at(this.time + this.delay, () => this[`on_${socket.kind}`]?.(message, socket));
  }

  sendMessage(kind, message) {
    this.sendText(kind, JSON.stringify(message));
  }

  sendText(kind, data) {
    const socket = this.socket(kind);
    this.at(this.time + this.delay, () => socket?.readyState === 1 && socket.onmessage({ data }));
  }

  /** Waits for a connection to the origin of `url`. Returns a function that releases it. */
  async connection(url) {
    const { origin } = new URL(url);
    const state = this.connections.get(origin) ?? { used: 0, waiting: [] };
    this.connections.set(origin, state);
    if (state.used >= 6) {
      await new Promise((resolve) => state.waiting.push(resolve));
    } else {
      state.used += 1;
    }
    let released = false;
    return () => {
      if (!released) {
        released = true;
        const next = state.waiting.shift();
        next ? next() : (state.used -= 1);
      }
    };
  }

  /** The server sends each object at `rate` bit/s, in pieces of 16 KiB. */
  async fetch(browser, url, { signal } = {}) {
    await this.sleep(this.delay);
    if (!this.reachable || this.blocked.includes(new URL(url).origin)) {
      throw new TypeError("Failed to fetch");
    }
    const nonce = /fleet=(\w+)/.exec(url)?.[1];
    if (url.includes("/netburn/channel?")) {
      const { certificate, proof } = Object.fromEntries(new URL(url).searchParams);
      if (this.channel.status) {
        return { status: this.channel.status };
      }
      if (proof !== hmac(RUN_TOKEN, `channel ${nonce} ${certificate}`)) {
        return { status: 403 };
      }
      const ice = { ufrag: "a".repeat(48), password: "b".repeat(43), certificate: "08".repeat(32), port: 4480 };
      return this.document(JSON.stringify({ schema: "netburn.channel/1", ...ice }), signal);
    }
    if (nonce) {
      const fleet = hmac(this.consents ? RUN_TOKEN : "another", nonce);
      const server = { version: "test", operator: "", download: "/bytes/SIZE", upload: "/sink", max_object_bytes: 2 ** 34 };
      const text = JSON.stringify({ schema: "netburn.consent/1", consents: true, fleet, ...server });
      return this.document(text, signal);
    }
    const size = Number(/\/bytes\/(\d+)\?/.exec(url)[1]);
    const release = await this.connection(url);
    signal?.addEventListener("abort", release);
    if (signal?.aborted) {
      release();
      throw new Error("aborted");
    }
    let left = size;
    const read = async () => {
      const piece = Math.min(left, 16384);
      await this.sleep(Math.max(0.01, (piece * 8e3) / this.rate));
      if (signal?.aborted || browser.unloaded) {
        release();
        throw new Error("aborted");
      }
      if (!this.reachable) {
        release();
        throw new TypeError("network error");
      }
      left -= piece;
      if (piece === 0) {
        release();
      }
      return piece > 0 ? { done: false, value: { byteLength: piece } } : { done: true };
    };
    return { status: 200, body: { getReader: () => ({ read }) } };
  }

  /** A response with this text. If `endless` is set, the text repeats until the request is aborted. */
  document(text, signal) {
    const value = new TextEncoder().encode(text);
    let pieces = this.endless ? Infinity : 1;
    const read = async () => {
      if (signal.aborted) {
        throw new Error("aborted");
      }
      this.documentBytes += value.length;
      pieces -= 1;
      return pieces >= 0 ? { done: false, value } : { done: true };
    };
    return { status: 200, body: { getReader: () => ({ read }) } };
  }

  async upload(browser, request, size) {
    request.release = await this.connection(request.url);
    if (request.aborted) {
      return request.release();
    }
    let sent = 0;
    while (sent < size) {
      await this.sleep(50);
      if (request.aborted || browser.unloaded) {
        return request.release();
      }
      sent = Math.min(size, sent + (this.rate * 0.05) / 8);
      request.upload.onprogress({ loaded: sent });
    }
    request.release();
    request.status = 200;
    request.onload();
    request.onloadend();
  }
}

/** Runs all pending promise callbacks. */
async function settle() {
  for (let turns = 0; turns < 3; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A fleet with one run: the fleet's controller and the controller of the run. */
export class FakeFleet {
  constructor(browser, assign, { start = 1000 } = {}) {
    Object.assign(this, { browser, assign, start });
    this.rows = [];
    this.received = 0;
    this.late = 0;
    this.stage = "none";
    this.at = null;
    browser.on_standing = (message) => this.member(message);
    browser.on_run = (message, socket) => this.agent(message, socket);
  }

  member(message) {
    const { browser } = this;
    if (message.type === "register") {
      browser.sendMessage("standing", { type: "welcome", protocol: 1, version: "test", fleet: "home" });
      if (this.stage === "none") {
        this.stage = "invited";
        browser.sendMessage("standing", { type: "invite", run: "r-1", name: message.name, token: RUN_TOKEN });
      }
      if (message.pending) {
        browser.sendMessage("standing", { type: "request-results", run: "r-1" });
      }
    } else if (message.type === "late-results") {
      this.checkProof(message);
      // All sequence numbers from 1: the fleet's controller does not know which rows the run's controller has.
      if (message.sequence !== this.late + 1) {
        throw new Error(`late rows ${message.sequence} after ${this.late}`);
      }
      this.late = message.sequence;
      this.receive(message);
      browser.sendMessage("standing", { type: "ack", run: "r-1", sequence: this.late });
    } else if (message.type === "late-results-end") {
      this.checkProof(message);
      this.end = message;
      browser.sendMessage("standing", { type: "discard", run: "r-1" });
    }
  }

  /** Checks the proof of late results. */
  checkProof({ type, proof }) {
    const expected = createHash("sha256").update(`late ${RUN_TOKEN}`).digest("hex");
    if (proof !== expected) {
      throw new Error(`${type} with the proof ${proof}`);
    }
  }

  agent(message, socket) {
    const { browser } = this;
    const reply = (answer) => browser.sendMessage("run", answer);
    if (message.type === "hello" && message.reconnect && browser.time < (this.rejectReconnectUntil ?? 0)) {
      reply({ type: "rejected", reason: "`phone` has joined already" });
      this.rejections = (this.rejections ?? 0) + 1;
      browser.drop(socket, true);
    } else if (message.type === "hello") {
      reply({ type: "welcome", protocol: 1, version: "test", last_sequence: this.received });
      if (!message.reconnect) {
        reply({ type: "ping", id: 1 });
        reply({ type: "assign", ...this.assign });
      }
    } else if (message.type === "pong") {
      this.pong = message;
    } else if (message.type === "ready") {
      this.ready = message;
      // The start in `start` ms, on the station's clock.
      if (this.start === null) {
        return;
      }
      this.at = this.pong.received + Math.round((browser.time - this.pongAt()) * 1e6) + this.start * 1e6;
      reply({ type: "start", at: this.at });
    } else if (message.type === "rows") {
      this.receive(message);
      if (!this.ignoreRows) {
        reply({ type: "ack", sequence: this.received });
      }
    } else if (message.type === "health") {
      this.health = message.health;
    } else if (message.type === "done") {
      this.done = message;
      reply({ type: "bye", reason: "the run is over" });
    }
  }

  pongAt() {
    return this.pong.received / 1e6 + Math.floor(this.browser.origin) - this.browser.origin;
  }

  receive({ sequence, batch }) {
    if (sequence <= this.received) {
      return;
    }
    if (sequence !== this.received + 1) {
      throw new Error(`rows ${sequence} after ${this.received}`);
    }
    this.received = sequence;
    this.rows.push(batch);
  }

  all(kind) {
    return this.rows.flatMap((batch) => batch[kind] ?? []);
  }
}
