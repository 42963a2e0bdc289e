// Malformed and malicious messages: a station ignores them and keeps its limits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeFleet, FakeBrowser } from "./fake_browser.js";

const VOIP = { kind: "calls", object_size: "16 KiB", interval: "131.072 ms", outstanding: 8, goal: ["150 ms"], timeout: "30 s" };

function assignment() {
  const plan = { name: "x", duration: "10 s", baseline: "0 s", drain: "1 s", seed: 7 };
  const station = { phone: { workload: ["voip"], start: "0 s" } };
  const target = { address: "192.0.2.1:4480", datagram_port: 4480 };
  return { plan: { ...plan, station, workload: { voip: VOIP } }, stations: [0], target };
}

/** A small seeded generator, so that failures are reproducible. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TYPES = ["welcome", "rejected", "ping", "assign", "start", "ack", "stop", "invite", "request-results", "discard", "__proto__"];
const VALUES = [null, -1, 0, 1.5, 2 ** 60, "", "x", "192.0.2.1:4480", [], [0], [1e9], {}, { station: null }, true];
const FIELDS = ["code", "reason", "last_sequence", "id", "plan", "stations", "target", "at", "sequence", "run", "name", "token", "fleet"];

function message(pick) {
  if (pick(8) === 0) {
    return ["", "null", "[]", "{", "7", '"x"', '{"type":7}', `{"type":"assign","plan":${"[".repeat(3000)}`][pick(8)];
  }
  const fields = FIELDS.filter(() => pick(3) > 0).map((field) => [field, VALUES[pick(VALUES.length)]]);
  return JSON.stringify({ type: TYPES[pick(TYPES.length)], ...Object.fromEntries(fields) });
}

test("malformed messages at any time do not break a station", async () => {
  const failures = [];
  const note = (error) => failures.push(error);
  process.on("unhandledRejection", note);
  for (let seed = 1; seed <= 60; seed += 1) {
    const pick = random(seed);
    const browser = new FakeBrowser();
    const fleet = new FakeFleet(browser, assignment(), { start: 200 });
    fleet.receive = () => {};
    browser.station();
    for (let turn = 0; turn < 60; turn += 1) {
      await browser.advance(pick(200));
      browser.sendText(["standing", "run"][pick(2)], message(pick));
    }
    await browser.advance(1000);
    assert.ok(browser.views.length > 0);
  }
  process.off("unhandledRejection", note);
  assert.deepEqual(failures, []);
});
