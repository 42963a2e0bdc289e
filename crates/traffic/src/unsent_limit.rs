//! Limit of the unsent data of a connection that a responsiveness test loads.
//!
//! The response to a probe waits behind the data that the socket has not sent yet. The limit keeps this time short, so
//! that a test measures the network.

use netburn_linux::Monotonic;
use netburn_units::{BitRate, Instant};
use netburn_workload::responsiveness::{UNSENT_UPDATE, unsent_limit};
use std::borrow::Cow;
use std::cell::Cell;
use std::os::fd::AsFd;

/// Query parameter of a request whose response needs the limit.
const QUERY: &str = "unsent=limit";

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
        self.next.set(Some(now + UNSENT_UPDATE));
        let rate = netburn_linux::tcp_info(socket).ok().and_then(|info| info.delivery_rate);
        let limit = unsent_limit(rate.unwrap_or(BitRate::from_bps(0)));
        if limit != self.set.get() && netburn_linux::set_unsent_limit(socket, limit).is_ok() {
            self.set.set(limit);
        }
    }
}

/// Adds the request for the limit to `path`.
pub(crate) fn limited(path: Cow<'_, str>) -> Cow<'_, str> {
    let sign = if path.contains('?') { '&' } else { '?' };
    format!("{path}{sign}{QUERY}").into()
}

/// Returns whether the query of `path` requests the limit.
pub(crate) fn is_limited(path: &str) -> bool {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|part| part == QUERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_requested_in_the_query() {
        assert!(!is_limited("/bytes/5"));
        assert!(!is_limited("/bytes/unsent=limit"));
        assert!(!is_limited("/bytes/5?dscp=8&unsent=limits"));
        for path in ["/bytes/5", "/bytes/5?dscp=8"] {
            assert!(is_limited(&limited(path.into())), "{path}");
        }
        assert_eq!(limited("/sink?station=3".into()), "/sink?station=3&unsent=limit");
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
        assert!(((16 << 10)..=(128 << 10)).contains(&set));
    }
}
