// Random numbers that are the same everywhere: one named stream per cause. The same as the agents', bit for bit, so that
// a browser's first operation is due when an agent's in its place would be.

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

  /** The stream of the `index`th of those who draw for this cause, from the run's seed (a BigInt). */
  static of(seed, cause, index) {
    const name = fnv1a(cause);
    const place = BigInt(index);
    const state = (mix(seed ^ name) << 64n) | mix((seed + place) & BITS_64);
    return new Stream(state, (name << 64n) | place);
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & BITS_128;
  }

  /** The next 64 random bits. */
  next() {
    this.step();
    const xored = ((this.state >> 64n) ^ this.state) & BITS_64;
    const turn = this.state >> 122n;
    return ((xored >> turn) | (xored << ((64n - turn) & 63n))) & BITS_64;
  }

  /** A whole number below `bound` (a Number that is whole), without bias (Lemire 2019). */
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

  /** It as text, for `restored`. */
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

/** FNV-1a, 64 bits: a name (ASCII) as a number. */
function fnv1a(text) {
  let hash = 0xcbf29ce484222325n;
  for (const character of text) {
    hash = ((hash ^ BigInt(character.charCodeAt(0))) * 0x00000100000001b3n) & BITS_64;
  }
  return hash;
}

/** The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
function mix(value) {
  let z = (value + 0x9e3779b97f4a7c15n) & BITS_64;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & BITS_64;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & BITS_64;
  return z ^ (z >> 31n);
}
