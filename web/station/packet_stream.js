// A stream of packets in one direction, `{interval, burst, spacing, size}`: the rules of `workload::PacketStream`.

/** The time from packet 0 to packet `number`, in ns. */
export function offset({ interval, burst, spacing }, number) {
  return interval * Math.floor(number / burst) + spacing * (number % burst);
}

/** The number of packets that are due within `span` ns of packet 0, which is included. */
export function packetsWithin({ interval, burst, spacing }, span) {
  const rest = span % interval;
  const begun = rest === 0 ? 0 : spacing === 0 ? burst : Math.min(Math.ceil(rest / spacing), burst);
  return Math.floor(span / interval) * burst + begun;
}

/** The number of the operation that is packet `number` of a direction: even numbers go up, odd numbers go down. */
export function operationOf(direction, number) {
  return 2 * number + (direction === "down" ? 1 : 0);
}

/** The direction of an operation that is a packet. */
export function directionOf(operation) {
  return operation % 2 === 0 ? "up" : "down";
}
