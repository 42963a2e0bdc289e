//! Work for all processors: whoever is free takes what comes next.

use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `work` once with each of 0 to `count` − 1, on up to `threads` threads.
pub(crate) fn each(count: u64, threads: usize, work: &(dyn Fn(u64) + Sync)) {
    let next = AtomicU64::new(0);
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            work(number);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, usize::try_from(count).unwrap_or(usize::MAX).max(1)) {
            scope.spawn(worker);
        }
        worker();
    });
}
