// A station's part in whole runs, in virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fleet, World } from "./world.js";

const USES = {
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

function assignment(uses, { duration = "10 s", baseline = "600 ms" } = {}) {
  const workload = Object.fromEntries(uses.map((use) => [use, { ...USES[use], priority: "best-effort" }]));
  const station = { phone: { workload: uses, start: "0 s" } };
  const plan = { name: "x", title: "A test", duration, baseline, drain: "2 s", warmup: "0 s", seed: 7, server: { tls: false } };
  return {
    plan: { ...plan, station, workload },
    stations: [0],
    target: { address: "192.0.2.1:4480", datagram_port: 4480 },
  };
}

/** The operations of one workload, each number once. */
function operations(fleet, workload) {
  const rows = fleet.all("operations").filter((row) => row[1] === workload);
  rows.sort((a, b) => a[2] - b[2]);
  rows.forEach((row, at) => assert.equal(row[2], at, `operation ${at} of workload ${workload} is there once`));
  return rows;
}

const warnings = (fleet) => fleet.all("events").filter((row) => row[4] === "warning");
const over = (fleet) => () => Boolean(fleet.done);

test("a whole run of all uses", async () => {
  const world = new World({ rate: 60e6 });
  const fleet = new Fleet(world, assignment(["browsing", "tv", "voip", "download", "upload", "probe"]));
  world.station();
  assert.ok(await world.until(over(fleet), 30000));
  assert.deepEqual(fleet.ready.reach, {});
  assert.ok(fleet.ready.notes.some((note) => note.includes("6 connections")));
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
  assert.ok(warnings(fleet).some((row) => row[1] === 65535 && row[5].includes("no datagrams")));
  assert.ok(warnings(fleet).some((row) => row[1] === 5 && row[5].includes("left out")));
  assert.ok(fleet.health.lateness_count > pages.length + calls.length);
  assert.ok(fleet.health.lateness_us_p99 <= 1011, `${fleet.health.lateness_us_p99}`);
  assert.deepEqual(fleet.health.stations, ["phone"]);
  const last = world.pictures.at(-1);
  await world.pass(500);
  assert.equal(world.pictures.at(-1).state, "result", JSON.stringify(last));
  assert.equal(world.pictures.at(-1).verdict, "pass");
  assert.deepEqual(Object.keys(world.kept), [], "nothing is left behind");
});

test("a connection that breaks in the middle costs nothing", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"]));
  world.station();
  await world.until(() => fleet.taken > 5, 20000);
  fleet.deaf = true;
  await world.pass(1000);
  fleet.deaf = false;
  world.drop(world.socket("run"), true);
  assert.ok(await world.until(over(fleet), 30000));
  const again = world.sent.run.filter(({ type }) => type === "hello").map((hello) => hello.again ?? false);
  assert.deepEqual(again, [false, true]);
  assert.ok(operations(fleet, 0).every((row) => row[9] === "finished"));
});

test("who is still believed to be there is let in a little later", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"]));
  world.station();
  await world.until(() => fleet.taken > 5, 20000);
  fleet.stubborn = world.time + 4000;
  world.drop(world.socket("run"), true);
  assert.ok(await world.until(over(fleet), 30000));
  assert.ok(fleet.refusals >= 3 && fleet.refusals <= 8, `${fleet.refusals}`);
  assert.ok(operations(fleet, 0).every((row) => row[9] === "finished"));
});

