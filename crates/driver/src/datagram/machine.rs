//! Interface of the clients to the task that owns their socket.

use super::arrivals::Arrivals;
use netburn_units::Instant;

/// A client of one server, without its socket.
///
/// **Call order:** after every `handle_*` and every command of the client, drain [`poll_event`](Self::poll_event) and
/// [`poll_transmit`](Self::poll_transmit), then wait until [`poll_timeout`](Self::poll_timeout) or the next datagram.
pub trait DatagramMachine {
    /// Something that the client has learned from datagrams.
    type Event;

    /// Processes a datagram that arrived with this DSCP, if it is known. Invalid datagrams and those of other clients are
    /// ignored.
    fn handle_datagram(&mut self, now: Instant, dscp: Option<u8>, bytes: &[u8]);

    /// Handles the timeout at `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next event.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns the next datagram to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout).
    fn poll_timeout(&self) -> Instant;

    /// Returns the packets by the DSCP with which they arrived.
    fn arrivals(&self) -> &Arrivals;
}
