// Tests of single modules, with values derived by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectedResponse } from "../station/consent.js";
import { rateOf, segmentSize, selectRate } from "../station/dash.js";
import { Distribution } from "../station/health.js";
import { notes, obstacle } from "../station/limitations.js";
import * as messages from "../station/messages.js";
import { isName, normalizeName, suggestName } from "../station/names.js";
import { config, readAssignment } from "../station/plan.js";
import { Player } from "../station/player.js";
import { Result, worst } from "../station/result.js";
import { Batches, Bins, count, MAX_EVENTS, MAX_ROWS } from "../station/rows.js";
import { Connections } from "../station/connections.js";
import { candidates, findServer, origin } from "../station/origins.js";
import { Store } from "../station/store.js";
import { Transfers } from "../station/transfer.js";
import { streamRate } from "../station/video.js";

test("bytes are counted in the interval of their time", () => {
  const bins = new Bins(3, 1);
  assert.equal(bins.add(-3e7, 1, 0), null);
  assert.deepEqual(bins.add(0, 2, 1), [3, 1, -1e8, 1, 0]);
  assert.equal(bins.add(99e6, 3, 0), null);
  assert.equal(bins.ended(99e6), null);
  assert.deepEqual(bins.ended(1e8), [3, 1, 0, 5, 1]);
  assert.equal(bins.rest(), null);
});

test("batches have a limited size", () => {
  const batches = new Batches();
  for (let row = 0; row < MAX_ROWS + 5; row += 1) {
    batches.push("intervals", [0, 0, row, 1, 0]);
  }
  for (let row = 0; row < MAX_EVENTS + 1; row += 1) {
    batches.push("events", [0, null, row, 0, "warning", ""]);
  }
  assert.equal(batches.pending, MAX_ROWS + 5 + MAX_EVENTS + 1);
  assert.deepEqual(batches.take().map(count), [MAX_ROWS, 5 + MAX_EVENTS, 1]);
  assert.equal(batches.pending, 0);
  assert.deepEqual(batches.take(), []);
});

test("a quantile is at least the exact value and at most 1 % larger", () => {
  const histogram = new Distribution();
  assert.equal(histogram.quantile(0.99), 0);
  for (let micros = 1; micros <= 100000; micros += 7) {
    histogram.record(micros * 1e3);
  }
  for (const share of [0.01, 0.5, 0.9, 0.99]) {
    const rank = Math.ceil(histogram.count * share);
    const truth = 1 + (rank - 1) * 7;
    const found = histogram.quantile(share);
    assert.ok(found >= truth && found <= truth * 1.01 + 1, `${share}: ${found} for ${truth}`);
  }
  assert.equal(histogram.quantile(1), histogram.max);
  const again = new Distribution();
  again.restore(JSON.parse(JSON.stringify(histogram.save())));
  assert.equal(again.quantile(0.9), histogram.quantile(0.9));
});

test("startup and stalls of a player: 5 MB are the 2 s at 20 Mbit/s after which it starts", () => {
  const player = new Player({ start: 2e9, rate: 20e6, maxBuffer: 10e9 }, 1e9);
  player.handleBytes(3e9, 5e6);
  assert.equal(player.startup, 2e9);
  assert.equal(player.pollTimeout(), 5e9);
  player.handleTimeout(5e9);
  player.handleBytes(8e9, 5e6);
  assert.deepEqual(player.pollStall(), { began: 5e9, length: 3e9 });
  assert.equal(player.buffered(), 2e9);
  player.stop(11e9);
  assert.deepEqual(player.pollStall(), { began: 10e9, length: 1e9 });
  const neverStarted = new Player({ start: 2e9, rate: 20e6, maxBuffer: 10e9 }, 0);
  neverStarted.stop(7e9);
  assert.deepEqual(neverStarted.pollStall(), { began: 0, length: 7e9 });
});

const ALWAYS = { start: 0, stop: null, repeat: null };

