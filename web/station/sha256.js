// SHA-256 (FIPS 180-4) and HMAC (RFC 2104). Browsers provide `crypto.subtle` only in secure contexts (pages over HTTPS).

const ROUND = new Uint32Array(64);
const START = new Uint32Array(8);
{
  // The first 32 bits of the fractional parts of the cube (square) roots of the first 64 (8) primes.
  const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  let count = 0;
  for (let candidate = 2; count < 64; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
      prime &&= candidate % divisor !== 0;
    }
    if (prime) {
      if (count < 8) {
        START[count] = fraction(Math.sqrt(candidate));
      }
      ROUND[count] = fraction(Math.cbrt(candidate));
      count += 1;
    }
  }
}

const rotate = (word, by) => (word >>> by) | (word << (32 - by));

/** The digest of `bytes`, 32 bytes. */
export function sha256(bytes) {
  const length = (((bytes.length + 8) >> 6) + 1) << 6;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(length - 4, (bytes.length << 3) >>> 0);
  const state = Uint32Array.from(START);
  const words = new Uint32Array(64);
  for (let block = 0; block < length; block += 64) {
    for (let t = 0; t < 16; t += 1) {
      words[t] = view.getUint32(block + 4 * t);
    }
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, at) => digest.setUint32(4 * at, word));
  return new Uint8Array(digest.buffer);
}

function compress(state, words) {
  for (let t = 16; t < 64; t += 1) {
    const [a, b] = [words[t - 15], words[t - 2]];
    const one = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const two = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    words[t] = words[t - 16] + one + words[t - 7] + two;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t += 1) {
    const high = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + high + ((e & f) ^ (~e & g)) + ROUND[t] + words[t]) | 0;
    const low = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, at) => {
    state[at] += word;
  });
}

/** HMAC-SHA-256 of `message` with `key`, both as bytes. */
export function hmac(key, message) {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(concat(block.map((byte) => byte ^ 0x36), message));
  return sha256(concat(block.map((byte) => byte ^ 0x5c), inner));
}

/** `bytes` in hexadecimal. */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function concat(one, two) {
  const all = new Uint8Array(one.length + two.length);
  all.set(one);
  all.set(two, one.length);
  return all;
}
