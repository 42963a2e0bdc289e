// Measurement quality of this page: the lateness of its timers, and the operations that it missed.

/** Values in µs up to this have one bucket each; larger values have 128 buckets for each doubling. */
const EXACT = 256;

/** A histogram of times with bounded size. */
export class Distribution {
  constructor() {
    this.counts = new Map();
    this.count = 0;
    this.max = 0;
  }

  /** Adds a time in ns. */
  record(nanos) {
    const micros = Math.max(0, nanos) / 1e3;
    const bucket = bucketOf(micros);
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + 1);
    this.count += 1;
    this.max = Math.max(this.max, micros);
  }

  /** The quantile `share` (0 to 1) in µs. The result is at least the exact value and at most 1 % larger. */
  quantile(share) {
    const rank = Math.ceil(this.count * share);
    let total = 0;
    for (const bucket of [...this.counts.keys()].sort((a, b) => a - b)) {
      total += this.counts.get(bucket);
      if (total >= rank && rank > 0) {
        return Math.min(upperBound(bucket), this.max);
      }
    }
    return 0;
  }

  save() {
    return { counts: [...this.counts], count: this.count, max: this.max };
  }

  restore(saved) {
    Object.assign(this, saved, { counts: new Map(saved.counts) });
  }
}

function bucketOf(micros) {
  if (micros <= EXACT) {
    return Math.ceil(micros);
  }
  const doubling = Math.floor(Math.log2(micros / EXACT));
  const within = Math.ceil((micros / (EXACT * 2 ** doubling) - 1) * 128);
  return EXACT + doubling * 128 + within;
}

function upperBound(bucket) {
  if (bucket <= EXACT) {
    return bucket;
  }
  const doubling = Math.floor((bucket - EXACT - 1) / 128);
  const within = bucket - EXACT - doubling * 128;
  return EXACT * 2 ** doubling * (1 + within / 128);
}

/** The health report at the end. A browser cannot measure the processor load. */
export function report(name, stations, measured) {
  const { lateness } = measured;
  return {
    name,
    role: "agent",
    stations,
    lateness_us_p50: lateness.quantile(0.5),
    lateness_us_p99: lateness.quantile(0.99),
    lateness_us_max: lateness.max,
    lateness_count: lateness.count,
    missed_sends: measured.missed,
    cpu: null,
    machine_busy: null,
    service_us_p99: 0,
    rejected: 0,
    bytes_down: measured.down,
    bytes_up: measured.up,
    operations: measured.operations,
  };
}