test("verdicts follow the rules of the summary", () => {
  const goals = [{ kind: "latency", limit: 5e8 }];
  const load = { station: 0, workload: 0, name: "browsing", start: 0, warm: 0, first: 0, end: 1e12 };
  const judge = (latencies, others = []) => {
    const result = new Result(load, { goals, activity: ALWAYS });
    latencies.forEach((latency, at) => result.add("operations", [0, 0, at, 0, 0, null, 0, latency, 1, "finished", null]));
    others.forEach((outcome) => result.add("operations", [0, 0, 9, 0, null, null, null, null, 0, outcome, null]));
    return result.at(1e12);
  };
  const quick = Array(99).fill(1e8);
  assert.equal(judge([...quick, 1e9]).verdict, "pass");
  assert.equal(judge([...quick, 1000000001]).verdict, "marginal");
  assert.equal(judge(quick, ["not_started"]).verdict, "pass");
  assert.equal(judge(quick, ["not_started", "timed_out"]).verdict, "marginal");
  assert.equal(judge(quick.slice(0, 18), ["failed_dial"]).verdict, "fail");
  assert.equal(judge(quick.slice(0, 19), ["failed_dial"]).verdict, "marginal");
  assert.equal(judge([], ["cut"]).verdict, "inconclusive");
  assert.deepEqual([judge([3, 1, 2]).median, judge([3, 1, 2]).slowest], [2, 3]);
});

test("windows of a rate goal: from the first whole bin, in steps of 100 ms, up to the end", () => {
  const goals = [{ kind: "rate", atLeast: 8e6, window: 2e8, step: 1e8 }, { kind: "no-stall" }];
  const load = { station: 0, workload: 0, name: "tv", start: 0, warm: 5e7, first: 0, end: 6e8 };
  const result = new Result(load, { goals, activity: ALWAYS });
  // From 100 ms on: 100 kB in each 100 ms are exactly 8 Mbit/s.
  [1e5, 1e5, 5e4, 1e5].forEach((bytes, at) => result.add("intervals", [0, 0, (at + 1) * 1e8, bytes, 0]));
  const [rate, stall] = result.at(5.5e8).goals;
  assert.deepEqual([rate.samples, rate.within, rate.worst], [3, 1, 4 / 3]);
  assert.deepEqual([rate.verdict, stall.verdict], ["fail", "pass"]);
  result.add("events", [0, 0, 3e8, 4e6, "stall", ""]);
  assert.equal(result.at(5.5e8).goals[1].verdict, "marginal");
  result.add("events", [0, 0, 4e8, 4e6, "stall", ""]);
  assert.equal(result.at(5.5e8).goals[1].verdict, "fail");
});

// 1 MB in each 100 ms are 80 Mbit/s.
test("the throughput counts the bytes of the evaluated time, as in the summary", () => {
  const result = (load, activity = ALWAYS) => {
    const place = { station: 0, workload: 0, name: "download", first: load.start };
    const result = new Result({ ...place, ...load }, { goals: [], activity });
    for (let at = 0; at < 30e8; at += 1e8) {
      result.add("intervals", [0, 0, at, 1e6, 0]);
    }
    return result;
  };
  // The load ends at 1 s; the bytes of two more seconds of drain are not part of its rate.
  const whole = result({ start: 0, warm: 0, end: 1e9 });
  assert.deepEqual([whole.at(Infinity).rate, whole.at(Infinity).bytes], [80e6, 30e6]);
  // From 50 ms to 1,030 ms: half of the first interval, and three tenths of the last one.
  const partial = result({ start: 0, warm: 5e7, end: 103e7 });
  partial.add("intervals", [0, 0, 0, 1e6, 0]);
  assert.equal(partial.at(Infinity).rate, ((0.5 * 2 + 9 + 0.3) * 8e6) / 0.98);
  assert.equal(partial.at(5e7).rate, 0);
  // Windows of 200 ms every second: the pauses between them do not count.
  const paused = result({ start: 0, warm: 0, end: 21e8 }, { start: 0, stop: 2e8, repeat: 1e9 });
  assert.equal(paused.at(Infinity).rate, 80e6);
});

