// The difference of the clocks of this page and of a server, with the same rules as `traffic::datagram::call::Offset`.

/** The assumed largest drift of two clocks is 1 / 20000: 50 µs per second. */
const DRIFT = 20000;

/**
 * The server's clock minus this page's. The offset of an exchange is exact if both directions take the same time. Otherwise
 * the error is at most half of the round trip. The exchange with the smallest bound of the error counts, which grows with
 * its age.
 */
export class ClockOffset {
  constructor() {
    this.best = null;
  }

  /** Records an exchange: sent and received by this page's clock, `farReceived` and `farSent` by the server's. */
  put({ sent, farReceived, farSent, received }) {
    const roundTrip = received - sent - (farSent - farReceived);
    if (received < sent || farSent < farReceived || roundTrip < 0) {
      return;
    }
    const error = Math.floor(roundTrip / 2);
    if (this.best && this.best.error + Math.floor(Math.max(received - this.best.at, 0) / DRIFT) < error) {
      return;
    }
    this.best = { at: received, nanos: Math.trunc((farReceived - sent + (farSent - received)) / 2), error };
  }

  /** Converts a time of this page's clock to the server's; `null` without an exchange. */
  toServer(at) {
    return this.best && at + this.best.nanos;
  }

  /** Converts a time of the server's clock to this page's; `null` without an exchange. */
  toPage(at) {
    return this.best && at - this.best.nanos;
  }
}
