//! Threads for long work. A thread that has finished its work waits for more: a new thread costs about 100 µs, most of it for
//! its first memory.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Work for a thread.
type Work = Box<dyn FnOnce() + Send>;

/// Waiting threads of this process.
struct Waiting {
    /// A fork copies the list, but not the threads.
    process: u32,
    threads: Vec<SyncSender<Work>>,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    process: 0,
    threads: Vec::new(),
});

/// Maximum number of waiting threads.
const MAX_WAITING: usize = 16;

/// Executes the work on another thread.
///
/// # Errors
/// No thread can be started.
pub(crate) fn execute(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut work: Work = Box::new(work);
    if let Some(thread) = take() {
        match thread.send(work) {
            Ok(()) => return Ok(()),
            // Its earlier work panicked.
            Err(unsent) => work = unsent.0,
        }
    }
    let (sender, receiver) = sync_channel::<Work>(1);
    std::thread::Builder::new().name("netburn".to_owned()).spawn(move || {
        work();
        while put(&sender) {
            let Ok(work) = receiver.recv() else { return };
            work();
        }
    })?;
    Ok(())
}

/// Takes a waiting thread. Another thread may have held the lock at the time of a fork, so that no caller waits for it.
fn take() -> Option<SyncSender<Work>> {
    let mut waiting = WAITING.try_lock().ok()?;
    if waiting.process != std::process::id() {
        // The threads are those of the parent process.
        waiting.threads.clear();
        return None;
    }
    waiting.threads.pop()
}

/// Returns `true` if the thread of this sender waits now; otherwise it ends.
fn put(sender: &SyncSender<Work>) -> bool {
    let Ok(mut waiting) = WAITING.try_lock() else {
        return false;
    };
    let process = std::process::id();
    if waiting.process != process {
        waiting.process = process;
        waiting.threads.clear();
    }
    if waiting.threads.len() == MAX_WAITING {
        return false;
    }
    waiting.threads.push(sender.clone());
    true
}
