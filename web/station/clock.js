// This station's own clock: whole nanoseconds since a zero that stays over reloads.

/** Milliseconds since 1970 at which this page's clock begins: a whole number, chosen once. */
export function newZero(performance = globalThis.performance) {
  return Math.floor(performance.timeOrigin);
}

export class Clock {
  /** `zero` is what `newZero` once gave. Times fit a double exactly for a hundred days from there. */
  constructor(zero, performance = globalThis.performance) {
    this.performance = performance;
    // Both are large and close to each other: their difference is exact, each in nanoseconds would not be.
    this.since = performance.timeOrigin - zero;
  }

  /** Now, in nanoseconds. */
  now() {
    return this.at(this.performance.now());
  }

  /** The instant that `performance.now()`, or a performance entry, calls `millis`. */
  at(millis) {
    return Math.round((this.since + millis) * 1e6);
  }
}

/** The smallest step that `performance.now()` was seen to make, in nanoseconds. Looks for some 20 ms at most. */
export function resolution(performance = globalThis.performance) {
  const begun = performance.now();
  let last = begun;
  let least = Infinity;
  let steps = 0;
  for (let looks = 0; looks < 200000 && steps < 50 && last - begun < 20; looks += 1) {
    const now = performance.now();
    if (now > last) {
      least = Math.min(least, now - last);
      last = now;
      steps += 1;
    }
  }
  return Number.isFinite(least) ? Math.max(1, Math.round(least * 1e6)) : 20e6;
}