test("a reload in the middle: what fell due meanwhile is missed, and nothing is said twice", async () => {
  for (const moment of [300, 517, 733, 950]) {
    const world = new World({ rate: 2e6 });
    const fleet = new Fleet(world, assignment(["voip", "browsing"]));
    const first = world.station();
    await world.until(() => fleet.taken > 0 && world.time > 4000 + moment, 20000);
    world.unload(first);
    await world.pass(1500);
    const reloaded = world.time;
    world.station();
    assert.ok(await world.until(over(fleet), 30000));
    const calls = operations(fleet, 0);
    const zero = fleet.at / 1e6 - (world.origin - Math.floor(world.origin));
    const missed = calls.filter((row) => row[9] === "not_started");
    // 1.5 s of a call every 131 ms, and what was begun before and not yet written down.
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

test("results that nobody took wait until they are wanted", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"], { duration: "4 s" }));
  const first = world.station();
  await world.until(() => fleet.taken > 3, 20000);
  // So late that it is at its end before it is known that nobody holds the run any more.
  await world.pass(1500);
  world.noRun = true;
  world.drop(world.socket("run"), true);
  assert.ok(await world.until(() => Boolean(fleet.end), 120000));
  assert.ok(operations(fleet, 0).length >= 30);
  assert.equal(fleet.end.error, undefined);
  assert.equal(fleet.end.health.name, "phone-4f");
  const enrols = world.sent.standing.filter(({ type }) => type === "enrol");
  assert.deepEqual([enrols.length, enrols[0].waiting, enrols[1].waiting[0].run], [2, undefined, "r-1"]);
  await world.pass(100);
  assert.deepEqual(world.kept, {});
  assert.equal(world.pictures.at(-1).line, "What this device measured is home.");
  world.unload(first);
});

test("a page that is told to end by a run whose disk is full says when that was", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"], { duration: "10 min" }));
  world.station();
  await world.until(() => fleet.taken > 3, 20000);
  fleet.deaf = true;
  await world.pass(1500);
  const told = fleet.pong.received + (world.time - fleet.pongAt()) * 1e6 - fleet.at;
  world.tell("run", { type: "stop", reason: "the disk is full" });
  await world.pass(1000);
  world.noRun = true;
  world.tell("run", { type: "bye", reason: "the disk is full" });
  assert.ok(await world.until(() => Boolean(fleet.end), 60000));
  assert.ok(Math.abs(fleet.end.told - told) <= 1e7, `${fleet.end.told} for ${told}`);
});

test("a run that nobody holds any more is over soon, though its time is not", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"], { duration: "10 min" }));
  world.station();
  await world.until(() => fleet.taken > 3, 20000);
  const since = world.time;
  world.noRun = true;
  world.drop(world.socket("run"), true);
  assert.ok(await world.until(() => Boolean(fleet.end), 60000));
  assert.ok(world.time - since < 15000, `${world.time - since} ms`);
  await world.pass(100);
  const { state, line } = world.pictures.at(-1);
  assert.equal(state, "member", "it waits for the next by itself");
  assert.match(line, /ended early: nobody holds this run any more. What this device measured is home/);
});

test("results that wait survive a reload too", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"], { duration: "4 s" }));
  const first = world.station();
  await world.until(() => fleet.taken > 3, 20000);
  world.reachable = false;
  world.sockets.forEach((socket) => world.drop(socket, true));
  await world.pass(60000);
  world.unload(first);
  world.reachable = true;
  world.station();
  assert.ok(await world.until(() => Boolean(fleet.end), 120000));
  const calls = operations(fleet, 0);
  assert.ok(calls.length >= 30 && calls.some((row) => row[9].startsWith("failed")), "while nothing could be reached");
});

test("a page in the background says so in the record", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"]));
  const station = world.station();
  await world.until(() => fleet.taken > 5, 20000);
  station.hear({ hidden: true });
  await world.pass(3000);
  station.hear({ hidden: false });
  await world.pass(500);
  station.hear({ hidden: true });
  assert.ok(await world.until(over(fleet), 30000));
  const hidden = warnings(fleet).filter((row) => row[5].includes("background"));
  assert.equal(hidden.length, 2, JSON.stringify(hidden));
  assert.equal(Math.round(hidden[0][3] / 1e9), 3);
  assert.ok(hidden[1][3] > 1e9);
});

test("a server that consents to another fleet isn't burned", async () => {
  const world = new World({ consents: false });
  const fleet = new Fleet(world, assignment(["voip"]));
  world.station();
  await world.until(() => Boolean(fleet.ready), 20000);
  assert.match(fleet.ready.reach.tcp, /does not consent to this fleet/);
});

