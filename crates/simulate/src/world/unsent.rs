//! Limit of the unsent data of one end of a connection (TCP_NOTSENT_LOWAT, tcp(7)).

use netburn_tcp::Endpoint;
use netburn_units::{BitRate, Instant};
use netburn_workload::responsiveness::{LOAD_FRAME, UNSENT_UPDATE, unsent_limit};

/// Limit that follows the rate of the connection, as on real sockets.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnsentLimit {
    limit: u64,
    /// Time of the next change of the limit; `None` before the first one.
    next: Option<Instant>,
    /// True if the application waits until less is unsent.
    waits: bool,
}

impl UnsentLimit {
    /// Writes up to `bytes`. Returns the number of accepted bytes. The kernel accepts a whole write while less than the limit is
    /// unsent (`tcp_sendmsg_locked`, `__sk_stream_memory_free`), and HTTP/2 writes a frame at once. The last frame therefore
    /// exceeds the limit.
    pub(crate) fn write(&mut self, now: Instant, endpoint: &mut Endpoint, bytes: u64) -> u64 {
        if self.next.is_none_or(|next| now >= next) {
            self.next = Some(now + UNSENT_UPDATE);
            let rate = endpoint.info().delivery_rate;
            self.limit = unsent_limit(rate.unwrap_or(BitRate::from_bps(0))).into();
        }
        let free = self.limit.saturating_sub(endpoint.unsent());
        let room = free.next_multiple_of(LOAD_FRAME.into()).min(bytes);
        let written = if room == 0 { 0 } else { endpoint.write(now, room) };
        // Otherwise the send buffer is full, and the endpoint reports when it has room.
        self.waits = written == room && room < bytes;
        written
    }

    /// Returns true, once, if the application waits and can write again: less than half of the limit is unsent
    /// (`tcp_stream_memory_free` with `wake`).
    pub(crate) fn take_writable(&mut self, endpoint: &Endpoint) -> bool {
        let writable = self.waits && endpoint.unsent() * 2 < self.limit;
        self.waits &= !writable;
        writable
    }
}
