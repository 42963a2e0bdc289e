// The limitations of a browser as an agent, as sentences for the record.

import { CONNECTIONS } from "./connections.js";
import { isDatagram } from "./plan.js";

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

/** The notes for `assignment`, on a page whose clock has a resolution of `resolution` ns. The server has `ports` ports. */
export function notes(assignment, resolution, channelError = null, ports = 1) {
  const all = assignment.stations.flatMap(({ workloads }) => workloads);
  const overHttp = all.filter(({ config }) => !isDatagram(config) && !obstacle(config, channelError)).length;
  const shared =
    overHttp > ports
      ? `${overHttp} workloads share ${ports === 1 ? "one port" : `${ports} ports`}, and a wait for another workload counts as start delay`
      : "each workload has a port of its own";
  const general = [
    `it opens at most ${CONNECTIONS} connections to one port over HTTP/1.1; ${shared}`,
    `its clock steps by ${step(resolution)}, and its timers have a resolution of 1 ms`,
    "it provides no statistics of its connections, its processor or its Wi-Fi",
    "uploaded bytes count when the browser hands them to the system, possibly before they leave the device",
    "a failure before the first byte counts as a connection failure, because a browser does not report the cause",
    "idle latency is measured with one-byte HTTP requests",
    "timers and requests of a page in the background may be late; the events contain these periods",
  ];
  // One note, so that the others are found beside it.
  const list = [`limits of a browser: ${general.join("; ")}`];
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
