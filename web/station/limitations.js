// The limitations of a browser as an agent, as sentences for the record.

import { isDatagram } from "./plan.js";

/** Connections of a browser to one host over HTTP/1.1 (the same in Chromium, Firefox and Safari). */
export const CONNECTIONS = 6;

/** Why the workload `config` cannot run, or `null`. `channelError` is the reason why there is no data channel, or `null`. */
export function obstacle(config, channelError) {
  if (config.kind === "responsiveness") {
    return "a browser does not measure the handshakes of its connections";
  }
  if (!isDatagram(config)) {
    return null;
  }
  return config.target === "server" ? channelError : "a browser sends datagrams only to the server";
}

/** The notes for `assignment`, on a page whose clock has a resolution of `resolution` ns. */
export function notes(assignment, resolution, channelError = null) {
  const list = [
    `a browser opens at most ${CONNECTIONS} connections to one host over HTTP/1.1; further requests of the station wait for one`,
    `the browser's clock steps by ${step(resolution)}; its timers have a resolution of 1 ms`,
    "a browser provides no statistics of its connections, its processor or its Wi-Fi",
    "uploaded bytes count when the browser hands them to the system, possibly before they leave the device",
    "a failure before the first byte counts as a connection failure: a browser does not report the cause",
    "idle latency is measured with one-byte HTTP requests",
    "a browser may delay timers and requests of a page in the background; the events contain these periods",
  ];
  for (const { name, workloads } of assignment.stations) {
    for (const workload of workloads.filter(({ config }) => config.dscp !== 0 && !obstacle(config, channelError))) {
      list.push(`a browser cannot set a DSCP: for ${workload.name} of ${name}, only the server's responses have it`);
    }
    for (const workload of workloads.filter(({ config }) => !isDatagram(config) && !obstacle(config, channelError) && config.cc)) {
      const { cc } = workload.config;
      list.push(`a browser cannot select a congestion control: for ${workload.name} of ${name}, only the server uses \`${cc}\``);
    }
    for (const { config, ...workload } of workloads.filter(({ config }) => obstacle(config, channelError))) {
      list.push(`${workload.name} of ${name} is skipped: ${obstacle(config, channelError)}`);
    }
  }
  const all = assignment.stations.flatMap(({ workloads }) => workloads);
  if (all.some(({ config }) => isDatagram(config) && !obstacle(config, channelError))) {
    list.push(
      "datagrams of a browser are messages of a WebRTC data channel, unordered and without retransmissions: each is 65 bytes " +
        "longer than one of an agent, and the congestion control of SCTP delays or drops messages above the rate of the path",
    );
  }
  return list;
}

function step(nanos) {
  return nanos >= 1e6 ? `${round(nanos / 1e6)} ms` : `${round(nanos / 1e3)} µs`;
}

function round(value) {
  return Number(value.toPrecision(2));
}
