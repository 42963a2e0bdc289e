// Complete runs of a station in virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeFleet, FakeBrowser } from "./fake_browser.js";

const WORKLOADS = {
  browsing: {
    kind: "pages",
    objects: 10,
    object_size: "16 KiB",
    interval: "3 s",
    jitter: "500 ms",
    connections: "new",
    goal: ["500 ms"],
    timeout: "30 s",
  },
  tv: {
    kind: "stream",
    object_size: "1 MiB",
    interval: "335.54432 ms",
    connections: "keep",
    player: { start: "2 s", rate: "20 Mbit/s", max_buffer: "10 s" },
    goal: ["20 Mbit/s", "no stall"],
    timeout: "30 s",
  },
  voip: {
    kind: "calls",
    object_size: "16 KiB",
    interval: "131.072 ms",
    jitter: "0 s",
    connections: "keep",
    outstanding: 8,
    goal: ["150 ms"],
    timeout: "30 s",
  },
  download: { kind: "download", object_size: "1 GiB", connections: "keep", goal: [], timeout: "30 s" },
  upload: { kind: "upload", object_size: "1 MiB", connections: "keep", goal: [], timeout: "30 s" },
  probe: { kind: "probe", object_size: "64 B", interval: "50 ms", jitter: "0 s", outstanding: 1000, goal: [], timeout: "3 s" },
};

function assignment(names, { duration = "10 s", baseline = "600 ms", ports = [4489, 4490, 4491, 4492] } = {}) {
  const workload = Object.fromEntries(names.map((name) => [name, { ...WORKLOADS[name], priority: "best-effort" }]));
  const station = { phone: { workload: names, start: "0 s" } };
  const plan = { name: "x", title: "A test", duration, baseline, drain: "2 s", warmup: "0 s", seed: 7, server: { tls: false } };
  return {
    plan: { ...plan, station, workload },
    stations: [0],
    target: { address: "192.0.2.1:4480", datagram_port: 4480, more_ports: ports },
  };
}

/** The operations of one workload. Checks that each sequence number occurs once. */
function operations(fleet, workload) {
  const rows = fleet.all("operations").filter((row) => row[1] === workload);
  rows.sort((a, b) => a[2] - b[2]);
  rows.forEach((row, at) => assert.equal(row[2], at, `operation ${at} of workload ${workload} occurs once`));
  return rows;
}

const warnings = (fleet) => fleet.all("events").filter((row) => row[4] === "warning");
const over = (fleet) => () => Boolean(fleet.done);

test("a complete run with all workloads", async () => {
  const browser = new FakeBrowser({ rate: 60e6 });
  const fleet = new FakeFleet(browser, assignment(["browsing", "tv", "voip", "download", "upload", "probe"]));
  browser.station();
  assert.ok(await browser.until(over(fleet), 30000));
  assert.deepEqual(fleet.ready.reach, {});
  assert.ok(fleet.ready.notes.some((note) => note.includes("6 connections to one port") && note.includes("of its own")));
  assert.equal(fleet.done.error, undefined);
  const [pages, tv, calls, down, up, probe] = [0, 1, 2, 3, 4, 5].map((workload) => operations(fleet, workload));
  // Every 3 s from a phase below 3 s: three or four in ten seconds; calls every 131.072 ms: 76 or 77.
  assert.ok(pages.length >= 3 && pages.length <= 4);
  assert.ok(calls.length >= 76 && calls.length <= 77);
  calls.slice(1).forEach((row, at) => assert.equal(row[3] - calls[at][3], 131072000));
  assert.ok(tv.length > 20 && up.length > 50 && down.length === 1 && probe.length === 0);
  assert.ok([...pages, ...calls].every((row) => row[9] === "finished" && row[7] >= row[6] && row[6] >= row[4] && row[4] >= row[3]));
  assert.equal(down[0][9], "cut");
  // Every byte of a finished operation is in some interval.
  const moved = fleet.all("intervals").filter((row) => row[1] === 2);
  assert.equal(moved.reduce((sum, row) => sum + row[3], 0), calls.length * 16384);
  assert.ok(fleet.all("events").some((row) => row[1] === 1 && row[4] === "startup"));
  const idle = operations(fleet, 65535);
  assert.ok(idle.length > 5 && idle.every((row) => row[3] < 0));
  assert.ok(warnings(fleet).some((row) => row[1] === 65535 && row[5].includes("one-byte HTTP requests")));
  assert.ok(warnings(fleet).some((row) => row[1] === 5 && row[5] === "skipped: this browser has no WebRTC"));
  assert.ok(fleet.health.lateness_count > pages.length + calls.length);
  assert.ok(fleet.health.lateness_us_p99 <= 1011, `${fleet.health.lateness_us_p99}`);
  assert.deepEqual(fleet.health.stations, ["phone"]);
  const last = browser.views.at(-1);
  await browser.advance(500);
  assert.equal(browser.views.at(-1).state, "result", JSON.stringify(last));
  assert.ok(browser.views.at(-1).workloads.every(({ verdict }) => ["pass", "none"].includes(verdict)));
  assert.deepEqual(Object.keys(browser.entries), [], "no entry is left in the store");
});

