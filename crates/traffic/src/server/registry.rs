//! Registry of open connections.

use netburn_platform::TcpInfo;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

/// Sample of one of the server's TCP connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// Client address. Its port identifies the connection at both ends.
    pub peer: SocketAddr,
    /// Time of the sample.
    pub at: std::time::Instant,
    /// Kernel state of the connection.
    pub info: TcpInfo,
}

/// Number of connections that are sampled at once.
const AT_ONCE: usize = 64;

/// Open connections by number, in the order of acceptance.
#[derive(Debug, Default)]
pub(crate) struct Registry(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    open: BTreeMap<u64, (SocketAddr, Arc<TcpStream>)>,
}

impl Registry {
    pub(crate) fn insert(&self, peer: SocketAddr, stream: &Arc<TcpStream>) -> u64 {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, (peer, Arc::clone(stream)));
        number
    }

    pub(crate) fn remove(&self, number: u64) {
        self.lock().open.remove(&number);
    }

    /// Samples each connection. Connections without TCP_INFO are skipped. The lock is held only briefly: a few
    /// connections are copied at a time, and sampled without it.
    pub(crate) fn sample(&self) -> Vec<Connection> {
        let mut looks = Vec::new();
        let mut from = 0;
        loop {
            let some: Vec<_> = {
                let state = self.lock();
                let next = state.open.range(from..).take(AT_ONCE);
                next.map(|(number, (peer, stream))| (*number, *peer, Arc::clone(stream)))
                    .collect()
            };
            let Some((last, ..)) = some.last() else { return looks };
            from = last + 1;
            looks.extend(some.into_iter().filter_map(|(_, peer, stream)| {
                let info = netburn_platform::tcp_info(&*stream).ok()?;
                Some(Connection {
                    peer,
                    at: std::time::Instant::now(),
                    info,
                })
            }));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
