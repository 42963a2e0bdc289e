// Workloads over a data channel, in virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeBrowser, FakeFleet } from "./fake_browser.js";

const GAME = { interval: "15.625 ms", burst: 1, spacing: "0 s" };
const WORKLOADS = {
  voice: { kind: "voice", object_size: "172 B", interval: "20 ms", priority: "voice", goal: ["R 80"], timeout: "2 s" },
  game: { kind: "game", up: { ...GAME, size: "100 B" }, down: { ...GAME, size: "250 B" }, goal: ["100 ms", "no gap"], timeout: "2 s" },
  probe: { kind: "probe", object_size: "64 B", interval: "50 ms", outstanding: 1000, goal: [], timeout: "3 s" },
  near: { kind: "probe", object_size: "64 B", interval: "50 ms", outstanding: 1000, goal: [], timeout: "3 s", target: "near" },
};

function assignment(names) {
  const workload = Object.fromEntries(names.map((name) => [name, WORKLOADS[name]]));
  const plan = { name: "x", title: "A test", duration: "10 s", baseline: "1 s", drain: "3 s", seed: 7, server: { tls: false } };
  const station = { phone: { workload: names, start: "0 s" } };
  return { plan: { ...plan, station, workload }, stations: [0], target: { address: "192.0.2.1:4480", datagram_port: 4480 } };
}

/** Runs the workloads. The start is 3 s after the station is ready, so that the clocks are compared before. */
async function run(names, channel) {
  const browser = new FakeBrowser();
  browser.channel = channel;
  const fleet = new FakeFleet(browser, assignment(names), { start: 3000 });
  browser.station();
  assert.ok(await browser.until(() => Boolean(fleet.done), 40000));
  return { browser, fleet };
}

const operations = (fleet, workload) => fleet.all("operations").filter((row) => row[1] === workload);
const isUp = (row) => row[2] % 2 === 0;
const delay = (row) => row[7] - row[3];

test("voice, a game and a probe over a data channel", async () => {
  // The server loses every tenth packet up, and every twentieth down.
  const lose = (direction, number) => number % (direction === "up" ? 10 : 20) === 5;
  const { browser, fleet } = await run(["voice", "game", "probe", "near"], { delay: 20, lose });
  const answer = browser.answer.split("\r\n");
  for (const line of [`a=ice-ufrag:${"a".repeat(48)}`, `a=ice-pwd:${"b".repeat(43)}`, "a=candidate:1 1 udp 2130706431 192.0.2.1 4480 typ host"]) {
    assert.ok(answer.includes(line), line);
  }
  // 10 s of a packet every 20 ms, or 15.625 ms, from a phase within one interval: 500 and 640 per direction, except that the
  // phase down counts from the first packet up.
  for (const [workload, packets] of [[0, 500], [1, 640]]) {
    const rows = operations(fleet, workload);
    for (const [rows_, every] of [[rows.filter(isUp), 10], [rows.filter((row) => !isUp(row)), 20]]) {
      assert.ok(rows_.length >= packets - 1 && rows_.length <= packets, `${rows_.length} of ${packets}`);
      const lost = rows_.filter((row) => row[9] === "timed_out");
      assert.ok(lost.length >= packets / every - 1 && lost.length <= packets / every + 1, `${lost.length} lost`);
      assert.ok(lost.every((row) => Math.floor(row[2] / 2) % every === 5));
      const arrived = rows_.filter((row) => row[9] === "finished");
      assert.equal(arrived.length + lost.length, rows_.length);
      // 20 ms, and up to 1 ms of the browser's timers. Ages in reports are whole microseconds.
      assert.ok(arrived.every((row) => delay(row) >= 19.99e6 && delay(row) <= 21.1e6), `${arrived.map(delay)}`);
    }
  }
  const probes = operations(fleet, 2);
  // Every 50 ms for 10 s, each with a round trip of 40 ms.
  assert.ok(probes.length >= 199 && probes.length <= 200);
  assert.ok(probes.every((row) => row[9] === "finished" && delay(row) >= 40e6 && delay(row) <= 41.1e6));
  assert.equal(operations(fleet, 3).length, 0);
  const warnings = fleet.all("events").filter((row) => row[4] === "warning").map((row) => [row[1], row[5]]);
  assert.deepEqual(warnings.filter(([workload]) => workload < 4), [[3, "skipped: a browser sends datagrams only to the server"]]);
  assert.ok(fleet.ready.notes.includes("near of phone is skipped: a browser sends datagrams only to the server"));
  assert.equal(fleet.health.missed_sends, 0);
  const view = browser.views.findLast(({ workloads }) => workloads?.length === 4);
  assert.equal(view.workloads[0].details, `Median delay; this device counted 7\u00a0% of ${operations(fleet, 0).length} datagrams as lost`);
});

test("without a data channel, the page states why, and the workload has no rows", async () => {
  for (const [channel, reason] of [
    [{ webrtc: false }, "this browser has no WebRTC"],
    [{ error: "DataCloneError" }, "this browser cannot pass a data channel to a worker"],
    [{ blocked: true }, "UDP port 4480 of the server did not answer; a firewall may block it"],
    [{ rejects: "it is no SDP" }, "the browser rejects the connection: it is no SDP"],
    [{ status: 404 }, "the server has no data channels"],
    [{ status: 403 }, "the server rejected the offer of a data channel: status 403"],
  ]) {
    const { browser, fleet } = await run(["voice"], channel);
    assert.deepEqual(fleet.ready.reach, {});
    assert.ok(fleet.ready.notes.includes(`voice of phone is skipped: ${reason}`), `${fleet.ready.notes}`);
    assert.equal(operations(fleet, 0).length, 0);
    assert.ok(fleet.all("events").some((row) => row[1] === 0 && row[5] === `skipped: ${reason}`));
    const shown = browser.views.findLast(({ workloads }) => workloads?.length > 0).workloads;
    assert.deepEqual(shown.map(({ label, details }) => [label, details]), [["Voice", `Not measured: ${reason}`]]);
  }
});

test("a full channel drops datagrams, and they count as missed by the page", async () => {
  const browser = new FakeBrowser();
  browser.channel = { delay: 5 };
  const fleet = new FakeFleet(browser, assignment(["voice"]), { start: 3000 });
  browser.station();
  await browser.until(() => operations(fleet, 0).length > 100, 20000);
  browser.openedChannel.bufferedAmount = 80000;
  await browser.advance(1000);
  browser.openedChannel.bufferedAmount = 0;
  assert.ok(await browser.until(() => Boolean(fleet.done), 40000));
  // A packet every 20 ms for 1 s.
  assert.ok(fleet.health.missed_sends >= 49 && fleet.health.missed_sends <= 60, `${fleet.health.missed_sends}`);
});
