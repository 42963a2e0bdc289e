// Replays the inputs of one end of video calls of the Rust agents in `video.js`, and compares all outputs.
//
//     node web/tests/video_against_rust.js CALLS
//
// A call: `{config, steps: [{do, now, number, datagram}], expected: [{out, frames, rate, timeout}]}`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { VideoEnd } from "../station/video.js";

const lines = readFileSync(process.argv[2], "utf8").trim().split("\n");
const rates = new Set();
lines.forEach((line, number) => {
  const { config, steps, expected } = JSON.parse(line);
  const end = new VideoEnd(config);
  steps.forEach((step, at) => {
    if (step.do === "frame") {
      end.sendFrame(step.now, step.number);
    } else if (step.do === "timeout") {
      end.handleTimeout(step.now);
    } else if (step.datagram.media) {
      end.handleMedia(step.now, step.datagram.media);
    } else {
      end.handleFeedback(step.now, step.datagram.feedback);
    }
    const found = outputs(end);
    assert.deepEqual(found, expected[at], `call ${number}, step ${at} of ${steps.length}: ${JSON.stringify(step).slice(0, 500)}`);
    rates.add(found.rate);
  });
});
assert.ok(rates.size > 100, `the rate changed: ${rates.size} rates`);
console.log(`${lines.length} calls`);

function outputs(end) {
  const all = (poll) => {
    const list = [];
    for (let next = poll(); next; next = poll()) {
      list.push(next);
    }
    return list;
  };
  const out = all(() => end.pollTransmit());
  const frames = all(() => end.pollFrame()).map(({ number, size }) => [number, size]);
  const timeout = end.pollTimeout();
  return { out, frames, rate: end.rate(), timeout: timeout === Infinity ? null : timeout };
}
