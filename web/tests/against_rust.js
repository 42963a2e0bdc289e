// Replays inputs of the Rust agents' state machine in `workload.js`, and compares all outputs.
//
//     node web/tests/against_rust.js CASES
//
// A case: `{assign, index, steps: [{do, now, operation, object, bytes, how, at}], said: [{timeout, actions, operations, stalls}]}`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { decode } from "../station/messages.js";
import { readAssignment } from "../station/plan.js";
import { Workload } from "../station/workload.js";

const lines = readFileSync(process.argv[2], "utf8").trim().split("\n");
lines.forEach((line, number) => {
  const { assign, index, steps, said } = decode(line);
  const { seed, stations } = readAssignment(assign);
  const { start, end, settle, workloads } = stations[0];
  const make = () => new Workload({ config: workloads[0].config, start, end, settle, seed: BigInt(seed), index });
  const machine = make();
  steps.forEach((step, at) => {
    const id = { operation: step.operation, object: step.object };
    const handle = {
      timeout: () => machine.handleTimeout(step.now),
      bytes: () => machine.handleBytes(step.now, id, step.bytes),
      finished: () => machine.handleFinished(step.now, id),
      failed: () => machine.handleFailed(step.now, id, step.how),
      arrival: () => machine.handleArrival(step.now, id, step.at, step.size),
      reply: () => machine.handleReply(step.now, id),
      stop: () => machine.handleStop(step.now),
    };
    handle[step.do]();
    assert.deepEqual(outputs(machine), said[at], `case ${number}, step ${at}: ${JSON.stringify(step)} in ${line.slice(0, 900)}`);
  });
  // A restored machine is identical, except for operations in progress.
  const other = make();
  other.restore(JSON.parse(JSON.stringify(machine.save())), machine.now);
  if (machine.inFlight.size === 0 && !machine.queued) {
    assert.deepEqual(other.pollTimeout(), machine.pollTimeout(), `case ${number}, restored`);
    assert.equal(other.mediaRate, machine.mediaRate, `case ${number}, restored`);
    assert.deepEqual(other.player?.save(), machine.player?.save(), `case ${number}, restored`);
  }
});
console.log(`${lines.length} cases`);

/** All outputs of the machine, in the form of the cases. */
function outputs(machine) {
  const all = (poll, form) => {
    const list = [];
    for (let next = poll(); next; next = poll()) {
      list.push(form(next));
    }
    return list;
  };
  const wake = machine.pollTimeout();
  return {
    actions: all(() => machine.pollAction(), (action) => {
      const { operation, object } = action.id;
      if (action.do === "send" || action.do === "send-one-way") {
        return [action.do, operation, object, action.due, action.direction ?? null, action.size];
      }
      return action.do === "cancel" ? ["cancel", operation, object] : ["begin", operation, object, action.due, action.slot, action.size];
    }),
    operations: all(() => machine.pollOperation(), (o) => [
      o.sequence,
      o.due,
      o.started,
      o.firstByte,
      o.finished,
      o.bytes,
      o.outcome,
    ]),
    stalls: all(() => machine.pollStall(), ({ began, length }) => [began, length]),
    timeout: wake && [wake.at, wake.why],
  };
}
