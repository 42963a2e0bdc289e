// The numbers of kept connections. A browser keeps its own connections as it likes: here they only say how many requests
// are at once on connections that stay open.

export class Slots {
  constructor() {
    this.taken = new Set();
  }

  /** Takes the lowest free number. */
  take() {
    let slot = 0;
    while (this.taken.has(slot)) {
      slot += 1;
    }
    this.taken.add(slot);
    return slot;
  }

  /** Gives a number back. */
  release(slot) {
    this.taken.delete(slot);
  }
}
