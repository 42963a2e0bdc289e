//! Those who watch: of each run under way one task reads the spool, however many look.

use crate::body::event;
use crate::follow::{Follower, Stand};
use crate::house::Shelf;
use crate::index::Look;
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;

/// How often a run is drawn anew.
const DRAW: Duration = Duration::from_millis(500);
/// How often it is looked whether runs came or went.
const NEWS: Duration = Duration::from_secs(1);
/// How often all runs are looked at, in such times.
const WHOLE: u32 = 15;
/// The most runs that are followed at once.
const MOST_FOLLOWED: usize = 32;
/// The most streams of events at once.
const MOST_STREAMS: usize = 256;
/// A line that means nothing goes out after so long, so that both sides know of each other.
const ALIVE: Duration = Duration::from_secs(15);

/// All streams of events.
#[derive(Debug, Clone)]
pub(crate) struct Watchers {
    /// By a run's name; under no name the news of all. Nothing is sent any more once a watch is closed.
    watched: Arc<Mutex<BTreeMap<String, watch::Receiver<Bytes>>>>,
    streams: Arc<Semaphore>,
    away: Arc<watch::Sender<()>>,
}

/// How long somebody may watch: until [`Watchers::send_away`].
pub(crate) type Stay = watch::Receiver<()>;

impl Watchers {
    pub(crate) fn new() -> Watchers {
        Watchers {
            watched: Arc::default(),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            away: Arc::new(watch::Sender::new(())),
        }
    }

    /// For somebody who comes now.
    pub(crate) fn stay(&self) -> Stay {
        self.away.subscribe()
    }

    /// Ends every stream of those who have come so far.
    pub(crate) fn send_away(&self) {
        self.away.send_replace(());
    }

    /// The events of the run in this folder; `None` when too many watch already.
    pub(crate) fn run(&self, name: &str, folder: PathBuf, stay: Stay) -> Option<mpsc::Receiver<Bytes>> {
        self.watch(name, stay, move |tell| follow(folder, tell))
    }

    /// The news of all runs.
    pub(crate) fn news(&self, shelf: &Arc<Shelf>, stay: Stay) -> Option<mpsc::Receiver<Bytes>> {
        let shelf = Arc::clone(shelf);
        self.watch("", stay, move |tell| news(shelf, tell))
    }

    fn watch<T>(
        &self,
        name: &str,
        mut stay: Stay,
        begin: impl FnOnce(watch::Sender<Bytes>) -> T,
    ) -> Option<mpsc::Receiver<Bytes>>
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let permit = Arc::clone(&self.streams).try_acquire_owned().ok()?;
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|_, there| there.has_changed().is_ok());
        let seen = match watched.get(name) {
            Some(there) => there.clone(),
            None if watched.len() >= MOST_FOLLOWED => return None,
            None => {
                let (tell, seen) = watch::channel(Bytes::new());
                watched.insert(name.to_owned(), seen.clone());
                tokio::spawn(begin(tell));
                seen
            }
        };
        drop(watched);
        let (send, stream) = mpsc::channel(1);
        tokio::spawn(async move {
            tokio::select! {
                () = pass_on(seen, send, permit) => {}
                _ = stay.changed() => {}
            }
        });
        Some(stream)
    }
}

/// Sends what is newest, as fast as it is taken, and at last what came last.
async fn pass_on(mut seen: watch::Receiver<Bytes>, send: mpsc::Sender<Bytes>, permit: OwnedSemaphorePermit) {
    // A browser that lost us asks again soon.
    let mut next = Bytes::from_static(b"retry: 1000\n\n");
    loop {
        let newest = seen.borrow_and_update().clone();
        for bytes in [std::mem::take(&mut next), newest] {
            if !bytes.is_empty() && send.send(bytes).await.is_err() {
                return;
            }
        }
        loop {
            tokio::select! {
                changed = seen.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return drop(permit),
                },
                () = send.closed() => return,
                () = tokio::time::sleep(ALIVE) => {
                    if send.send(Bytes::from_static(b":\n\n")).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Whether anybody but the list of those watched still looks.
fn is_watched(tell: &watch::Sender<Bytes>) -> bool {
    tell.receiver_count() > 1
}

async fn follow(folder: PathBuf, tell: watch::Sender<Bytes>) {
    let mut follower = Follower::new(&folder);
    loop {
        let read = spawn_blocking(move || {
            let stand = follower.read();
            let document = follower.document(stand);
            (follower, stand, document)
        });
        let Ok((again, stand, document)) = read.await else {
            return;
        };
        follower = again;
        tell.send_replace(event("run", &document));
        match stand {
            Stand::Behind => tokio::task::yield_now().await,
            Stand::Live => tokio::time::sleep(DRAW).await,
            Stand::Finished | Stand::Left | Stand::Gone => return,
        }
        if !is_watched(&tell) {
            return;
        }
    }
}

async fn news(shelf: Arc<Shelf>, tell: watch::Sender<Bytes>) {
    #[derive(Serialize)]
    struct News {
        changes: u64,
        live: Vec<String>,
    }
    let (mut told, mut times) = (None, 0);
    loop {
        let how = if times % WHOLE == 0 { Look::Whole } else { Look::Quick };
        times += 1;
        let shelf = Arc::clone(&shelf);
        let looked = spawn_blocking(move || {
            shelf.with(how, |index| {
                let live = index.runs().iter().filter(|(_, entry)| entry.state() == "live");
                News {
                    changes: index.changes(),
                    live: live.map(|(name, _)| name.clone()).collect(),
                }
            })
        });
        let Ok(looked) = looked.await else { return };
        if let Ok(news) = looked
            && told != Some(news.changes)
        {
            told = Some(news.changes);
            let json = serde_json::to_string(&news).expect("names and numbers");
            tell.send_replace(event("news", &json));
        }
        tokio::time::sleep(NEWS).await;
        if !is_watched(&tell) {
            return;
        }
    }
}
