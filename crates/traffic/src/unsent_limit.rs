//! Limit of the unsent data of a connection that a responsiveness test loads.
//!
//! The response to a probe waits behind the data that the socket has not sent yet. The limit keeps this time short, so
//! that a test measures the network.

use netburn_linux::Monotonic;
use netburn_units::{BitRate, Duration, Instant};
use std::cell::Cell;
use std::os::fd::AsFd;

/// Time in which a connection sends its unsent data.
const DELAY: Duration = Duration::from_millis(5);
/// Minimum limit in bytes: a TLS record, which is the unit of sending.
const MIN: u32 = 16 << 10;
/// Maximum limit in bytes.
const MAX: u32 = 128 << 10;
/// Time between two changes of the limit.
const UPDATE: Duration = Duration::from_millis(100);

/// Unsent limit of one connection; none at first.
#[derive(Debug, Default)]
pub(crate) struct UnsentLimit {
    set: Cell<u32>,
    next: Cell<Option<Instant>>,
}

impl UnsentLimit {
    /// Sets the limit, or adapts it to the connection's rate if enough time has passed. Errors are ignored: systems
    /// without this option have no limit.
    pub(crate) fn update(&self, socket: impl AsFd + Copy) {
        let now = Instant::from_nanos(Monotonic::now().as_nanos());
        if self.next.get().is_some_and(|next| now < next) {
            return;
        }
        self.next.set(Some(now + UPDATE));
        let rate = netburn_linux::tcp_info(socket).ok().and_then(|info| info.delivery_rate);
        let limit = limit(rate.unwrap_or(BitRate::from_bps(0)));
        if limit != self.set.get() && netburn_linux::set_unsent_limit(socket, limit).is_ok() {
            self.set.set(limit);
        }
    }
}

/// Returns the unsent limit in bytes for a connection of this rate.
fn limit(rate: BitRate) -> u32 {
    let bytes = u128::from(rate.as_bps()) * u128::from(DELAY.as_nanos()) / 8_000_000_000;
    u32::try_from(bytes).unwrap_or(MAX).clamp(MIN, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 ms at 100 Mbit/s are 62,500 bytes. 5 ms at 1 Mbit/s are 625 bytes, less than a record.
    #[test]
    fn the_limit_is_five_milliseconds_of_the_rate() {
        assert_eq!(limit(BitRate::from_mbps(100)), 62_500);
        assert_eq!(limit(BitRate::from_mbps(40)), 25_000);
        assert_eq!(limit(BitRate::from_mbps(1)), 16_384);
        assert_eq!(limit(BitRate::from_mbps(10_000)), 131_072);
        assert_eq!(limit(BitRate::from_bps(u64::MAX)), 131_072);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_limit_of_a_socket_is_set() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let unsent = UnsentLimit::default();
        unsent.update(&socket);
        let set = socket2::SockRef::from(&socket).tcp_notsent_lowat().unwrap();
        assert_eq!(set, unsent.set.get());
        assert!((MIN..=MAX).contains(&set));
    }
}
