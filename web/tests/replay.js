// Replays recorded events in the page's module, and compares its outputs with those of the same code outside a browser.
// Arguments: the module, and a file of cases. A line is a case: a list of `[now, event, reply, datagrams]`, in which an event
// of a datagram has the field `datagram` with its bytes in hexadecimal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Core } from "../station/core.js";

const [, , path, cases] = process.argv;
const module = new WebAssembly.Module(readFileSync(path));
const lines = readFileSync(cases, "utf8").trim().split("\n");
let steps = 0;
for (const [number, line] of lines.entries()) {
  const core = new Core(module);
  for (const [now, event, reply, datagrams] of JSON.parse(line)) {
    const { datagram } = event;
    const said = datagram === undefined ? core.handle(now, event) : core.handleDatagram(now, Buffer.from(datagram, "hex"));
    const sent = [];
    for (let bytes = core.pollTransmit(); bytes; bytes = core.pollTransmit()) {
      sent.push(Buffer.from(bytes).toString("hex"));
    }
    assert.deepEqual([said, sent], [reply, datagrams], `step ${steps} in case ${number}: ${JSON.stringify(event)}`);
    steps += 1;
  }
}
console.log(`${lines.length} cases`);
