//! A thread of the server with its runtime, and the state shared by all threads.

use super::admission::Admission;
use super::config::Limits;
use super::congestion_control::AvailableControls;
use super::connection;
use super::date::Dates;
use super::flow::SharedLink;
use super::registry::Registry;
use super::route::Site;
use super::station_bytes::StationBytes;
use super::stats::{CHECK_INTERVAL, Stats};
use super::timer_queue::TimerQueue;
use super::{accept, echo};
use crate::content::Content;
use netburn_linux::Monotonic;
use netburn_linux::cpu::ThreadId;
use netburn_record::Standstills;
use netburn_units::Instant;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot, watch};
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

/// Sockets at which a worker listens.
#[derive(Default)]
pub(crate) struct Sockets {
    pub(crate) listeners: Vec<(std::net::TcpListener, bool)>,
    pub(crate) datagrams: Vec<(std::net::UdpSocket, crate::datagram::Echo)>,
}

/// Channels that pass connections to the workers.
#[derive(Clone)]
pub(crate) struct Workers {
    pub(crate) inboxes: Vec<mpsc::UnboundedSender<Accepted>>,
    pub(crate) shared: Arc<Shared>,
}

/// Parameters of a worker.
pub(crate) struct Start {
    pub(crate) number: usize,
    pub(crate) workers: Workers,
    pub(crate) inbox: mpsc::UnboundedReceiver<Accepted>,
    pub(crate) sockets: Sockets,
    pub(crate) stop: watch::Receiver<bool>,
    /// Receives the thread id once the worker has started; dropped when it ends.
    pub(crate) started: oneshot::Sender<ThreadId>,
    /// Receives a message when the worker ends for any reason.
    pub(crate) ended: mpsc::UnboundedSender<()>,
}

impl Start {
    /// Starts the thread.
    pub(crate) fn spawn(self) -> io::Result<std::thread::JoinHandle<io::Result<()>>> {
        let name = format!("serve-{}", self.number);
        std::thread::Builder::new().name(name).spawn(move || self.run())
    }

    fn run(mut self) -> io::Result<()> {
        let _ended = Ended(self.ended.clone());
        // Without it waits are up to 50 µs late.
        let _ = netburn_linux::set_timer_slack(1);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build_local(Default::default())?;
        runtime.block_on(async {
            let shared = Arc::clone(&self.workers.shared);
            let (timer_queue, driver) = TimerQueue::new()?;
            let worker = Rc::new(Worker {
                stats: Arc::clone(&shared.stats[self.number]),
                content: shared.content.clone(),
                shared,
                timer_queue,
                dates: Dates::default(),
            });
            tokio::task::spawn_local(driver);
            tokio::task::spawn_local(watch_standstills(Rc::clone(&worker)));
            for (listener, tls) in self.sockets.listeners.drain(..) {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                tokio::task::spawn_local(accept::serve(
                    Rc::clone(&worker),
                    self.number,
                    self.workers.clone(),
                    listener,
                    tls,
                ));
            }
            for (socket, echo) in self.sockets.datagrams.drain(..) {
                let socket = tokio::net::UdpSocket::from_std(socket)?;
                tokio::task::spawn_local(echo::serve(Rc::clone(&worker), socket, echo));
            }
            let _ = self.started.send(ThreadId::current());
            loop {
                tokio::select! {
                    accepted = self.inbox.recv() => match accepted {
                        Some(Accepted { stream, peer, tls }) => match TcpStream::from_std(stream) {
                            Ok(stream) => worker.serve(stream, peer, tls),
                            // The connection was counted when it was passed to this worker.
                            Err(_) => drop(worker.stats.connections.fetch_sub(1, Relaxed)),
                        },
                        None => break,
                    },
                    // Shutdown was requested, or the server was dropped.
                    _ = self.stop.wait_for(|stop| *stop) => break,
                }
            }
            Ok(())
        })
    }
}

/// Records the thread's longest standstill while detection is enabled.
async fn watch_standstills(worker: Rc<Worker>) {
    let mut wanted = worker.shared.watching.subscribe();
    if wanted.wait_for(|wanted| *wanted).await.is_err() {
        return;
    }
    let mut standstills = Standstills::new(CHECK_INTERVAL);
    loop {
        let now = Monotonic::now();
        let look = Instant::from_nanos(now.as_nanos());
        worker.stats.record_check(look, standstills.handle_poll(look));
        worker.timer_queue.until(now + CHECK_INTERVAL).await;
    }
}

/// Reports the end of a worker, also after a panic.
struct Ended(mpsc::UnboundedSender<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Worker {
    /// Serves a connection on this thread. It has been counted as open.
    pub(crate) fn serve(self: &Rc<Self>, stream: TcpStream, peer: SocketAddr, tls: bool) {
        tokio::task::spawn_local(connection::serve(Rc::clone(self), stream, peer, tls));
    }
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
