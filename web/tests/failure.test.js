// The worker with a module that traps, and with servers that send without end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeBrowser, FakeFleet } from "./fake_browser.js";

/** A section of a module in the binary format of WebAssembly: its items, each with its length if `isCode`. */
const section = (id, items) => [id, items.flat().length + 1, items.length, ...items.flat()];
const name = (text) => [text.length, ...Buffer.from(text)];

/** A module whose function `page_handle` traps, and whose other functions return 0. */
function trapping() {
  const [I32, F64] = [0x7f, 0x7c];
  const types = [[I32], [F64], []].map((parameters) => [0x60, parameters.length, ...parameters, 1, I32]);
  const functions = [["page_input", 0], ["page_handle", 1], ["page_output", 2], ["page_transmit", 2]];
  const exported = functions.map(([text], index) => [...name(text), 0, index]);
  const [zero, unreachable] = [[4, 0, 0x41, 0, 0x0b], [3, 0, 0x00, 0x0b]];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(3, functions.map(([, type]) => [type])),
    ...section(5, [[0, 1]]),
    ...section(7, [...exported, [...name("memory"), 2, 0]]),
    ...section(10, functions.map(([text]) => (text === "page_handle" ? unreachable : zero))),
  ]);
}

test("a trap of the module is reported to the page", async () => {
  const posted = [];
  const file = { arrayBuffer: async () => trapping() };
  Object.assign(globalThis, { WorkerGlobalScope: class {}, fetch: async () => file, postMessage: (effect) => posted.push(effect) });
  await import("../station/station.js?worker");
  // The browser passes a rejection that nothing handles to `onunhandledrejection`.
  await assert.rejects(globalThis.onmessage({ data: { zero: 1, load: {} } }), WebAssembly.RuntimeError);
  globalThis.onunhandledrejection();
  assert.deepEqual(posted, [{ do: "fail" }]);
});

test("a document without an end is no consent, and its request is aborted", async () => {
  const browser = new FakeBrowser();
  browser.endless = true;
  const plan = { name: "x", duration: "1 s", baseline: "0 s", drain: "1 s", seed: 7, station: { phone: { workload: ["voip"] } } };
  const target = { address: "192.0.2.1:4480", datagram_port: 4480 };
  const fleet = new FakeFleet(browser, { plan, stations: [0], target }, { start: 200 });
  browser.station();
  assert.ok(await browser.until(() => Boolean(fleet.ready), 4000));
  assert.equal(fleet.ready.reach.tcp, "the response is not from a netburn server");
  assert.ok(browser.documentBytes < 70000, `${browser.documentBytes}`);
});
