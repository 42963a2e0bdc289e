//! State of a worker, and the state shared by all workers.

use super::admission::Admission;
use super::config::Limits;
use super::congestion_control::AvailableControls;
use super::date::Dates;
use super::flow::SharedLink;
use super::registry::Registry;
use super::route::Site;
use super::station_bytes::StationBytes;
use super::stats::Stats;
use super::timer_queue::TimerQueue;
use crate::content::Content;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

/// State shared by all threads.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) site: Site,
    pub(crate) content: Content,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) cc: Option<String>,
    pub(crate) controls: AvailableControls,
    /// Rate-limited links of the whole server, down and up.
    pub(crate) links: Option<(SharedLink, SharedLink)>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) registry: Registry,
    /// True if workers detect standstills.
    pub(crate) watching: watch::Sender<bool>,
    /// Statistics of each worker.
    pub(crate) stats: Vec<Arc<Stats>>,
    /// Bytes of content by station.
    pub(crate) tally: StationBytes,
}

/// State shared by the tasks of one thread.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) content: Content,
    pub(crate) timer_queue: TimerQueue,
    pub(crate) dates: Dates,
}

/// A connection accepted by another thread.
pub(crate) struct Accepted {
    pub(crate) stream: std::net::TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) tls: bool,
}

/// Channels that pass connections to the workers.
#[derive(Clone)]
pub(crate) struct Workers {
    pub(crate) inboxes: Vec<mpsc::UnboundedSender<Accepted>>,
    pub(crate) shared: Arc<Shared>,
}

impl Workers {
    /// Returns the worker with the fewest connections, and counts one more for it.
    pub(crate) fn choose(&self) -> usize {
        let counts = self.shared.stats.iter().map(|stats| stats.connections.load(Relaxed));
        let chosen = counts
            .enumerate()
            .min_by_key(|(_, count)| *count)
            .map_or(0, |(index, _)| index);
        self.shared.stats[chosen].connections.fetch_add(1, Relaxed);
        chosen
    }
}
