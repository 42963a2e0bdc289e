//! One thread of the server, its runtime, and what it shares with the others.

use super::admission::Admission;
use super::config::Limits;
use super::congestion_control::AvailableControls;
use super::connection;
use super::date::Dates;
use super::flow::SharedLink;
use super::registry::Registry;
use super::route::Site;
use super::station_bytes::StationBytes;
use super::stats::{LOOK, Stats};
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

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) site: Site,
    pub(crate) content: Content,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) cc: Option<String>,
    pub(crate) controls: AvailableControls,
    /// The whole server's capped links, down and up.
    pub(crate) links: Option<(SharedLink, SharedLink)>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) registry: Registry,
    /// Whether workers watch for standstills.
    pub(crate) watching: watch::Sender<bool>,
    /// One for each worker.
    pub(crate) stats: Vec<Arc<Stats>>,
    /// Content by station.
    pub(crate) tally: StationBytes,
}

/// What the tasks of one thread share.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) content: Content,
    pub(crate) timer_queue: TimerQueue,
    pub(crate) dates: Dates,
}

/// A connection that another thread accepted.
pub(crate) struct Accepted {
    pub(crate) stream: std::net::TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) tls: bool,
}

/// The sockets that a worker listens at.
#[derive(Default)]
pub(crate) struct Sockets {
    pub(crate) listeners: Vec<(std::net::TcpListener, bool)>,
    pub(crate) datagrams: Vec<(std::net::UdpSocket, crate::datagram::Echo)>,
}

/// How to reach the workers with a new connection.
#[derive(Clone)]
pub(crate) struct Workers {
    pub(crate) inboxes: Vec<mpsc::UnboundedSender<Accepted>>,
    pub(crate) shared: Arc<Shared>,
}

/// What a worker is started with.
pub(crate) struct Start {
    pub(crate) number: usize,
    pub(crate) workers: Workers,
    pub(crate) inbox: mpsc::UnboundedReceiver<Accepted>,
    pub(crate) sockets: Sockets,
    pub(crate) stop: watch::Receiver<bool>,
    /// ProgressReporter once it is under way; dropped when it has ended.
    pub(crate) started: oneshot::Sender<ThreadId>,
    /// ProgressReporter when it has ended, however that was.
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
        // Without it waits are up to 50 µs late: worse, not wrong.
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
                            // It was counted when it was given to us.
                            Err(_) => drop(worker.stats.connections.fetch_sub(1, Relaxed)),
                        },
                        None => break,
                    },
                    // ProgressReporter to, or nobody is left who could tell.
                    _ = self.stop.wait_for(|stop| *stop) => break,
                }
            }
            Ok(())
        })
    }
}

/// Records the thread's longest standstill, from when that is wanted.
async fn watch_standstills(worker: Rc<Worker>) {
    let mut wanted = worker.shared.watching.subscribe();
    if wanted.wait_for(|wanted| *wanted).await.is_err() {
        return;
    }
    let mut standstills = Standstills::new(LOOK);
    loop {
        let now = Monotonic::now();
        let look = Instant::from_nanos(now.as_nanos());
        worker.stats.looked(look, standstills.handle_look(look));
        worker.timer_queue.until(now + LOOK).await;
    }
}

/// Tells that a worker has ended, by a panic too.
struct Ended(mpsc::UnboundedSender<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Worker {
    /// Serves a connection on this thread; it has been counted as open.
    pub(crate) fn serve(self: &Rc<Self>, stream: TcpStream, peer: SocketAddr, tls: bool) {
        tokio::task::spawn_local(connection::serve(Rc::clone(self), stream, peer, tls));
    }
}

impl Workers {
    /// The worker with the fewest connections, which are one more from now on.
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
