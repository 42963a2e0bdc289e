// Adaptive streaming: the bit rate of the next segment, with the same rule as `workload::config::Dash` of the Rust agents
// (BBA-0, Huang et al., SIGCOMM 2014, algorithm 1).

/** The size of a segment of the bit rate `rate` (bit/s) in bytes, rounded down; at least 1. */
export function segmentSize({ segment }, rate) {
  const size = (BigInt(rate) * BigInt(segment)) / 8000000000n;
  return Number(size > 1n ? size : 1n);
}

/** The bit rate of a complete segment of `size` bytes; `null` for another size. */
export function rateOf(dash, size) {
  return dash.ladder.find((rate) => segmentSize(dash, rate) === size) ?? null;
}

/**
 * The bit rate of the next segment with `level` (ns) in the buffer, after a segment of `previous`. The map rises linearly from
 * the lowest bit rate at `reservoir` to the highest at `reservoir` plus `cushion`.
 */
export function selectRate({ ladder, reservoir, cushion }, level, previous) {
  const lowest = ladder[0];
  const highest = ladder.at(-1);
  if (level <= reservoir) {
    return lowest;
  }
  if (level - reservoir >= cushion) {
    return highest;
  }
  // Both sides are multiplied by `cushion`, so that all numbers are integers.
  const scaled = (rate) => BigInt(rate) * BigInt(cushion);
  const map = scaled(lowest) + BigInt(highest - lowest) * BigInt(level - reservoir);
  const next = ladder.find((rate) => rate > previous) ?? highest;
  const before = ladder.findLast((rate) => rate < previous) ?? lowest;
  if (map >= scaled(next)) {
    return ladder.findLast((rate) => scaled(rate) < map) ?? lowest;
  }
  if (map <= scaled(before)) {
    return ladder.find((rate) => scaled(rate) > map) ?? highest;
  }
  return previous;
}
