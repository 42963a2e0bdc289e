//! A thread of the server with its runtime.

use super::date::Dates;
use super::stats::CHECK_INTERVAL;
use super::timer_queue::TimerQueue;
use super::worker_state::{Accepted, Worker, Workers};
use super::{accept, connection, echo};
use crate::datagram::Echo;
use netburn_platform::Monotonic;
use netburn_platform::cpu::ThreadId;
use netburn_record::Standstills;
use netburn_units::Instant;
use netburn_webrtc::ChannelServer;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot, watch};

/// Sockets at which a worker listens.
#[derive(Default)]
pub(crate) struct Sockets {
    pub(crate) listeners: Vec<(std::net::TcpListener, bool)>,
    pub(crate) datagrams: Vec<DatagramSocket>,
}

/// A socket for datagrams, with the state machines that answer.
pub(crate) struct DatagramSocket {
    pub(crate) socket: std::net::UdpSocket,
    pub(crate) echo: Echo,
    /// Data channels of browsers, if the server accepts them.
    pub(crate) channels: Option<ChannelServer>,
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
        let _ = netburn_platform::set_timer_slack(1);
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
            for datagrams in self.sockets.datagrams.drain(..) {
                let socket = tokio::net::UdpSocket::from_std(datagrams.socket)?;
                let (echo, channels) = (datagrams.echo, datagrams.channels);
                tokio::task::spawn_local(echo::serve(Rc::clone(&worker), socket, echo, channels));
            }
            let _ = self.started.send(ThreadId::current());
            loop {
                tokio::select! {
                    accepted = self.inbox.recv() => match accepted {
                        Some(Accepted { stream, peer, tls }) => match TcpStream::from_std(stream) {
                            Ok(stream) => connection::spawn(&worker, stream, peer, tls),
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
