// What a browser can't do, in sentences for the record.

/** A browser's connections to one host over HTTP/1.1 (Chromium, Firefox and Safari alike). */
export const CONNECTIONS = 6;

/** The notes of a page whose clock steps by `resolution` ns, about this part of a run. */
export function notes(part, resolution) {
  const said = [
    `a browser opens at most ${CONNECTIONS} connections to one host over HTTP/1.1: further requests of the station wait for them`,
    `the browser's clock steps by ${step(resolution)}; its timers are whole milliseconds`,
    "a browser shows no statistics of its connections, its processor or its Wi-Fi",
    "what is sent counts when the browser hands it on, which may be before it leaves the device",
    "a failure before the first byte counts as one of dialling: a browser doesn't say which it was",
    "idle latency is that of one-byte HTTP requests: a browser has no datagrams",
    "in the background a browser may hold back timers and requests; how long the page was there is in the events",
  ];
  for (const { name, workloads } of part.stations) {
    const marked = workloads.filter(({ config }) => config.kind !== "probe" && config.priority !== "best-effort");
    for (const workload of marked) {
      const answers = "the server's answers carry its priority, what the station sends doesn't";
      said.push(`a browser marks no packets: of ${workload.name} of ${name} ${answers}`);
    }
    for (const workload of workloads.filter(({ config }) => config.kind !== "probe" && config.cc)) {
      const answers = `the server's answers have \`${workload.config.cc}\`, what the station sends doesn't`;
      said.push(`a browser chooses no congestion control: of ${workload.name} of ${name} ${answers}`);
    }
    for (const workload of workloads.filter(({ config }) => config.kind === "probe")) {
      said.push(`${workload.name} of ${name} is left out: a browser has no datagrams`);
    }
  }
  return said;
}

function step(nanos) {
  return nanos >= 1e6 ? `${round(nanos / 1e6)} ms` : `${round(nanos / 1e3)} µs`;
}

function round(value) {
  return Number(value.toPrecision(2));
}
