// Reproducible random numbers: one named stream per cause. They are identical to those of `units::Stream` in Rust.
// Therefore a browser's operations are due at the same times as those of a Rust agent.

const BITS_64 = (1n << 64n) - 1n;
const BITS_128 = (1n << 128n) - 1n;
const MULTIPLIER = (2549297995355413924n << 64n) | 4865540595714422341n;

/** PCG XSL RR 128/64 (O'Neill 2014). */
export class Stream {
  constructor(state, sequence) {
    this.increment = ((sequence << 1n) | 1n) & BITS_128;
    this.state = (state + this.increment) & BITS_128;
    this.step();
  }

  /** The stream with number `index` for this cause, from the run's seed (a BigInt). */
  static forCause(seed, cause, index) {
    const name = fnv1a(cause);
    const number = BigInt(index);
    const state = (mix(seed ^ name) << 64n) | mix((seed + number) & BITS_64);
    return new Stream(state, (name << 64n) | number);
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & BITS_128;
  }

  /** The next 64 random bits. */
  next() {
    this.step();
    const xored = ((this.state >> 64n) ^ this.state) & BITS_64;
    const rotation = this.state >> 122n;
    return ((xored >> rotation) | (xored << ((64n - rotation) & 63n))) & BITS_64;
  }

  /** An unbiased random integer below `bound`, which is an integer (Lemire 2019). */
  below(bound) {
    if (bound <= 0) {
      return 0;
    }
    const wide = BigInt(bound);
    for (;;) {
      const product = this.next() * wide;
      const low = product & BITS_64;
      if (low >= wide || low >= ((1n << 64n) - wide) % wide) {
        return Number(product >> 64n);
      }
    }
  }

  /** The state as strings for `restored`. */
  save() {
    return [this.state.toString(16), this.increment.toString(16)];
  }

  static restored([state, increment]) {
    const stream = new Stream(0n, 0n);
    stream.state = BigInt(`0x${state}`);
    stream.increment = BigInt(`0x${increment}`);
    return stream;
  }
}

/** The 64-bit FNV-1a hash of an ASCII name. */
function fnv1a(text) {
  let hash = 0xcbf29ce484222325n;
  for (const character of text) {
    hash = ((hash ^ BigInt(character.charCodeAt(0))) * 0x00000100000001b3n) & BITS_64;
  }
  return hash;
}

/** The output function of SplitMix64 (Steele, Lea and Flood 2014). */
function mix(value) {
  let z = (value + 0x9e3779b97f4a7c15n) & BITS_64;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & BITS_64;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & BITS_64;
  return z ^ (z >> 31n);
}
