// Parsing of quantities: a number, a space and a unit. Results are whole nanoseconds, bytes or bit/s.

const DURATION = { ns: 1n, us: 1000n, ms: 1000000n, s: 1000000000n, min: 60000000000n, h: 3600000000000n };
const SIZE = {
  B: 1n,
  kB: 1000n,
  KiB: 1n << 10n,
  MB: 1000000n,
  MiB: 1n << 20n,
  GB: 1000000000n,
  GiB: 1n << 30n,
  TB: 1000000000000n,
  TiB: 1n << 40n,
};
const RATE = { "bit/s": 1n, "kbit/s": 1000n, "Mbit/s": 1000000n, "Gbit/s": 1000000000n };

/** `"335.54432 ms"` in nanoseconds. */
export function duration(text) {
  return parse(text, DURATION);
}

/** `"128 KiB"` in bytes. */
export function size(text) {
  return parse(text, SIZE);
}

/** `"20 Mbit/s"` in bit/s. */
export function rate(text) {
  return parse(text, RATE);
}

/** True if `text` has the unit of a rate. */
export function isRate(text) {
  return /bit\/s$/.test(text);
}

function parse(text, units) {
  const match = /^(\d{1,20})(?:\.(\d{1,20}))? ([A-Za-z/]+)$/.exec(text);
  if (!match || !Object.hasOwn(units, match[3])) {
    throw new Error(`invalid quantity: found \`${String(text).slice(0, 40)}\`, expected a number, a space and a known unit`);
  }
  const [, whole, fraction = "", unit] = match;
  const value = Number((BigInt(whole + fraction) * units[unit]) / 10n ** BigInt(fraction.length));
  if (!Number.isSafeInteger(value)) {
    throw new Error(`quantity out of range: \`${text}\``);
  }
  return value;
}