// Six objects of a page have all connections to a port. Each object of 16 KiB takes 1.31 s at 0.1 Mbit/s.
test("a workload does not wait for the connections of another one, unless they share a port", async () => {
  for (const [ports, blocked] of [[[4489], []], [[4489], ["http://192.0.2.1:4489"]], [[], []]]) {
    const browser = new FakeBrowser({ rate: 1e5 });
    browser.blocked = blocked;
    const fleet = new FakeFleet(browser, assignment(["browsing", "calls"], { ports }));
    fleet.assign.plan.workload.calls = { ...WORKLOADS.voip, object_size: "1 B", interval: "1 s", priority: "voice" };
    browser.station();
    assert.ok(await browser.until(over(fleet), 30000));
    const latencies = operations(fleet, 1).map((row) => row[7] - row[3]);
    const [, , , , , wait] = warnings(fleet).find((row) => row[1] === 1 && row[5].includes("waited")) ?? [];
    const isShared = ports.length === blocked.length;
    assert.equal(fleet.ready.notes.some((note) => note.includes("2 workloads share one port")), isShared);
    if (isShared) {
      // A call that is due in the first 1.31 s of a page waits for the end of the first six objects.
      const longest = Math.max(...latencies) / 1e6;
      assert.ok(longest > 300 && longest < 1400, `${longest}`);
      assert.ok(Math.abs(longest - 5 - Number(/up to (\d+) ms/.exec(wait)[1])) < 20, `${wait} of ${longest}`);
      assert.ok(fleet.health.lateness_us_p99 > 3e5, `${fleet.health.lateness_us_p99}`);
    } else {
      assert.ok(Math.max(...latencies) < 2e7, `${latencies}`);
      assert.ok(wait === undefined && fleet.health.lateness_us_p99 <= 1011);
    }
  }
});

// 60 Mbit/s for 10 s are 75 MB. The first byte comes after 5 ms, which are 37.5 kB.
test("a download ends with the load, and the page shows the rate of the record", async () => {
  const browser = new FakeBrowser({ rate: 60e6 });
  const fleet = new FakeFleet(browser, assignment(["download"]));
  browser.station();
  assert.ok(await browser.until(over(fleet), 30000));
  const moved = fleet.all("intervals").reduce((sum, row) => sum + row[3], 0);
  assert.ok(Math.abs(moved - 75e6) <= 37500 + 2 * 16384, `${moved}`);
  assert.ok(fleet.all("intervals").every((row) => row[2] <= 10e9));
  await browser.advance(500);
  const [{ value, unit, details }] = browser.views.at(-1).workloads;
  assert.deepEqual([value, unit, details], ["60", "Mbit/s", "75\u00a0MB transferred"]);
});

