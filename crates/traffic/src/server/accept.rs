//! Takes new connections and spreads them over the workers.

use super::stats::Stats;
use super::worker::{Accepted, Worker, Workers};
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// When no more files can be opened, it looks again after so long.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(50);

/// Accepts at `listener` for as long as it is polled. Each connection goes to the worker that has the fewest; `own` is
/// the number of the worker that runs this.
pub(crate) async fn serve(worker: Rc<Worker>, own: usize, workers: Workers, listener: TcpListener, tls: bool) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // One that its client gave up again is nothing; else files or memory have run out.
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    Stats::add(&worker.stats.refused, 1);
                    tracing::warn!(%error, "a connection can't be accepted");
                    tokio::time::sleep(EXHAUSTED_PAUSE).await;
                }
                continue;
            }
        };
        let chosen = workers.choose();
        if chosen == own {
            worker.serve(stream, peer, tls);
        } else if !hand_over(&workers, chosen, stream, peer, tls) {
            workers.shared.stats[chosen].connections.fetch_sub(1, Relaxed);
        }
    }
}

fn hand_over(workers: &Workers, to: usize, stream: TcpStream, peer: std::net::SocketAddr, tls: bool) -> bool {
    // Leaves this thread's runtime; the other registers it with its own.
    let Ok(stream) = stream.into_std() else { return false };
    workers.inboxes[to].send(Accepted { stream, peer, tls }).is_ok()
}
