// Workloads over a data channel, in virtual time, and the parts of the data channel.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAnswer } from "../station/data_channel.js";
import { PeerConnections, answerSdp, certificateOf } from "../station/peer_connection.js";
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
  assert.deepEqual(browser.answer, {
    ufrag: "a".repeat(48),
    password: "b".repeat(43),
    certificate: "08".repeat(32),
    port: 4480,
    host: "192.0.2.1",
  });
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
  assert.equal(view.workloads[0].line, `Median delay; this device counted 7\u00a0% of ${operations(fleet, 0).length} datagrams as lost`);
});

test("without a data channel, the page states why, and the workload has no rows", async () => {
  for (const [channel, reason] of [
    [{ error: "this browser has no WebRTC" }, "this browser has no WebRTC"],
    [{ blocked: true }, "UDP port 4480 of the server did not answer; a firewall may block it"],
    [{ rejects: "the answer is no SDP" }, "the answer is no SDP"],
    [{ status: 404 }, "the server has no data channels"],
    [{ status: 403 }, "the server rejected the offer of a data channel: status 403"],
  ]) {
    const { browser, fleet } = await run(["voice"], channel);
    assert.deepEqual(fleet.ready.reach, {});
    assert.ok(fleet.ready.notes.includes(`voice of phone is skipped: ${reason}`), `${fleet.ready.notes}`);
    assert.equal(operations(fleet, 0).length, 0);
    assert.ok(fleet.all("events").some((row) => row[1] === 0 && row[5] === `skipped: ${reason}`));
    const shown = browser.views.findLast(({ workloads }) => workloads?.length > 0).workloads;
    assert.deepEqual(shown.map(({ label, line }) => [label, line]), [["Voice", `Not measured: ${reason}`]]);
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

const ANSWER = { ufrag: "U".repeat(48), password: "p".repeat(43), certificate: "0a".repeat(32), port: 4480 };

test("the page connects, passes the channel to the worker, and answers its own offer", async () => {
  const posted = [];
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
      this.localDescription = { sdp: `v=0\r\na=mid:data\r\na=fingerprint:sha-256 ${Array(32).fill("AB").join(":")}\r\n` };
    }
    async setRemoteDescription(description) {
      this.remote = description;
    }
    close() {
      this.closed = true;
    }
  }
  const page = new PeerConnections((message, transfer) => posted.push([message.channel, transfer]), { RTCPeerConnection });
  await page.handle({ number: 3, open: true });
  assert.deepEqual(made[0].options, { negotiated: true, id: 0, ordered: false, maxRetransmits: 0 });
  assert.deepEqual(posted[0][1], [{ label: "netburn" }]);
  assert.deepEqual(posted[1][0], { number: 3, certificate: "ab".repeat(32) });
  await page.handle({ number: 3, answer: { ...ANSWER, host: "192.0.2.1" } });
  const lines = made[0].remote.sdp.split("\r\n");
  for (const line of ["a=mid:data", "a=ice-lite", "a=setup:passive", "a=candidate:1 1 udp 2130706431 192.0.2.1 4480 typ host"]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(lines.includes(`a=fingerprint:sha-256 ${Array(32).fill("0A").join(":")}`));
  await page.handle({ number: 3, close: true });
  assert.ok(made[0].closed);
  await new PeerConnections((message) => posted.push([message.channel]), {}).handle({ number: 4, open: true });
  assert.deepEqual(posted.at(-1)[0], { number: 4, error: "this browser has no WebRTC" });
  assert.equal(certificateOf("a=fingerprint:sha-1 AB:CD\r\n"), null);
  assert.ok(answerSdp("a=mid:0\r\n", { ...ANSWER, host: "2001:db8::1" }).includes("udp 2130706431 2001:db8::1 4480 typ host"));
});

test("an answer with other characters than those of ICE is rejected", () => {
  const answer = { schema: "netburn.channel/1", ...ANSWER };
  assert.deepEqual(checkAnswer(answer), ANSWER);
  const wrong = [
    { schema: "netburn.channel/2" }, { ufrag: "a\r\na=x" }, { password: 7 }, { certificate: "0A".repeat(32) }, { port: 0 }, { port: "4480" },
  ];
  for (const change of wrong) {
    assert.throws(() => checkAnswer({ ...answer, ...change }), /invalid answer/, JSON.stringify(change));
  }
  assert.throws(() => checkAnswer(null), /invalid answer/);
});
