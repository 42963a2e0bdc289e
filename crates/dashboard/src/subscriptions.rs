//! Event streams. One task reads the spool of a run in progress, for any number of streams.

use crate::body::event;
use crate::index::RefreshMode;
use crate::run_store::RunStore;
use crate::spool_tail::{SpoolTail, TailState};
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;

/// Interval between snapshots of a run.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(500);
/// Interval between quick refreshes of the index.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// One refresh out of this number is a full one.
const FULL_REFRESH_EVERY: u32 = 15;
/// Maximum number of runs that are read at the same time.
const MAX_SOURCES: usize = 32;
/// Maximum number of event streams at the same time.
const MAX_STREAMS: usize = 256;
/// Interval between keep-alive comments in a stream without events.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// All event streams.
#[derive(Debug, Clone)]
pub(crate) struct Subscriptions {
    /// Sources by the name of the run; the empty name is the source of changes of all runs. A closed source has ended.
    sources: Arc<Mutex<BTreeMap<String, watch::Receiver<Bytes>>>>,
    streams: Arc<Semaphore>,
    epochs: Arc<watch::Sender<()>>,
}

/// Lifetime of a stream: it ends at the next [`Subscriptions::disconnect_all`].
pub(crate) type SessionEpoch = watch::Receiver<()>;

impl Subscriptions {
    pub(crate) fn new() -> Subscriptions {
        Subscriptions {
            sources: Arc::default(),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            epochs: Arc::new(watch::Sender::new(())),
        }
    }

    /// Current epoch, for a new stream.
    pub(crate) fn epoch(&self) -> SessionEpoch {
        self.epochs.subscribe()
    }

    /// Ends all streams of the current epoch.
    pub(crate) fn disconnect_all(&self) {
        self.epochs.send_replace(());
    }

    /// Events of the run in this folder; `None` if there are too many streams or sources.
    pub(crate) fn run(&self, name: &str, folder: PathBuf, epoch: SessionEpoch) -> Option<mpsc::Receiver<Bytes>> {
        self.subscribe(name, epoch, move |sender| send_snapshots(folder, sender))
    }

    /// Events for changes of all runs.
    pub(crate) fn changes(&self, store: &Arc<RunStore>, epoch: SessionEpoch) -> Option<mpsc::Receiver<Bytes>> {
        let store = Arc::clone(store);
        self.subscribe("", epoch, move |sender| send_changes(store, sender))
    }

    fn subscribe<T>(
        &self,
        name: &str,
        mut epoch: SessionEpoch,
        start: impl FnOnce(watch::Sender<Bytes>) -> T,
    ) -> Option<mpsc::Receiver<Bytes>>
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let permit = Arc::clone(&self.streams).try_acquire_owned().ok()?;
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.retain(|_, source| source.has_changed().is_ok());
        let receiver = match sources.get(name) {
            Some(source) => source.clone(),
            None if sources.len() >= MAX_SOURCES => return None,
            None => {
                let (sender, receiver) = watch::channel(Bytes::new());
                sources.insert(name.to_owned(), receiver.clone());
                tokio::spawn(start(sender));
                receiver
            }
        };
        drop(sources);
        let (send, stream) = mpsc::channel(1);
        tokio::spawn(async move {
            tokio::select! {
                () = forward(receiver, send, permit) => {}
                _ = epoch.changed() => {}
            }
        });
        Some(stream)
    }
}

/// Sends the newest event whenever the client can receive one, and the last event before the end.
async fn forward(mut receiver: watch::Receiver<Bytes>, send: mpsc::Sender<Bytes>, permit: OwnedSemaphorePermit) {
    // Reconnect delay of the browser, in ms.
    let mut next = Bytes::from_static(b"retry: 1000\n\n");
    loop {
        let newest = receiver.borrow_and_update().clone();
        for bytes in [std::mem::take(&mut next), newest] {
            if !bytes.is_empty() && send.send(bytes).await.is_err() {
                return;
            }
        }
        loop {
            tokio::select! {
                changed = receiver.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return drop(permit),
                },
                () = send.closed() => return,
                () = tokio::time::sleep(KEEP_ALIVE_INTERVAL) => {
                    if send.send(Bytes::from_static(b":\n\n")).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Returns true if the source has a receiver besides the one in the list of sources.
fn has_subscribers(sender: &watch::Sender<Bytes>) -> bool {
    sender.receiver_count() > 1
}

async fn send_snapshots(folder: PathBuf, sender: watch::Sender<Bytes>) {
    let mut tail = SpoolTail::new(&folder);
    loop {
        let read = spawn_blocking(move || {
            let state = tail.read();
            let document = tail.document(state);
            (tail, state, document)
        });
        let Ok((returned, state, document)) = read.await else {
            return;
        };
        tail = returned;
        sender.send_replace(event("run", &document));
        match state {
            TailState::CatchingUp => tokio::task::yield_now().await,
            TailState::Live => tokio::time::sleep(SNAPSHOT_INTERVAL).await,
            TailState::Finished | TailState::Unfinished | TailState::Deleted => return,
        }
        if !has_subscribers(&sender) {
            return;
        }
    }
}

async fn send_changes(store: Arc<RunStore>, sender: watch::Sender<Bytes>) {
    #[derive(Serialize)]
    struct Changes {
        changes: u64,
        live: Vec<String>,
    }
    let (mut last, mut refreshes) = (None, 0);
    loop {
        let mode = if refreshes % FULL_REFRESH_EVERY == 0 {
            RefreshMode::Full
        } else {
            RefreshMode::Quick
        };
        refreshes += 1;
        let store = Arc::clone(&store);
        let refreshed = spawn_blocking(move || {
            store.with(mode, |index| {
                let live = index.runs().iter().filter(|(_, entry)| entry.state_name() == "live");
                Changes {
                    changes: index.changes(),
                    live: live.map(|(name, _)| name.clone()).collect(),
                }
            })
        });
        let Ok(refreshed) = refreshed.await else { return };
        if let Ok(document) = refreshed
            && last != Some(document.changes)
        {
            last = Some(document.changes);
            let json = serde_json::to_string(&document).expect("names and numbers");
            sender.send_replace(event("changes", &json));
        }
        tokio::time::sleep(REFRESH_INTERVAL).await;
        if !has_subscribers(&sender) {
            return;
        }
    }
}