test("a server that speaks TLS of its own making can't be measured from here", async () => {
  const world = new World();
  const assign = assignment(["voip"]);
  assign.plan.server.tls = true;
  const fleet = new Fleet(world, assign);
  world.station();
  await world.until(() => Boolean(fleet.ready), 20000);
  assert.match(fleet.ready.reach.tcp, /certificate/);
});

test("a plan that makes no sense is said to make none", async () => {
  const world = new World();
  const fleet = new Fleet(world, { ...assignment(["voip"]), stations: [4] });
  world.station();
  assert.ok(await world.until(over(fleet), 20000));
  assert.match(fleet.done.error, /no station 4/);
});

test("a stop ends it here and now, and the results come home", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip", "download"], { duration: "10 min" }));
  world.station();
  await world.until(() => fleet.taken > 5, 20000);
  world.tell("run", { type: "stop", reason: "the run was interrupted" });
  assert.ok(await world.until(over(fleet), 5000));
  assert.equal(operations(fleet, 1)[0][9], "cut");
});

test("a run that is called off before its start leaves nothing behind", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"]), { start: null });
  world.station();
  await world.until(() => Boolean(fleet.ready), 5000);
  world.tell("run", { type: "bye", reason: "the run was interrupted" });
  await world.pass(1000);
  assert.equal(world.pictures.at(-1).state, "ended");
  assert.equal(world.pictures.at(-1).line, "the run was interrupted");
  assert.deepEqual([fleet.taken, world.kept], [0, {}]);
  await world.pass(5000);
  assert.match(world.pictures.at(-1).line, /ended early: the run was interrupted/);
  assert.notEqual(world.pictures.at(-1).state, "ended");
});

test("a wrong token is told at once, a lost controller is looked for", async () => {
  const world = new World();
  world.on_standing = () => world.tell("standing", { type: "refused", reason: "the token is not this fleet's" });
  const station = world.station();
  await world.pass(30000);
  assert.equal(world.pictures.at(-1).state, "refused");
  assert.equal(world.sent.standing.length, 1, "asked once");
  world.unload(station);

  world.on_standing = () => world.tell("standing", { type: "welcome", protocol: 1, version: "test", fleet: "home" });
  world.station();
  await world.pass(1000);
  assert.equal(world.pictures.at(-1).state, "member");
  world.reachable = false;
  world.drop(world.socket("standing"), true);
  await world.pass(1000);
  assert.equal(world.pictures.at(-1).state, "away");
  world.reachable = true;
  await world.pass(9000);
  assert.equal(world.pictures.at(-1).state, "member");
});

test("a failing server is counted, not hammered", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["download"], { duration: "10 s" }));
  world.station();
  await world.until(() => Boolean(fleet.at), 5000);
  const { fetch } = world;
  world.fetch = async (...given) => {
    const response = await fetch.apply(world, given);
    return { ...response, status: 503, body: { cancel: async () => {} } };
  };
  assert.ok(await world.until(over(fleet), 30000));
  const tried = operations(fleet, 0);
  // Once a second, ten seconds long.
  assert.ok(tried.length >= 9 && tried.length <= 10, `${tried.length}`);
  assert.ok(tried.every((row) => row[9] === "failed_answer"));
});

test("who leaves says goodbye", async () => {
  const world = new World();
  const fleet = new Fleet(world, assignment(["voip"], { duration: "10 min" }));
  const station = world.station();
  await world.until(() => fleet.taken > 5, 20000);
  station.hear({ leave: true });
  await world.pass(1000);
  assert.equal(world.sent.run.at(-1).type, "bye");
  assert.equal(world.sent.standing.at(-1).type, "bye");
  assert.deepEqual(world.sockets, []);
  const rows = fleet.taken;
  await world.pass(5000);
  assert.equal(fleet.taken, rows, "and measures no more");
});
