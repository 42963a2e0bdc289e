//! Work on several threads: each thread takes the next item when it is free.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of processors that this process may use; 1 if the system does not report it.
#[must_use]
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` once with each of 0 to `count` − 1, on up to `threads` threads. The calling thread is one of
/// them.
pub fn each(count: u64, threads: usize, work: &(dyn Fn(u64) + Sync)) {
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
pub fn map<T: Send>(count: usize, threads: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        for threads in [0, 1, 3, 50] {
            assert_eq!(
                map(10, threads, &|number| number * 2),
                [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]
            );
            assert!(map(0, threads, &|number| number).is_empty());
        }
    }

    #[test]
    fn one_thread_is_the_calling_one() {
        let here = std::thread::current().id();
        assert!(map(3, 1, &|_| std::thread::current().id()).iter().all(|id| *id == here));
    }
}
