// The dashboard's modules that need no document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Unauthorized, get } from "../dashboard/api.js";
import { plain } from "../shared/dom.js";

/** Replaces `fetch` by one with this response during `run`. */
async function withResponse(response, run) {
  const { fetch } = globalThis;
  globalThis.fetch = async () => response;
  try {
    return await run();
  } finally {
    globalThis.fetch = fetch;
  }
}

const response = (status, json) => ({ status, ok: status < 300, json });
const rejects = (error) => async () => {
  throw error;
};

test("an aborted request stays aborted, also while its content arrives", async () => {
  const aborted = new DOMException("The user aborted a request.", "AbortError");
  await withResponse(response(200, rejects(aborted)), () => assert.rejects(get("runs"), { name: "AbortError" }));
});

test("a response without complete content is an error, whatever its status", async () => {
  const cut = response(200, rejects(new SyntaxError("Unexpected end of JSON input")));
  await withResponse(cut, () => assert.rejects(get("runs"), /the server returns an incomplete response/));
  const failed = response(502, rejects(new SyntaxError("Unexpected token")));
  await withResponse(failed, () => assert.rejects(get("runs"), /status 502/));
  await withResponse(response(409, async () => ({ error: "it is live" })), () => assert.rejects(get("runs"), /it is live/));
  await withResponse(response(401, async () => ({})), () => assert.rejects(get("runs"), Unauthorized));
  assert.deepEqual(await withResponse(response(200, async () => ({ runs: [] })), () => get("runs")), { runs: [] });
});

test("text has no characters that change its direction or are invisible", () => {
  assert.equal(plain("run \u202egnp.exe"), "run \ufffdgnp.exe");
  assert.equal(plain("a\u2066b\u200bc\u0007d\ufeffe\u009bf"), "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf");
  assert.equal(plain("Köln, 東京 – “5 GHz”\n"), "Köln, 東京 – “5 GHz”\n");
});