// An object of 16 KiB takes 1.31 s at 0.1 Mbit/s, and ten objects over six connections 2.62 s. The page that is due at 7.24 s is
// complete at 9.86 s, after the end of the load at 8 s.
test("an upload continues until the last of the other operations has ended", async () => {
  const browser = new FakeBrowser({ rate: 1e5 });
  const fleet = new FakeFleet(browser, assignment(["browsing", "upload"], { duration: "8 s" }));
  browser.station();
  assert.ok(await browser.until(over(fleet), 30000));
  const last = operations(fleet, 0).at(-1)[7];
  assert.ok(last > 9.85e9 && last < 9.87e9, `${last}`);
  const end = fleet.all("intervals").filter((row) => row[1] === 1).at(-1)[2];
  assert.ok(end <= last && last - end < 2e8, `${end} of ${last}`);
});

test("a lost connection loses no rows", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"]));
  browser.station();
  await browser.until(() => fleet.received > 5, 20000);
  fleet.ignoreRows = true;
  await browser.advance(1000);
  fleet.ignoreRows = false;
  browser.drop(browser.socket("run"), true);
  assert.ok(await browser.until(over(fleet), 30000));
  const reconnects = browser.sent.run.filter(({ type }) => type === "hello").map((hello) => hello.reconnect ?? false);
  assert.deepEqual(reconnects, [false, true]);
  assert.ok(operations(fleet, 0).every((row) => row[9] === "finished"));
});

test("a card whose data channel ended with a reload says so", async () => {
  const browser = new FakeBrowser();
  browser.channel = {};
  const fleet = new FakeFleet(browser, assignment(["probe", "voip"]));
  const first = browser.station();
  await browser.until(() => browser.time > 5000, 20000);
  browser.unload(first);
  browser.station();
  assert.ok(await browser.until(over(fleet), 30000));
  await browser.advance(500);
  const [probe, call] = browser.views.at(-1).workloads;
  assert.match(probe.details, /as lost; ended early: the data channel is closed$/);
  assert.match(call.details, /^Median; \d+ of \d+ within 150/);
  assert.equal(browser.views.findLast((view) => view.state === "running").workloads[1].details.split(";")[0], "Latest");
});

test("a station reconnects after the controller has detected the loss of its connection", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"]));
  browser.station();
  await browser.until(() => fleet.received > 5, 20000);
  fleet.rejectReconnectUntil = browser.time + 4000;
  browser.drop(browser.socket("run"), true);
  assert.ok(await browser.until(over(fleet), 30000));
  assert.ok(fleet.rejections >= 3 && fleet.rejections <= 8, `${fleet.rejections}`);
  assert.ok(operations(fleet, 0).every((row) => row[9] === "finished"));
});

test("a reload during the run: operations due meanwhile are not started, and no row is sent twice", async () => {
  for (const moment of [300, 517, 733, 950]) {
    const browser = new FakeBrowser({ rate: 2e6 });
    const fleet = new FakeFleet(browser, assignment(["voip", "browsing"]));
    const first = browser.station();
    await browser.until(() => fleet.received > 0 && browser.time > 4000 + moment, 20000);
    browser.unload(first);
    await browser.advance(1500);
    const reloaded = browser.time;
    browser.station();
    assert.ok(await browser.until(over(fleet), 30000));
    const calls = operations(fleet, 0);
    const zero = fleet.at / 1e6 - (browser.origin - Math.floor(browser.origin));
    const missed = calls.filter((row) => row[9] === "not_started");
    // 1.5 s with a call every 131 ms, and calls that were started but not stored before the reload.
    assert.ok(missed.length >= 10 && missed.length <= 14, `${missed.length}`);
    assert.ok(missed.every((row) => row[3] <= (reloaded - zero) * 1e6));
    assert.equal(calls.filter((row) => !["not_started", "finished", "failed_stopped"].includes(row[9])).length, 0);
    calls.slice(1).forEach((row, at) => assert.equal(row[3] - calls[at][3], 131072000));
    operations(fleet, 1);
    assert.ok(fleet.health.missed_sends >= 10);
    const warning = warnings(fleet).find((row) => row[5].includes("reloaded"));
    assert.ok(warning[3] >= 1.5e9 && warning[3] <= 1.8e9, String(warning));
    assert.equal(fleet.done.error, undefined);
  }
});

