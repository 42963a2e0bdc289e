// Replays recorded inputs in the page's module, and compares its outputs with those of the same code outside a browser.
// Arguments: the module, and a file of cases. A line is a case: a list of `[now, input, effects, datagrams]`, in which an
// input of a datagram has the field `datagram` with its bytes in hexadecimal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Module } from "../station/station.js";

const [, , path, cases] = process.argv;
const compiled = new WebAssembly.Module(readFileSync(path));
const lines = readFileSync(cases, "utf8").trim().split("\n");
let steps = 0;
for (const [number, line] of lines.entries()) {
  const module = new Module(compiled);
  for (const [now, input, effects, datagrams] of JSON.parse(line)) {
    const { datagram } = input;
    const got = datagram === undefined ? module.handle(now, input) : module.handleDatagram(now, Buffer.from(datagram, "hex"));
    const sent = [];
    for (let bytes = module.pollTransmit(); bytes; bytes = module.pollTransmit()) {
      sent.push(Buffer.from(bytes).toString("hex"));
    }
    assert.deepEqual([got, sent], [effects, datagrams], `step ${steps} in case ${number}: ${JSON.stringify(input)}`);
    steps += 1;
  }
}
console.log(`${lines.length} cases`);
