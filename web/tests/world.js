// A world in virtual time for a station: timers, sockets and a server, and a fleet that the test plays.

import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { answerTo } from "../station/consent.js";
import { Station } from "../station/station.js";

/** Every message that a station sends is also written here, where somebody wants to check them. */
const { NETBURN_MESSAGES } = process.env;

export const TOKEN = "fleet-token-0123456789";
export const RUN_TOKEN = "run-token-0123456789";

export class World {
  constructor({ rate = 20e6, delay = 5, consents = true } = {}) {
    Object.assign(this, { rate, delay, consents });
    this.time = 0;
    this.timers = [];
    this.number = 0;
    /** What the station keeps over a reload. */
    this.kept = {};
    this.sockets = [];
    this.sent = { standing: [], run: [] };
    this.pictures = [];
    this.origin = 1795326063123.4;
    this.reachable = true;
  }

  /** A browser for one load of the page. */
  load({ hash = "" } = {}) {
    const world = this;
    const began = this.time;
    const browser = {
      dead: false,
      location: { protocol: "http:", hash },
      performance: {
        timeOrigin: this.origin + began,
        now: () => world.time - began,
        getEntriesByName: () => [],
        clearResourceTimings: () => {},
      },
      setTimeout: (what, wait = 0) => world.at(world.time + Math.max(0, wait), () => browser.dead || what()),
      clearTimeout: (id) => world.cancel(id),
      setInterval: (what, every) => {
        const id = { current: 0 };
        const again = () => {
          id.current = browser.setTimeout(() => {
            again();
            what();
          }, every);
        };
        again();
        return id;
      },
      clearInterval: (id) => world.cancel(id.current),
      fetch: (url, options) => world.fetch(browser, url, options),
    };
    browser.WebSocket = class {
      constructor(url) {
        world.connect(browser, this, url);
      }
      send(text) {
        world.hear(this, text);
      }
      close() {
        world.drop(this, false);
      }
    };
    browser.XMLHttpRequest = class {
      constructor() {
        this.upload = {};
      }
      open() {}
      send(blob) {
        world.upload(browser, this, blob.size);
      }
      abort() {
        this.aborted = true;
      }
    };
    return browser;
  }

  /** A station in that browser, which goes on from what was kept. */
  station(name = "phone-4f") {
    const browser = this.load();
    const about = {
      name,
      token: TOKEN,
      zero: Math.floor(this.origin),
      version: "test",
      system: "a test's browser",
      host: "controller:4484",
      secure: false,
      entries: { ...this.kept },
    };
    const post = (message) => {
      if (browser.dead) {
        return;
      }
      if (message.keep) {
        for (const [key, value] of Object.entries(message.keep)) {
          value === null ? delete this.kept[key] : (this.kept[key] = value);
        }
        browser.setTimeout(() => station.hear({ kept: message.number }), 1);
      } else {
        this.pictures.push(message.show);
      }
    };
    const station = new Station(about, post, browser);
    station.browser = browser;
    return station;
  }

  /** The page is gone, as with a reload: its sockets close, nothing of it runs any more. */
  unload(station) {
    station.browser.dead = true;
    this.sockets.filter((socket) => socket.browser === station.browser).forEach((socket) => this.drop(socket, true));
  }

  at(time, what) {
    this.number += 1;
    this.timers.push({ time, number: this.number, what });
    return this.number;
  }

  cancel(id) {
    this.timers = this.timers.filter((timer) => timer.number !== id);
  }

  /** Lets time pass until `done()` or the limit (ms). */
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
      next.what();
      await settle();
    }
    return true;
  }

  pass(millis) {
    return this.until(() => false, millis);
  }

  sleep(millis) {
    return new Promise((resolve) => this.at(this.time + millis, resolve));
  }

  connect(browser, socket, url) {
    Object.assign(socket, { browser, readyState: 0, kind: url.endsWith("/join") ? "standing" : "run", url });
    this.at(this.time + this.delay, () => {
      if (browser.dead || !this.reachable || (socket.kind === "run" && this.noRun)) {
        return this.drop(socket, true);
      }
      socket.readyState = 1;
      this.sockets.push(socket);
      socket.onopen();
    });
  }

  drop(socket, tell) {
    if (socket.readyState === 3) {
      return;
    }
    socket.readyState = 3;
    this.sockets = this.sockets.filter((other) => other !== socket);
    if (tell || !socket.browser.dead) {
      this.at(this.time + 1, () => socket.browser.dead || socket.onclose?.());
    }
  }

  /** The open socket of a kind. */
  socket(kind) {
    return this.sockets.find((socket) => socket.kind === kind) ?? null;
  }

  hear(socket, text) {
    const message = JSON.parse(text);
    if (NETBURN_MESSAGES) {
      appendFileSync(NETBURN_MESSAGES, `${socket.kind} ${text}\n`);
    }
    this.sent[socket.kind].push(message);
    this.at(this.time + this.delay, () => this[`on_${socket.kind}`]?.(message, socket));
  }

  tell(kind, message) {
    this.tellText(kind, JSON.stringify(message));
  }

  tellText(kind, data) {
    const socket = this.socket(kind);
    this.at(this.time + this.delay, () => socket?.readyState === 1 && socket.onmessage({ data }));
  }

  /** The server: objects come at `rate` bit/s each, in pieces of 16 KiB. */
  async fetch(browser, url, { signal } = {}) {
    await this.sleep(this.delay);
    if (!this.reachable) {
      throw new TypeError("Failed to fetch");
    }
    const nonce = /fleet=(\w+)/.exec(url)?.[1];
    if (nonce) {
      const fleet = answerTo(nonce, this.consents ? RUN_TOKEN : "another");
      const text = JSON.stringify({ schema: "netburn.consent/1", consents: true, fleet });
      return { status: 200, headers: new Map(), text: async () => text };
    }
    const size = Number(/\/bytes\/(\d+)\?/.exec(url)[1]);
    let left = size;
    const read = async () => {
      const piece = Math.min(left, 16384);
      await this.sleep(Math.max(0.01, (piece * 8e3) / this.rate));
      if (signal?.aborted || browser.dead) {
        throw new Error("aborted");
      }
      if (!this.reachable) {
        throw new TypeError("network error");
      }
      left -= piece;
      return piece > 0 ? { done: false, value: { byteLength: piece } } : { done: true };
    };
    return { status: 200, headers: new Map(), body: { getReader: () => ({ read }), cancel: async () => {} } };
  }

  async upload(browser, request, size) {
    let sent = 0;
    while (sent < size) {
      await this.sleep(50);
      if (request.aborted || browser.dead) {
        return;
      }
      sent = Math.min(size, sent + (this.rate * 0.05) / 8);
      request.upload.onprogress({ loaded: sent });
    }
    request.status = 200;
    request.onload();
  }
}

