//! The connections that are open now, for whoever looks at them.

use super::handle::Connection;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

/// The open connections by number, in the order they came.
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

    /// A look at each; those that the system says nothing about are left out.
    pub(crate) fn look(&self) -> Vec<Connection> {
        let state = self.lock();
        let look = |(peer, stream): &(SocketAddr, Arc<TcpStream>)| {
            let info = netburn_linux::tcp_info(&**stream).ok()?;
            Some(Connection {
                peer: *peer,
                at: std::time::Instant::now(),
                info,
            })
        };
        state.open.values().filter_map(look).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