test("windows of a rate goal and stalls do not count in the pauses of a workload", () => {
  const goals = [{ kind: "rate", atLeast: 8e6, window: 2e8, step: 1e8 }, { kind: "no-stall" }];
  const activity = { start: 0, stop: 4e8, repeat: 1e9 };
  const result = new Result({ station: 0, workload: 0, name: "tv", start: 0, warm: 0, first: 0, end: 2e9 }, { goals, activity });
  [0, 1, 2, 3, 10, 11, 12, 13].forEach((bin) => result.add("intervals", [0, 0, bin * 1e8, 1e5, 0]));
  result.add("events", [0, 0, 5e8, 3e8, "stall", ""]);
  const [rate, stall] = result.at(Infinity).goals;
  // Three windows of two intervals each in four intervals.
  assert.deepEqual([rate.samples, rate.within, rate.verdict, stall.verdict], [6, 6, "pass", "pass"]);
});

test("a workload whose goals the page cannot judge says so", () => {
  const load = { station: 0, workload: 0, name: "game", start: 0, warm: 0, first: 0, end: 1e9 };
  const game = (goals) => new Result(load, { kind: "game", goals, activity: ALWAYS }).at(1e9).verdict;
  assert.deepEqual([game([{ kind: "no-gap" }]), game([])], ["report", "none"]);
  assert.deepEqual([worst(["report", "none"]), worst(["report", "pass", "fail"])], ["report", "fail"]);
});

test("the order and the seed of a plan are preserved for all names", () => {
  const text = `{"type":"assign","stations":[1],"plan":{"name":"x","duration":"1 min","baseline":"3 s","drain":"5 s",
    "warmup":"0 s","seed":18446744073709551615,"server":{"tls":false},
    "station":{"tv":{"workload":["voip"],"start":"0 s"},"7":{"workload":["9","voip"],"start":"2 s","stop":"2 min"}},
    "workload":{"voip":{"kind":"calls","object_size":"16 KiB","interval":"131.072 ms","jitter":"0 s","connections":"keep",
    "outstanding":8,"priority":"voice","cc":"bbr","goal":["150 ms"],"timeout":"30 s"},
    "9":{"kind":"probe","object_size":"64 B","interval":"50 ms","jitter":"0 s","outstanding":1000,"priority":"voice",
    "goal":[]}}}}`;
  const assignment = readAssignment(messages.decode(text));
  assert.equal(assignment.seed, "18446744073709551615");
  const [station] = assignment.stations;
  assert.deepEqual([station.number, station.name, station.start, station.end, station.settle], [1, "7", 2e9, 60e9, 65e9]);
  assert.deepEqual(
    station.workloads.map(({ name, config }) => [name, config.kind]),
    [
      ["9", "probe"],
      ["voip", "calls"],
    ],
  );
  const { config } = station.workloads[1];
  assert.deepEqual([config.interval, config.outstanding, config.objectSize], [131072000, 8, 16384]);
  assert.deepEqual(config.goals, [{ kind: "latency", limit: 15e7 }]);
  assert.equal(config.dscp, 48, "that of the priority");
  const ofProbe = notes(assignment, 1e5, "no WebRTC").filter((note) => note.includes("9 of 7"));
  assert.deepEqual(ofProbe, ["9 of 7 is skipped: no WebRTC"], "and no note about its priority");
  assert.ok(notes(assignment, 1e5).some((note) => note.includes("steps by 100 µs")));
  assert.ok(notes(assignment, 1e5).some((note) => note.startsWith("a browser cannot set a DSCP: for voip of 7, ")));
  const open = notes(assignment, 1e5);
  assert.ok(open.includes("a browser cannot set a DSCP: for 9 of 7, only the server's responses have it"));
  assert.ok(open.some((note) => note.startsWith("datagrams of a browser are messages of a WebRTC data channel")));
  const ofControl = open.filter((note) => note.includes("select a congestion control"));
  assert.deepEqual([config.cc, ofControl.length, ofControl[0].includes("voip of 7")], ["bbr", 1, true]);
  assert.throws(() => readAssignment(messages.decode(text.replace('"bbr"', '"bbr&n=1"'))), /invalid name of a congestion control/);
  assert.throws(() => readAssignment({ ...messages.decode(text), stations: [2] }), /no station 2/);
});