test("unacknowledged results are delivered when the controller requests them", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"], { duration: "4 s" }));
  const first = browser.station();
  await browser.until(() => fleet.received > 3, 20000);
  // The load ends before the station detects that the process of the run has ended.
  await browser.advance(1500);
  browser.noRun = true;
  browser.drop(browser.socket("run"), true);
  assert.ok(await browser.until(() => Boolean(fleet.end), 120000));
  assert.ok(operations(fleet, 0).length >= 30);
  assert.equal(fleet.end.error, undefined);
  assert.equal(fleet.end.health.name, "phone-4f");
  const registrations = browser.sent.standing.filter(({ type }) => type === "register");
  assert.deepEqual([registrations.length, registrations[0].pending, registrations[1].pending[0].run], [2, undefined, "r-1"]);
  await browser.advance(100);
  assert.deepEqual(browser.entries, {});
  assert.match(browser.views.at(-1).line, /^All results of this device were delivered\. Waiting for a run/);
  browser.unload(first);
});

test("a page reports when a run with a full disk requested its stop", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"], { duration: "10 min" }));
  browser.station();
  await browser.until(() => fleet.received > 3, 20000);
  fleet.ignoreRows = true;
  await browser.advance(1500);
  const stopped = fleet.pong.received + (browser.time - fleet.pongAt()) * 1e6 - fleet.at;
  browser.sendMessage("run", { type: "stop", reason: "the disk is full" });
  await browser.advance(1000);
  browser.noRun = true;
  browser.sendMessage("run", { type: "bye", reason: "the disk is full" });
  assert.ok(await browser.until(() => Boolean(fleet.end), 60000));
  assert.ok(Math.abs(fleet.end.stop_requested_at - stopped) <= 1e7, `${fleet.end.stop_requested_at} for ${stopped}`);
});

test("a station leaves a run soon after its process has ended", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"], { duration: "10 min" }));
  browser.station();
  await browser.until(() => fleet.received > 3, 20000);
  const since = browser.time;
  browser.noRun = true;
  browser.drop(browser.socket("run"), true);
  assert.ok(await browser.until(() => Boolean(fleet.end), 60000));
  assert.ok(browser.time - since < 15000, `${browser.time - since} ms`);
  await browser.advance(100);
  const { state, line } = browser.views.at(-1);
  assert.equal(state, "member", "it waits for the next run without user input");
  assert.match(line, /ended early: the process of this run has ended. All results of this device were delivered/);
});

test("undelivered results survive a reload", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"], { duration: "4 s" }));
  const first = browser.station();
  await browser.until(() => fleet.received > 3, 20000);
  browser.reachable = false;
  browser.sockets.forEach((socket) => browser.drop(socket, true));
  await browser.advance(60000);
  browser.unload(first);
  browser.reachable = true;
  browser.station();
  assert.ok(await browser.until(() => Boolean(fleet.end), 120000));
  const calls = operations(fleet, 0);
  assert.ok(calls.length >= 30 && calls.some((row) => row[9].startsWith("failed")), "while the server was unreachable");
});

test("the record contains the time of the page in the background", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"]));
  const station = browser.station();
  await browser.until(() => fleet.received > 5, 20000);
  station.handle({ type: "hidden", hidden: true });
  await browser.advance(3000);
  station.handle({ type: "hidden", hidden: false });
  await browser.advance(500);
  station.handle({ type: "hidden", hidden: true });
  assert.ok(await browser.until(over(fleet), 30000));
  const hidden = warnings(fleet).filter((row) => row[5].includes("background"));
  assert.equal(hidden.length, 2, JSON.stringify(hidden));
  assert.equal(Math.round(hidden[0][3] / 1e9), 3);
  assert.ok(hidden[1][3] > 1e9);
});

test("a server that consents to another fleet receives no load", async () => {
  const browser = new FakeBrowser({ consents: false });
  const fleet = new FakeFleet(browser, assignment(["voip"]));
  browser.station();
  await browser.until(() => Boolean(fleet.ready), 20000);
  assert.match(fleet.ready.reach.tcp, /does not consent to this fleet/);
});

