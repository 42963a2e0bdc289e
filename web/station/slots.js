// Numbers of persistent connections. A browser manages its connections itself: the numbers only count the simultaneous
// requests on persistent connections.

export class Slots {
  constructor() {
    this.used = new Set();
  }

  /** Allocates the lowest free number. */
  allocate() {
    let slot = 0;
    while (this.used.has(slot)) {
      slot += 1;
    }
    this.used.add(slot);
    return slot;
  }

  /** Frees a number. */
  release(slot) {
    this.used.delete(slot);
  }
}
