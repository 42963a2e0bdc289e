// The station's clock: whole nanoseconds since a zero that survives reloads.

/** The zero of a new clock, in whole milliseconds since 1970. */
export function newZero(performance = globalThis.performance) {
  return Math.floor(performance.timeOrigin);
}

export class Clock {
  /** `zero` is a stored result of `newZero`. A double represents times up to a hundred days after it exactly. */
  constructor(zero, performance = globalThis.performance) {
    this.performance = performance;
    // Both values are large and close to each other: their difference is exact, their values in nanoseconds are not.
    this.offset = performance.timeOrigin - zero;
  }

  /** The current time in nanoseconds. */
  now() {
    return this.at(this.performance.now());
  }

  /** Converts a time of `performance.now()`, or of a performance entry, to nanoseconds. */
  at(millis) {
    return Math.round((this.offset + millis) * 1e6);
  }
}

/** The smallest observed step of `performance.now()`, in nanoseconds. Takes at most about 20 ms. */
export function resolution(performance = globalThis.performance) {
  const start = performance.now();
  let last = start;
  let smallest = Infinity;
  let steps = 0;
  for (let polls = 0; polls < 200000 && steps < 50 && last - start < 20; polls += 1) {
    const now = performance.now();
    if (now > last) {
      smallest = Math.min(smallest, now - last);
      last = now;
      steps += 1;
    }
  }
  return Number.isFinite(smallest) ? Math.max(1, Math.round(smallest * 1e6)) : 20e6;
}
