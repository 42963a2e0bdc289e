// How well this page measures: how late its timers were, what it was too late for.

/** Below this, values are counted one by one; above, with two to three digits. */
const EXACT = 256;

/** A distribution of times in ns, of bounded size. */
export class Distribution {
  constructor() {
    this.counts = new Map();
    this.count = 0;
    this.max = 0;
  }

  /** Counts one, in ns. */
  record(nanos) {
    const micros = Math.max(0, nanos) / 1e3;
    const bucket = bucketOf(micros);
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + 1);
    this.count += 1;
    this.max = Math.max(this.max, micros);
  }

  /** The value that this share is at or below, in µs: never less than it really is, at most 1 % more. */
  quantile(share) {
    const rank = Math.ceil(this.count * share);
    let seen = 0;
    for (const bucket of [...this.counts.keys()].sort((a, b) => a - b)) {
      seen += this.counts.get(bucket);
      if (seen >= rank && rank > 0) {
        return Math.min(top(bucket), this.max);
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

/** Whole µs up to `EXACT`, then 128 buckets for each doubling. */
function bucketOf(micros) {
  if (micros <= EXACT) {
    return Math.ceil(micros);
  }
  const doubling = Math.floor(Math.log2(micros / EXACT));
  const within = Math.ceil((micros / (EXACT * 2 ** doubling) - 1) * 128);
  return EXACT + doubling * 128 + within;
}

function top(bucket) {
  if (bucket <= EXACT) {
    return bucket;
  }
  const doubling = Math.floor((bucket - EXACT - 1) / 128);
  const within = bucket - EXACT - doubling * 128;
  return EXACT * 2 ** doubling * (1 + within / 128);
}

/** The report at the end. A browser sees nothing of the processor: those shares stay 0, and the notes say so. */
export function report(name, stations, seen) {
  const { lateness } = seen;
  return {
    name,
    role: "agent",
    stations,
    lateness_us_p50: lateness.quantile(0.5),
    lateness_us_p99: lateness.quantile(0.99),
    lateness_us_max: lateness.max,
    lateness_count: lateness.count,
    missed_sends: seen.missed,
    cpu: 0,
    machine_busy: 0,
    service_us_p99: 0,
    refused: 0,
    bytes_down: seen.down,
    bytes_up: seen.up,
    operations: seen.operations,
  };
}
