// The content of uploads.

const PIECE = 1 << 20;
const RANDOM = 65536;

/** Blobs of a given size. A large one is made of references to one small one, which browsers don't copy. */
export class Content {
  constructor() {
    this.piece = null;
    this.blobs = new Map();
  }

  /** A blob of `size` bytes. */
  of(size) {
    if (!this.blobs.has(size)) {
      this.piece ??= randomPiece();
      const parts = Array(Math.floor(size / PIECE)).fill(this.piece);
      parts.push(this.piece.slice(0, size % PIECE));
      // Without a type the browser sends no Content-Type, and asks nobody for leave.
      this.blobs.set(size, new Blob(parts));
    }
    return this.blobs.get(size);
  }
}

/** Random, so that nothing on the way makes it smaller. */
function randomPiece() {
  const bytes = new Uint8Array(PIECE);
  for (let at = 0; at < PIECE; at += RANDOM) {
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM));
  }
  return new Blob([bytes]);
}