test("a request contains the DSCP of its response and its station", () => {
  const requested = [];
  class XMLHttpRequest {
    upload = {};
    open = (_, url) => requested.push(url);
    send() {}
  }
  const fetch = async (url) => {
    requested.push(url);
    throw new TypeError("no network");
  };
  const transfers = new Transfers(["http://server"], null, { fetch, XMLHttpRequest });
  const begin = (direction, dscp, slot, cc = null) =>
    transfers.begin({ station: 3, owner: "3.0", lane: 0, direction, priority: "best-effort", dscp, slot, cc, size: 9 }, { failed() {}, bytes() {} });
  begin("down", 0, 0);
  begin("down", 0, null);
  begin("down", 40, 0);
  begin("down", 48, null);
  begin("up", 0, 0);
  begin("up", 0, null);
  begin("up", 8, 0);
  begin("up", 48, null);
  begin("up", 40, 0, "bbr");
  begin("down", 0, null, "reno");
  assert.deepEqual(
    requested.map((url) => url.slice("http://server".length)),
    ["/bytes/9?n=1", "/bytes/9?n=2&close", "/bytes/9?n=3&dscp=40", "/bytes/9?n=4&dscp=48&close"]
      .concat(["/sink?", "/sink?close", "/sink?dscp=8", "/sink?dscp=48&close"])
      .concat(["/sink?dscp=40&cc=bbr", "/bytes/9?n=10&cc=reno&close"])
      .map((path) => `${path}${path.endsWith("?") ? "" : "&"}station=3`),
  );
});

test("texts are truncated at the end of a character", () => {
  assert.equal(messages.truncate("abc"), "abc");
  const long = messages.truncate("é".repeat(5000));
  assert.ok(new TextEncoder().encode(long).length <= 4096 && long.length > 1900);
  assert.ok(!/[\uD800-\uDBFF]$/.test(messages.truncate(`x${"\u{1F600}".repeat(3000)}`)));
});

test("names", () => {
  const phone = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36";
  assert.equal(suggestName(phone, () => 0.31), "phone-4f");
  assert.equal(suggestName("Mozilla/5.0 (X11; Linux x86_64)", () => 0), "laptop-00");
  assert.equal(suggestName("", () => 0.999), "station-ff");
  assert.equal(normalizeName("  Anna's phone "), "Anna's-phone");
  assert.equal(normalizeName("Küche 2"), "Kuche-2");
  assert.ok(isName("tv-1") && !isName("") && !isName("a b") && !isName("<b>") && !isName("x".repeat(65)));
});

/** The two storages of a browser, and its address. */
function browser(hash, tab = new Map(), device = new Map()) {
  const store = (map) => ({
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => map.set(key, value),
    removeItem: (key) => map.delete(key),
    key: (at) => [...map.keys()][at],
    get length() {
      return map.size;
    },
  });
  const replaced = [];
  return {
    location: { hash, pathname: "/" },
    history: { replaceState: (_state, _title, path) => replaced.push(path) },
    sessionStorage: store(tab),
    localStorage: store(device),
    replaced,
    tab,
    device,
  };
}

test("the token is removed from the address and stored", () => {
  const token = "abcDEF0123456789_-abcd";
  const first = browser(`#${token}.fingerprint`);
  assert.equal(new Store(first).token(), token);
  assert.deepEqual(first.replaced, ["/"]);
  assert.equal(new Store(browser("", first.tab, first.device)).token(), token, "a reload");
  assert.equal(new Store(browser("", new Map(), first.device)).token(), token, "another tab");
  assert.equal(new Store(browser("#x")).token(), "");
  assert.equal(new Store(browser("#<script>alert(1)</script>")).token(), "");
});

test("entries of runs are separate from other keys, and a disabled storage is tolerated", () => {
  const one = browser("");
  const store = new Store(one);
  store.store({ "run.a": "1", "rows.a.1": "2" });
  store.store({ "rows.a.1": null });
  store.name = "tv";
  assert.deepEqual(store.entries(), { "run.a": "1" });
  assert.equal(store.zero(5), 5);
  assert.equal(store.zero(9), 5);
  const forbidding = {
    get sessionStorage() {
      throw new Error("no");
    },
    get localStorage() {
      throw new Error("no");
    },
    location: { hash: "" },
  };
  const none = new Store(forbidding);
  none.name = "x";
  none.joined = true;
  assert.deepEqual([none.token(), none.name, none.joined, none.zero(7)], ["", null, false, 7]);
  assert.deepEqual(none.entries(), {});
});

