//! Limit of the unsent data of a connection that a responsiveness test loads.
//!
//! The response to a probe waits behind the data that the socket has not sent yet. The limit keeps this time short, so
//! that a test measures the network.

use netburn_platform::Monotonic;
use netburn_units::{BitRate, Instant};
use netburn_workload::responsiveness::{UNSENT_UPDATE, unsent_limit};
use socket2::SockRef;
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

/// Query parameter of a request whose response needs the limit.
const QUERY: &str = "unsent=limit";

/// True for a socket with a limit of its unsent data. Its writes are then sent alone: the kernel checks the limit only for a new
/// packet buffer, and would append up to 64 KiB to the last one. Clones share the value.
#[derive(Debug, Clone, Default)]
pub(crate) struct IsLimited(Rc<Cell<bool>>);

impl IsLimited {
    pub(crate) fn get(&self) -> bool {
        self.0.get()
    }
}

/// Unsent limit of one connection; none at first.
#[derive(Debug)]
pub(crate) struct UnsentLimit {
    set: Cell<u32>,
    next: Cell<Option<Instant>>,
    is_limited: IsLimited,
}

impl UnsentLimit {
    /// Creates the limit of a socket that reads `is_limited`.
    pub(crate) fn new(is_limited: IsLimited) -> UnsentLimit {
        UnsentLimit {
            set: Cell::new(0),
            next: Cell::new(None),
            is_limited,
        }
    }

    /// Sets the limit, or adapts it to the connection's rate if enough time has passed. Errors are ignored: systems
    /// without this option have no limit.
    pub(crate) fn update<'s>(&self, socket: impl Into<SockRef<'s>> + Copy) {
        let now = Instant::from_nanos(Monotonic::now().as_nanos());
        if self.next.get().is_some_and(|next| now < next) {
            return;
        }
        self.next.set(Some(now + UNSENT_UPDATE));
        let rate = netburn_platform::tcp_info(socket)
            .ok()
            .and_then(|info| info.delivery_rate);
        let limit = unsent_limit(rate.unwrap_or(BitRate::from_bps(0)));
        if limit != self.set.get() && netburn_platform::set_unsent_limit(socket, limit).is_ok() {
            self.set.set(limit);
            self.is_limited.0.set(true);
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
        let is_limited = IsLimited::default();
        let unsent = UnsentLimit::new(is_limited.clone());
        assert!(!is_limited.get());
        unsent.update(&socket);
        let set = socket2::SockRef::from(&socket).tcp_notsent_lowat().unwrap();
        assert_eq!(set, unsent.set.get());
        assert!(((16 << 10)..=(128 << 10)).contains(&set));
        assert!(is_limited.get());
    }

    /// A peer that reads nothing has a window of 64 KiB or more, and the rest stays unsent. Frames of 16 KiB exceed the limit of
    /// 16 KiB by less than one frame if they are sent alone. Ordinary writes fill the last packet buffer of the kernel as well.
    #[cfg(target_os = "linux")]
    #[test]
    fn writes_that_are_sent_alone_keep_the_limit() {
        const FRAME: usize = 16 << 10;
        let unsent = |alone: bool| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let _peer = listener.accept().unwrap();
            socket.set_nonblocking(true).unwrap();
            UnsentLimit::new(IsLimited::default()).update(&socket);
            let frame = vec![0; FRAME];
            let parts = [std::io::IoSlice::new(&frame)];
            let mut end = None;
            // A write of a full socket is tried again until nothing is sent any more.
            while end.is_none_or(|end| std::time::Instant::now() < end) {
                let sent = if alone {
                    netburn_platform::send_alone(&socket, &parts)
                } else {
                    socket2::SockRef::from(&socket).send_vectored(&parts)
                };
                match sent {
                    Ok(_) => end = None,
                    Err(_) if end.is_none() => {
                        end = Some(std::time::Instant::now() + std::time::Duration::from_millis(200))
                    }
                    Err(_) => std::thread::sleep(std::time::Duration::from_millis(5)),
                }
            }
            netburn_platform::tcp_info(&socket).unwrap().bytes_unsent.as_bytes() as usize
        };
        let alone = unsent(true);
        assert!((1..2 * FRAME).contains(&alone), "{alone} bytes");
        assert!(unsent(false) > 2 * FRAME);
    }
}
