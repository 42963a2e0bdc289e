// The limitations of a browser as an agent, as sentences for the record.

import { unavailable } from "./plan.js";

/** Connections of a browser to one host over HTTP/1.1 (the same in Chromium, Firefox and Safari). */
export const CONNECTIONS = 6;

/** The notes for `assignment`, on a page whose clock has a resolution of `resolution` ns. */
export function notes(assignment, resolution) {
  const list = [
    `a browser opens at most ${CONNECTIONS} connections to one host over HTTP/1.1; further requests of the station wait for one`,
    `the browser's clock steps by ${step(resolution)}; its timers have a resolution of 1 ms`,
    "a browser provides no statistics of its connections, its processor or its Wi-Fi",
    "uploaded bytes count when the browser hands them to the system, possibly before they leave the device",
    "a failure before the first byte counts as a connection failure: a browser does not report the cause",
    "idle latency is measured with one-byte HTTP requests: a browser has no datagrams",
    "a browser may delay timers and requests of a page in the background; the events contain these periods",
  ];
  for (const { name, workloads } of assignment.stations) {
    const marked = workloads.filter(({ config }) => !unavailable(config) && config.dscp !== 0);
    for (const workload of marked) {
      list.push(`a browser cannot set a DSCP: for ${workload.name} of ${name}, only the server's responses have it`);
    }
    for (const workload of workloads.filter(({ config }) => !unavailable(config) && config.cc)) {
      const { cc } = workload.config;
      list.push(`a browser cannot select a congestion control: for ${workload.name} of ${name}, only the server uses \`${cc}\``);
    }
    for (const workload of workloads.filter(({ config }) => unavailable(config))) {
      list.push(`${workload.name} of ${name} is skipped: ${unavailable(workload.config)}`);
    }
  }
  return list;
}

function step(nanos) {
  return nanos >= 1e6 ? `${round(nanos / 1e6)} ms` : `${round(nanos / 1e3)} µs`;
}

function round(value) {
  return Number(value.toPrecision(2));
}