test("a server at an unspecified address is at the host of the page", () => {
  assert.equal(origin("192.168.1.5:4480", "x"), "http://192.168.1.5:4480");
  assert.equal(origin("[2001:db8::1]:4480", "x"), "http://[2001:db8::1]:4480");
  assert.equal(origin("0.0.0.0:4480", "192.168.1.5"), "http://192.168.1.5:4480");
  assert.equal(origin("[::]:4480", "[fe80::1]"), "http://[fe80::1]:4480");
});

test("a server is found at its other addresses, and each of its ports must consent", async () => {
  const target = { address: "192.168.1.5:4480", alternatives: ["fd00::5", "10.0.0.5"], more_ports: [4489, 4490, "x"] };
  const tried = candidates(target, "x");
  assert.deepEqual(tried, ["http://192.168.1.5:4480", "http://[fd00::5]:4480", "http://10.0.0.5:4480"]);
  const fetch = (reachable) => async (url) => {
    const { origin, searchParams } = new URL(url);
    if (!reachable.includes(origin)) {
      throw new TypeError("unreachable");
    }
    const token = origin.endsWith("4490") ? "another" : "token";
    const text = JSON.stringify({ schema: "netburn.consent/1", consents: true, fleet: expectedResponse(searchParams.get("fleet"), token) });
    return { status: 200, headers: new Map(), text: async () => text };
  };
  const find = (reachable) => findServer(target, tried, ["token"], fetch(reachable));
  const six = ["http://[fd00::5]:4480", "http://[fd00::5]:4489", "http://[fd00::5]:4490"];
  assert.deepEqual(await find(six), { origins: six.slice(0, 2) });
  assert.deepEqual(await find(["http://192.168.1.5:4480", ...six]), { origins: ["http://192.168.1.5:4480"] });
  assert.match((await find([])).error, /192\.168\.1\.5:4480 cannot be reached/);
  assert.throws(() => candidates({ address: "192.168.1.5:4480", alternatives: ["evil.test"] }, "x"), TypeError);
});

test("a request waits for a connection behind those of other workloads only", () => {
  const connections = new Connections();
  let now = 0;
  const waits = [];
  const request = (owner) => connections.request(owner, () => now, (nanos) => waits.push([owner, nanos]));
  const page = Array.from({ length: 8 }, () => request("page"));
  const call = request("call");
  now = 5;
  page[6]();
  page[0]();
  // Five objects are left before the call.
  page[7]();
  assert.deepEqual(waits, [["call", 5]]);
  const second = request("call");
  const third = request("call");
  now = 9;
  third();
  second();
  call();
  assert.deepEqual(waits, [["call", 5], ["call", 4], ["call", 4]]);
  assert.equal(connections.requests.length, 5);
});

test("a browser skips workloads that it cannot run", () => {
  const section = { kind: "responsiveness", interval: "100 ms", goal: ["1000 rpm"], timeout: "5 s" };
  const probes = config(section);
  assert.deepEqual(probes.goals, [{ kind: "rpm", atLeast: 1000 }]);
  assert.equal(obstacle(probes, null), "a browser does not measure the handshakes of its connections");
  assert.equal(obstacle(config({ kind: "calls", interval: "50 ms" }), null), null);
});

test("the frames of a video call are its operations", () => {
  const stream = { interval: "33.333333 ms", burst: 10, size: "1000 B" };
  const section = (adaptation) => ({ kind: "video-call", up: stream, down: stream, adaptation, goal: ["no freeze"] });
  const call = config(section({ min_rate: "50 kbit/s", start_rate: "300 kbit/s" }));
  assert.equal(obstacle(call, null), null);
  assert.equal(obstacle(call, "no channel"), "no channel");
  assert.deepEqual(call.packets.up, { interval: 33333333, burst: 1, spacing: 0, size: 10_000 });
  assert.deepEqual(call.video.adaptation, { minRate: 50_000, startRate: 300_000 });
  // 80,000 bits in 33.333333 ms.
  assert.equal(streamRate(call.video.up), 2_400_000);
  assert.throws(() => config(section({ min_rate: "2 Mbit/s", start_rate: "1 Mbit/s" })), /range of the rate/);
  assert.equal(config(section({ min_rate: "1 Mbit/s", start_rate: "8 Gbit/s" })).video.adaptation.startRate, 2 ** 32 - 1);
});

