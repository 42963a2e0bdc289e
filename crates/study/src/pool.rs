//! Thread pool: each thread takes the next item when it is free.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Returns the results of `work` for 0 to `count` − 1, in that order, on up to `threads` threads.
pub(crate) fn map<T: Send>(count: usize, threads: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let results: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    each(count as u64, threads, &|number| {
        let result = work(number as usize);
        results.lock().unwrap_or_else(PoisonError::into_inner)[number as usize] = Some(result);
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results
        .into_iter()
        .map(|one| one.expect("every item has a result"))
        .collect()
}
