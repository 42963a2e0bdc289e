// Formatting of values with units, as in the tables of the reports.

function trim(text) {
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

/** `value` with at most two decimals. */
export function short(value) {
  return trim(value.toFixed(2));
}

function ms(value) {
  if (value < 1) return `${trim(value < 0.01 ? (value * 1000).toFixed(2) : (value * 1000).toFixed(value < 0.1 ? 1 : 0))} µs`;
  if (value < 10) return `${value.toFixed(2)} ms`;
  if (value < 100) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${value.toFixed(0)} ms`;
  return `${(value / 1000).toFixed(2)} s`;
}

function rate(value) {
  if (value < 1) return value.toFixed(2);
  return value < 1000 ? value.toFixed(1) : value.toFixed(0);
}

/** `value` with its unit. */
export function write(unit, value) {
  switch (unit) {
    case "ms": return ms(value);
    case "seconds": return `${value >= 100 ? value.toFixed(0) : short(value)} s`;
    case "mbps": return `${rate(value)} Mbit/s`;
    case "share": return `${trim((value * 100).toFixed(1))} %`;
    case "dbm": return `${short(value)} dBm`;
    default: return short(value);
  }
}

/** `value` as a label of an axis. */
export function tick(unit, value) {
  const plain = (v) => trim(v.toFixed(6));
  switch (unit) {
    case "ms":
      if (value >= 1000) return `${plain(value / 1000)} s`;
      return value > 0 && value < 1 ? `${plain(value * 1000)} µs` : `${plain(value)} ms`;
    case "seconds":
      return value >= 120 && value % 60 === 0 ? `${plain(value / 60)} min` : `${plain(value)} s`;
    case "share": return `${plain(value * 100)} %`;
    default: return plain(value);
  }
}
