// Workloads over a data channel, in virtual time, and the parts of the data channel.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ClockOffset } from "../station/clock_offset.js";
import { checkAnswer } from "../station/data_channel.js";
import * as wire from "../station/datagram_wire.js";
import { offset, packetsWithin } from "../station/packet_stream.js";
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

test("the datagrams of a video call have the documented format", () => {
  const hexOf = (array) => Array.from(array, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const packet = { transport: 258, frame: 3, index: 1, count: 2, size: 48 };
  const media = wire.media(7n, packet);
  assert.equal(
    hexOf(media),
    `4e42524e01090000${"00".repeat(7)}07${"00000003"}${"00".repeat(8)}${"00".repeat(6)}0102${"0001"}${"0002"}${"00".repeat(8)}`,
  );
  assert.deepEqual(wire.read(media), { kind: "media", call: 7n, due: 0, packet });
  const feedback = { stamp: 1e9, from: 5, ages: [2000, null] };
  const bytes = wire.feedback(7n, feedback);
  assert.equal(
    hexOf(bytes),
    `4e42524e010a0000${"00".repeat(7)}07${"00".repeat(7)}05${"000000003b9aca00"}${"00000002"}${"ffffffff"}`,
  );
  assert.deepEqual(wire.read(bytes), { kind: "feedback", call: 7n, feedback });
  // Not a multiple of 4, and more than 300 ages.
  assert.equal(wire.read(bytes.slice(0, 39)), null);
  assert.equal(wire.read(wire.feedback(7n, { ...feedback, ages: Array(301).fill(null) })), null);
  assert.equal(wire.read(media.slice(0, 39)), null);
  // Numbers that are not exact.
  assert.equal(wire.read(wire.media(7n, { ...packet, transport: Number.MAX_SAFE_INTEGER })), null);
  assert.equal(wire.read(wire.feedback(7n, { ...feedback, from: Number.MAX_SAFE_INTEGER })), null);
  const request = { call: 7n, anchor: 0, until: 1, from: 0, dscp: 0, stamp: 0, video: { minRate: 1, startRate: 2, timeout: 3 } };
  const stream = { interval: 1e7, burst: 3, spacing: 0, size: 1100 };
  const encoded = wire.request(new Uint8Array(16), { ...request, stream }, 1);
  assert.equal(encoded.length, 84);
  assert.equal(encoded[55], 1);
  assert.equal(hexOf(encoded.slice(72)), "000000010000000200000003");
});

test("the format of datagrams is that of the server", () => {
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => Number.parseInt(pair, 16));
  const hexOf = (array) => Array.from(array, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const [cookie, header] = [bytes("03".repeat(16)), (kind) => `4e42524e010${kind}0000`];
  assert.equal(hexOf(wire.hello(0x0102030405060708n)), `${header(1)}0102030405060708${"00".repeat(48)}`);
  const probe = wire.probe(cookie, 77n, 64, 48);
  assert.equal(hexOf(probe), `${header(3)}${"03".repeat(16)}000000000000004d30${"00".repeat(31)}`);
  const request = { call: 7n, anchor: -5, until: 100, from: 40, dscp: 48, stamp: 77 };
  const stream = { interval: 2e7, burst: 5, spacing: 300000, size: 172 };
  // Cookie, call, anchor, interval (20 ms = 0x1312d00), until, from, size, DSCP, stamp, spacing (300 µs = 0x493e0), burst.
  const expected = [
    header(5), "03".repeat(16), "0000000000000007", "fffffffffffffffb", "01312d00", "00000064", "00000028", "00ac", "30", "00",
    "000000000000004d", "000493e0", "0005", "0000", "00000000",
  ];
  assert.equal(hexOf(wire.request(cookie, { ...request, stream }, 1)), expected.join(""));
  assert.equal(hexOf(wire.up(7n, 5, 32)), `${header(7)}000000000000000700000005${"00".repeat(12)}`);
  assert.equal(wire.up(7n, 5, 9999).length, 1400);
  const down = wire.read(bytes(`${header(8)}000000000000000700000006fffffffffffffff8${"00".repeat(4)}`));
  assert.deepEqual(down, { kind: "down", call: 7n, number: 6, due: -8 });
  const times = "0000000000000009000000000000000a";
  const report = `${header(6)}${times}0000000000000007${"00".repeat(16)}0000002800000000000000000000004d${"00".repeat(8)}`;
  assert.deepEqual(wire.read(bytes(`${report}ffffffff000005dc`)), {
    kind: "report", call: 7n, stamp: 77, received: 9, sent: 10, from: 40, ages: 2, arrivals: [{ number: 41, age: 1500000 }],
  });
  for (const wrong of ["", "00".repeat(64), `${header(8)}00`, report.slice(0, -2), `4e42524e0208${"00".repeat(58)}`, "00".repeat(1401)]) {
    assert.equal(wire.read(bytes(wrong || "00").slice(wrong ? 0 : 1)), null, wrong);
  }
});

test("packets within a time", () => {
  const stream = { interval: 100, burst: 3, spacing: 10, size: 100 };
  assert.deepEqual([0, 1, 2, 3, 7].map((number) => offset(stream, number)), [0, 10, 20, 100, 210]);
  // Due at 0, 10, 20, 100, …; the number counts those before the time.
  assert.deepEqual([0, 1, 10, 11, 21, 99, 100, 101].map((span) => packetsWithin(stream, span)), [0, 1, 1, 2, 3, 3, 3, 4]);
});

test("the exchange with the smallest bound of the error determines the offset", () => {
  const clocks = new ClockOffset();
  const put = (...times) => {
    const [sent, farReceived, farSent, received] = times.map((millis) => millis * 1e6);
    clocks.put({ sent, farReceived, farSent, received });
  };
  assert.equal(clocks.toServer(0), null);
  // 1 s ahead, 10 ms in each direction. Then 10 ms and 50 ms, which would be 20 ms less.
  put(0, 1010, 1015, 25);
  put(100, 1110, 1110, 160);
  assert.equal(clocks.toServer(5e6), 1005e6);
  assert.equal(clocks.toPage(1005e6), 5e6);
  // After 10,000 s the first exchange has a bound of 10 + 500 ms.
  put(1e7, 1e7 + 1010, 1e7 + 1010, 1e7 + 60);
  assert.equal(clocks.toServer(0), 980e6);
  put(10, 0, 0, 5);
  assert.equal(clocks.toServer(0), 980e6, "an impossible exchange is ignored");
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
