// Tests of single modules, with values derived by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectedResponse } from "../station/consent.js";
import * as messages from "../station/messages.js";
import { isName, normalizeName, suggestName } from "../station/names.js";
import { candidates, findServer, origin } from "../station/origins.js";
import { Store } from "../station/store.js";

const ALWAYS = { start: 0, stop: null, repeat: null };

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