test("a server with a self-signed certificate is reported as unreachable", async () => {
  const browser = new FakeBrowser();
  const assign = assignment(["voip"]);
  assign.plan.server.tls = true;
  const fleet = new FakeFleet(browser, assign);
  browser.station();
  await browser.until(() => Boolean(fleet.ready), 20000);
  assert.match(fleet.ready.reach.tcp, /certificate/);
});

test("an invalid plan is reported", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, { ...assignment(["voip"]), stations: [4] });
  browser.station();
  assert.ok(await browser.until(over(fleet), 20000));
  assert.match(fleet.done.error, /no station 4/);
});

test("a stop ends the run immediately, and the results are delivered", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip", "download"], { duration: "10 min" }));
  browser.station();
  await browser.until(() => fleet.received > 5, 20000);
  browser.sendMessage("run", { type: "stop", reason: "the run was interrupted" });
  assert.ok(await browser.until(over(fleet), 5000));
  assert.equal(operations(fleet, 1)[0][9], "cut");
});

test("a run that is cancelled before its start leaves no data", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"]), { start: null });
  browser.station();
  await browser.until(() => Boolean(fleet.ready), 5000);
  browser.sendMessage("run", { type: "bye", reason: "the run was interrupted" });
  await browser.advance(1000);
  assert.equal(browser.views.at(-1).state, "ended");
  assert.equal(browser.views.at(-1).line, "the run was interrupted");
  assert.deepEqual([fleet.received, browser.entries], [0, {}]);
  await browser.advance(5000);
  assert.match(browser.views.at(-1).line, /ended early: the run was interrupted/);
  assert.notEqual(browser.views.at(-1).state, "ended");
});

test("a wrong token is reported at once, and a lost controller is retried", async () => {
  const browser = new FakeBrowser();
  browser.on_standing = () => browser.sendMessage("standing", { type: "rejected", code: "invalid_token", reason: "the token is not this fleet's" });
  const station = browser.station();
  await browser.advance(30000);
  assert.equal(browser.views.at(-1).state, "wrong-key");
  assert.equal(browser.sent.standing.length, 1, "one attempt");
  browser.unload(station);

  browser.on_standing = () => browser.sendMessage("standing", { type: "welcome", protocol: 1, version: "test", fleet: "home" });
  browser.station();
  await browser.advance(1000);
  assert.equal(browser.views.at(-1).state, "member");
  browser.reachable = false;
  browser.drop(browser.socket("standing"), true);
  await browser.advance(1000);
  assert.equal(browser.views.at(-1).state, "reconnecting");
  browser.reachable = true;
  await browser.advance(9000);
  assert.equal(browser.views.at(-1).state, "member");
});

test("requests to a failing server fail once per second", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["download"], { duration: "10 s" }));
  browser.station();
  await browser.until(() => Boolean(fleet.at), 5000);
  const { fetch } = browser;
  browser.fetch = async (...args) => {
    const response = await fetch.apply(browser, args);
    return { ...response, status: 503, body: { cancel: response.body.cancel } };
  };
  assert.ok(await browser.until(over(fleet), 30000));
  const tried = operations(fleet, 0);
  // One request per second for ten seconds.
  assert.ok(tried.length >= 9 && tried.length <= 10, `${tried.length}`);
  assert.ok(tried.every((row) => row[9] === "failed_answer"));
});

test("a station that leaves sends bye", async () => {
  const browser = new FakeBrowser();
  const fleet = new FakeFleet(browser, assignment(["voip"], { duration: "10 min" }));
  const station = browser.station();
  await browser.until(() => fleet.received > 5, 20000);
  station.handle({ type: "leave" });
  await browser.advance(1000);
  assert.equal(browser.sent.run.at(-1).type, "bye");
  assert.equal(browser.sent.standing.at(-1).type, "bye");
  assert.deepEqual(browser.sockets, []);
  const rows = fleet.received;
  await browser.advance(5000);
  assert.equal(fleet.received, rows, "it measures no longer");
});
