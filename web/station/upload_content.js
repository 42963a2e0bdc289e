// The content of uploads.

const PIECE = 1 << 20;
/** The maximum size of one `getRandomValues` request, in bytes (Web Cryptography API). */
const MAX_RANDOM = 65536;

/** Blobs of a given size. A large blob consists of references to one small blob, which browsers do not copy. */
export class UploadContent {
  constructor() {
    this.piece = null;
    this.blobs = new Map();
  }

  /** A blob of `size` bytes. */
  blob(size) {
    if (!this.blobs.has(size)) {
      this.piece ??= randomPiece();
      const parts = Array(Math.floor(size / PIECE)).fill(this.piece);
      parts.push(this.piece.slice(0, size % PIECE));
      // Without a type, the browser sends no Content-Type and no CORS preflight request.
      this.blobs.set(size, new Blob(parts));
    }
    return this.blobs.get(size);
  }
}

/** Random bytes, so that no device on the path can compress them. */
function randomPiece() {
  const bytes = new Uint8Array(PIECE);
  for (let at = 0; at < PIECE; at += MAX_RANDOM) {
    crypto.getRandomValues(bytes.subarray(at, at + MAX_RANDOM));
  }
  return new Blob([bytes]);
}
