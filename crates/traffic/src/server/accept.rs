//! Accepts connections and distributes them over the workers.

use super::connection;
use super::stats::Stats;
use super::worker_state::{Accepted, Worker, Workers};
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// Pause after too many files are open.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(50);

/// Accepts at `listener` while polled. Each connection goes to the worker with the fewest connections. `own` is the
/// number of the worker that runs this.
pub(crate) async fn serve(worker: Rc<Worker>, own: usize, workers: Workers, listener: TcpListener, tls: bool) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // ConnectionAborted means that the client gave up. Other errors mean too many files or too little
                // memory.
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    Stats::add(&worker.stats.rejected, 1);
                    tracing::warn!(%error, "can't accept a connection");
                    tokio::time::sleep(EXHAUSTED_PAUSE).await;
                }
                continue;
            }
        };
        let chosen = workers.choose();
        if chosen == own {
            connection::spawn(&worker, stream, peer, tls);
        } else if !hand_over(&workers, chosen, stream, peer, tls) {
            workers.shared.stats[chosen].connections.fetch_sub(1, Relaxed);
        }
    }
}

fn hand_over(workers: &Workers, to: usize, stream: TcpStream, peer: std::net::SocketAddr, tls: bool) -> bool {
    // Removes the stream from this thread's runtime; the other worker registers it with its own.
    let Ok(stream) = stream.into_std() else { return false };
    workers.inboxes[to].send(Accepted { stream, peer, tls }).is_ok()
}