test("adaptive streaming selects the bit rate by the buffer (BBA-0)", () => {
  const s = 1e9;
  const dash = { ladder: [1e6, 2e6, 4e6, 8e6], segment: 4 * s, reservoir: 5 * s, cushion: 10 * s };
  // The map rises by 0.7 Mbit/s per second of the buffer from 1 Mbit/s at 5 s.
  for (const [level, previous, expected] of [
    [0, 8e6, 1e6],
    [5 * s, 1e6, 1e6],
    // 1.98 Mbit/s has not passed 2 Mbit/s.
    [6.4 * s, 1e6, 1e6],
    // 4.5 Mbit/s: the highest bit rate below is 4 Mbit/s.
    [10 * s, 1e6, 4e6],
    // The next bit rate down is 2 Mbit/s, which 2.4 Mbit/s has not passed.
    [7 * s, 4e6, 4e6],
    // 1.7 Mbit/s: the lowest bit rate above is 2 Mbit/s.
    [6 * s, 4e6, 2e6],
    [15 * s, 1e6, 8e6],
  ]) {
    assert.equal(selectRate(dash, level, previous), expected, `${level / s} s after ${previous}`);
  }
  assert.equal(segmentSize(dash, 1e6), 500_000);
  assert.equal(rateOf(dash, 4_000_000), 8e6);
  assert.equal(rateOf(dash, 4_000_001), null);
});

test("invalid settings of adaptive streaming are rejected", () => {
  const dash = {
    ladder: ["1 Mbit/s", "2 Mbit/s"], segment: "4 s", start: "4 s", max_buffer: "30 s", reservoir: "5 s", cushion: "10 s",
  };
  const section = (change) => ({ kind: "dash", goal: ["no stall", "2 Mbit/s"], dash: { ...dash, ...change } });
  assert.deepEqual(config(section({})).dash.ladder, [1e6, 2e6]);
  assert.equal(obstacle(config(section({})), null), null);
  for (const change of [
    { ladder: [] },
    { ladder: ["2 Mbit/s", "1 Mbit/s"] },
    { ladder: ["1 bit/s"] },
    { segment: "1 ms" },
    { max_buffer: "7 s" },
    { cushion: "0 s" },
    { start: "0 s" },
  ]) {
    assert.throws(() => config(section(change)), /invalid adaptive streaming/, JSON.stringify(change));
  }
});

test("the goal for the bit rate of segments counts complete ones", () => {
  const settings = config({
    kind: "dash",
    goal: ["2 Mbit/s"],
    dash: { ladder: ["1 Mbit/s", "2 Mbit/s"], segment: "4 s", start: "4 s", max_buffer: "30 s", reservoir: "5 s", cushion: "10 s" },
  });
  const result = new Result({ station: 0, workload: 0, name: "film", start: 0, warm: 0, first: 0, end: 60e9 }, settings);
  const row = (due, bytes, outcome) => [0, 0, 0, due, due, null, due, due + 1e9, bytes, outcome];
  result.add("operations", row(0, 500_000, "finished"));
  result.add("operations", row(4e9, 1_000_000, "finished"));
  result.add("operations", row(8e9, 700_000, "timed_out"));
  const [goal] = result.at(60e9).goals;
  assert.deepEqual([goal.samples, goal.within, goal.verdict], [3, 1, "fail"]);
  // One segment of 200 at a third of the goal: too slow for a pass.
  const lower = config({
    kind: "dash",
    goal: ["6 Mbit/s"],
    dash: { ladder: ["2 Mbit/s", "6 Mbit/s"], segment: "4 s", start: "4 s", max_buffer: "30 s", reservoir: "5 s", cushion: "10 s" },
  });
  const mostly = new Result({ station: 0, workload: 0, name: "film", start: 0, warm: 0, first: 0, end: 800e9 }, lower);
  for (let number = 0; number < 200; number += 1) {
    mostly.add("operations", row(number * 4e9, number === 0 ? 1_000_000 : 3_000_000, "finished"));
  }
  assert.equal(mostly.at(800e9).goals[0].verdict, "marginal");
});
