// Known answers: published test vectors and values derived by hand.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { checkConsent, expectedResponse } from "../station/consent.js";
import { Clock, newZero, resolution } from "../station/clock.js";
import { hex, hmac, sha256 } from "../station/sha256.js";

const bytes = (text) => new TextEncoder().encode(text);
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));

test("SHA-256: the examples of FIPS 180-4, and all lengths around a block compared with node", () => {
  assert.equal(hex(sha256(bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(
    hex(sha256(bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  );
  for (let length = 0; length < 200; length += 1) {
    const data = Uint8Array.from({ length }, (_, at) => (at * 37 + length) & 255);
    assert.equal(hex(sha256(data)), createHash("sha256").update(data).digest("hex"), String(length));
  }
});

test("HMAC-SHA-256 of RFC 4231 §4", () => {
  const cases = [
    ["0b".repeat(20), "4869205468657265", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    ["4a656665", hex(bytes("what do ya want for nothing?")), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
    ["aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
    [
      "0102030405060708090a0b0c0d0e0f10111213141516171819",
      "cd".repeat(50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ],
    [
      "aa".repeat(131),
      hex(bytes("Test Using Larger Than Block-Size Key - Hash Key First")),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ],
    [
      "aa".repeat(131),
      hex(
        bytes(
          "This is a test using a larger than block-size key and a larger than block-size data. " +
            "The key needs to be hashed before being used by the HMAC algorithm.",
        ),
      ),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ],
  ];
  for (const [key, message, tag] of cases) {
    assert.equal(hex(hmac(unhex(key), unhex(message))), tag);
  }
});

test("a consent is valid only for its fleet", () => {
  // From `printf 0123456789abcdef | openssl dgst -sha256 -hmac Jefe`.
  const nonce = "0123456789abcdef";
  const answer = "fce640f778b7b3e2fdfaf0b98d6be8cd45776ca7a9b04f0272e2004d76b2db42";
  assert.equal(expectedResponse(nonce, "Jefe"), answer);
  const document = { schema: "netburn.consent/1", consents: true, fleet: answer };
  const check = (more) => checkConsent(JSON.stringify({ ...document, ...more }), nonce, ["other", "Jefe"]);
  assert.equal(check({}), null);
  assert.match(check({ consents: false }), /does not consent to load tests/);
  assert.match(check({ fleet: answer.replace("f", "e") }), /to this fleet/);
  assert.match(check({ fleet: undefined }), /to this fleet/);
  assert.match(check({ schema: "netburn.consent/2" }), /unsupported version/);
  assert.match(checkConsent("<html>", nonce, ["Jefe"]), /not from a netburn server/);
  assert.match(checkConsent("null", nonce, ["Jefe"]), /unsupported version/);
});

test("a clock's zero survives a reload, and its nanoseconds are exact", () => {
  const first = { timeOrigin: 1795326063123.75, now: () => 10.5 };
  const zero = newZero(first);
  assert.equal(zero, 1795326063123);
  assert.equal(new Clock(zero, first).now(), 11250000);
  const reloaded = { timeOrigin: 1795326069000.25, now: () => 1.1 };
  assert.equal(new Clock(zero, reloaded).now(), 5878350000);
  assert.ok(Number.isSafeInteger(new Clock(zero, { timeOrigin: zero + 90 * 86400e3, now: () => 0 }).now()));
});

test("the resolution is the smallest observed step", () => {
  let calls = 0;
  const coarse = { now: () => Math.floor((calls += 0.02) * 10) / 10 };
  assert.ok(Math.abs(resolution(coarse) - 1e5) < 1e3);
  assert.ok(resolution(performance) >= 1);
});
