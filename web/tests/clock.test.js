// The clock of the worker, with values derived by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Station, resolution } from "../station/station.js";
import { MODULE } from "./fake_browser.js";

test("a clock's zero survives a reload, and its nanoseconds are exact", () => {
  const first = { timeOrigin: 1795326063123.75, now: () => 10.5 };
  const zero = 1795326063123;
  const clock = (performance) => new Station(MODULE, zero, () => {}, { performance });
  assert.equal(clock(first).now(), 11250000);
  const reloaded = { timeOrigin: 1795326069000.25, now: () => 1.1 };
  assert.equal(clock(reloaded).now(), 5878350000);
  assert.ok(Number.isSafeInteger(clock({ timeOrigin: zero + 90 * 86400e3, now: () => 0 }).now()));
});

test("the resolution is the smallest observed step", () => {
  let calls = 0;
  const coarse = { now: () => Math.floor((calls += 0.02) * 10) / 10 };
  assert.ok(Math.abs(resolution(coarse) - 1e5) < 1e3);
  assert.ok(resolution(performance) >= 1);
});