/** Lets everything happen that waits for nothing but its turn. */
async function settle() {
  for (let turns = 0; turns < 3; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A fleet with one run in it, as the controller and the run's keeper would play it. */
export class Fleet {
  constructor(world, assign, { start = 1000 } = {}) {
    Object.assign(this, { world, assign, start });
    this.rows = [];
    this.taken = 0;
    this.late = 0;
    this.stage = "none";
    this.at = null;
    world.on_standing = (message) => this.member(message);
    world.on_run = (message, socket) => this.participant(message, socket);
  }

  member(message) {
    const { world } = this;
    if (message.type === "enrol") {
      world.tell("standing", { type: "welcome", protocol: 1, version: "test", fleet: "home" });
      if (this.stage === "none") {
        this.stage = "summoned";
        world.tell("standing", { type: "summon", run: "r-1", name: message.name, token: RUN_TOKEN });
      }
      if (message.waiting) {
        world.tell("standing", { type: "deliver", run: "r-1" });
      }
    } else if (message.type === "late") {
      this.prove(message);
      // By the numbers from the first on, as what the run's keeper has is not known here.
      if (message.sequence !== this.late + 1) {
        throw new Error(`late rows ${message.sequence} after ${this.late}`);
      }
      this.late = message.sequence;
      this.take(message);
      world.tell("standing", { type: "kept", run: "r-1", sequence: this.late });
    } else if (message.type === "late-end") {
      this.prove(message);
      this.end = message;
      world.tell("standing", { type: "forget", run: "r-1" });
    }
  }

  /** Late results show that they are of who took part. */
  prove({ type, proof }) {
    const wanted = createHash("sha256").update(`late ${RUN_TOKEN}`).digest("hex");
    if (proof !== wanted) {
      throw new Error(`${type} with the proof ${proof}`);
    }
  }

  participant(message, socket) {
    const { world } = this;
    const say = (answer) => world.tell("run", answer);
    if (message.type === "hello" && message.again && world.time < (this.stubborn ?? 0)) {
      say({ type: "refused", reason: "`phone` has joined already" });
      this.refusals = (this.refusals ?? 0) + 1;
      world.drop(socket, true);
    } else if (message.type === "hello") {
      say({ type: "welcome", protocol: 1, version: "test", taken: this.taken });
      if (!message.again) {
        say({ type: "ping", id: 1 });
        say({ type: "assign", ...this.assign });
      }
    } else if (message.type === "pong") {
      this.pong = message;
    } else if (message.type === "ready") {
      this.ready = message;
      // As its own clock says, a second from now.
      if (this.start === null) {
        return;
      }
      this.at = this.pong.received + Math.round((world.time - this.pongAt()) * 1e6) + this.start * 1e6;
      say({ type: "start", at: this.at });
    } else if (message.type === "rows") {
      this.take(message);
      if (!this.deaf) {
        say({ type: "ack", sequence: this.taken });
      }
    } else if (message.type === "health") {
      this.health = message.health;
    } else if (message.type === "done") {
      this.done = message;
      say({ type: "bye", reason: "the run is over" });
    }
  }

  pongAt() {
    return this.pong.received / 1e6 + Math.floor(this.world.origin) - this.world.origin;
  }

  take({ sequence, batch }) {
    if (sequence <= this.taken) {
      return;
    }
    if (sequence !== this.taken + 1) {
      throw new Error(`rows ${sequence} after ${this.taken}`);
    }
    this.taken = sequence;
    this.rows.push(batch);
  }

  all(kind) {
    return this.rows.flatMap((batch) => batch[kind] ?? []);
  }
}
