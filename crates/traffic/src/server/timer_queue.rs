//! Many timers of one thread's tasks on one high-resolution timer.

use netburn_platform::{Monotonic, Timer};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Wakes tasks at given times, accurate to a few microseconds. Clones share the queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimerQueue(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<(Monotonic, u64), Waker>,
    next: u64,
    driver: Option<Waker>,
}

impl TimerQueue {
    /// Creates a queue, and the future that drives it while polled.
    pub(crate) fn new() -> io::Result<(Self, impl Future<Output = ()>)> {
        let timer_queue = Self::default();
        let state = Rc::clone(&timer_queue.0);
        let mut timer = Timer::new()?;
        let driver = poll_fn(move |cx| {
            loop {
                let first = state.borrow().waiting.first_key_value().map(|(key, _)| key.0);
                state.borrow_mut().driver = Some(cx.waker().clone());
                let Some(first) = first else { return Poll::Pending };
                if timer.poll_until(cx, first).is_pending() {
                    return Poll::Pending;
                }
                state.borrow_mut().wake_due(Monotonic::now());
            }
        });
        Ok((timer_queue, driver))
    }

    /// Waits until `at`. Returns immediately if it has passed.
    pub(crate) async fn until(&self, at: Monotonic) {
        let mut wait = Wait {
            timer_queue: self,
            key: None,
        };
        poll_fn(|cx| wait.poll(cx, at)).await;
    }
}

impl State {
    fn wake_due(&mut self, now: Monotonic) {
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 <= now
        {
            entry.remove().wake();
        }
    }
}

/// A wait in the queue. Dropping it removes it.
struct Wait<'a> {
    timer_queue: &'a TimerQueue,
    key: Option<(Monotonic, u64)>,
}

impl Wait<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, at: Monotonic) -> Poll<()> {
        if Monotonic::now() >= at {
            return Poll::Ready(());
        }
        let mut state = self.timer_queue.0.borrow_mut();
        let key = match self.key {
            Some(key) => key,
            None => {
                state.next += 1;
                (at, state.next)
            }
        };
        self.key = Some(key);
        state.waiting.insert(key, cx.waker().clone());
        // Only a new first entry changes the driver's timeout.
        if state.waiting.first_key_value().is_some_and(|(first, _)| *first == key)
            && let Some(driver) = state.driver.take()
        {
            driver.wake();
        }
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.timer_queue.0.borrow_mut().waiting.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    #[tokio::test]
    async fn tasks_are_woken_in_time_and_dropped_waits_are_removed() {
        let (timer_queue, driver) = TimerQueue::new().unwrap();
        let start = Monotonic::now();
        let woken = RefCell::new(Vec::new());
        let wait = |micros: u64| {
            let (timer_queue, woken) = (&timer_queue, &woken);
            async move {
                let at = start + Duration::from_micros(micros);
                timer_queue.until(at).await;
                assert!(Monotonic::now() >= at);
                woken.borrow_mut().push(micros);
            }
        };
        tokio::select! {
            () = driver => unreachable!("it never ends"),
            _ = async { tokio::join!(wait(3_000), wait(500), wait(1_500), wait(0)) } => {}
        }
        // The order depends on the thread's lateness.
        woken.borrow_mut().sort_unstable();
        assert_eq!(*woken.borrow(), [0, 500, 1_500, 3_000]);
        let far = timer_queue.until(start + Duration::from_secs(3600));
        tokio::select! { biased; () = far => unreachable!(), () = std::future::ready(()) => {} }
        assert!(timer_queue.0.borrow().waiting.is_empty());
    }
}
