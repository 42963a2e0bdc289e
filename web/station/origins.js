// The origins of the run's server: its address, and a port for each workload.

import { rejection } from "./consent.js";

/** The maximum numbers of further addresses and ports of a server that this page tries. */
const MAX_ALTERNATIVES = 4;
const MAX_MORE_PORTS = 7;

/** The origin of a server that listens at `address`. An unspecified address means the host of this page. */
export function origin(address, hostname) {
  const [, host, port] = /^([\d.]+|\[[\da-fA-F:.]+\]):(\d{1,5})$/.exec(address);
  return `http://${host === "0.0.0.0" || host === "[::]" ? hostname : host}:${port}`;
}

/** The same origin with another port. */
function withPort(first, port) {
  return first.replace(/:\d+$/, `:${port}`);
}

/** The origins of the server `target` of an assignment, in the order in which they are tried. */
export function candidates({ address, alternatives = [] }, hostname) {
  const first = origin(address, hostname);
  const [port] = /\d+$/.exec(first);
  const others = alternatives.slice(0, MAX_ALTERNATIVES).map((ip) => origin(`${ip.includes(":") ? `[${ip}]` : ip}:${port}`, hostname));
  return [first, ...others];
}

/**
 * Finds the server `target` among `candidates`. Returns its origins, one for each port, or `{error}`. Each has consented to
 * one of `tokens`.
 */
export async function findServer(target, candidates, tokens, fetch) {
  let error = null;
  for (const first of candidates) {
    const rejected = await rejection(first, tokens, fetch);
    if (rejected === null) {
      const ports = (target.more_ports ?? []).slice(0, MAX_MORE_PORTS).filter((port) => Number.isInteger(port));
      const more = ports.map((port) => withPort(first, port));
      // A firewall may block some of them.
      const rejections = await Promise.all(more.map((origin) => rejection(origin, tokens, fetch)));
      return { origins: [first, ...more.filter((_, at) => rejections[at] === null)] };
    }
    error ??= rejected;
  }
  return { error };
}
