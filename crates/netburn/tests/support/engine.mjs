// Answers requests as the playground's worker does: engine.mjs MODULE, a JSON request on each line of standard input.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const { instance } = await WebAssembly.instantiate(gunzipSync(readFileSync(process.argv[2])), { engine: { progress() {} } });
const engine = instance.exports;
for await (const request of createInterface({ input: process.stdin })) {
  const bytes = new TextEncoder().encode(request);
  const at = engine.engine_input(bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  const length = engine.engine_call();
  // A copy, because the next answer may have the same place.
  process.stdout.write(Buffer.from(new Uint8Array(engine.memory.buffer, engine.engine_output(), length)));
  process.stdout.write("\n");
}
