//! An absolute timer for tokio with a resolution of microseconds.

use crate::Monotonic;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

/// A timer on the monotonic clock.
///
/// tokio's timers round up to 1 ms. This timer is a timerfd with an absolute time and wakes as soon as the kernel's
/// high-resolution timer expires. On Windows it is a high-resolution waitable timer. Only one task may use it at a time.
#[derive(Debug)]
pub struct Timer(imp::Timer);

impl Timer {
    /// Creates a timer on the current runtime.
    ///
    /// # Errors
    /// An I/O error when too many files are open.
    ///
    /// # Panics
    /// Outside a tokio runtime with an I/O driver.
    pub fn new() -> io::Result<Self> {
        imp::Timer::new().map(Self)
    }

    /// Waits until `at`. Returns immediately if `at` has passed. The future may be dropped, and called again with
    /// another time.
    pub async fn until(&mut self, at: Monotonic) {
        poll_fn(|cx| self.poll_until(cx, at)).await;
    }

    /// Returns `Ready` if `at` has come; otherwise wakes the task at `at`. A later call with another time replaces it.
    pub fn poll_until(&mut self, cx: &mut Context<'_>, at: Monotonic) -> Poll<()> {
        self.0.poll_until(cx, at)
    }
}

/// Sets the timer slack of this thread in nanoseconds: the kernel may delay wake-ups by this time to save power
/// (PR_SET_TIMERSLACK; default 50 µs). On Windows it is 1 ms for the whole process, whatever the argument is. It limits the lateness of sleeps and timeouts, including tokio's.
///
/// # Errors
/// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux and Windows.
pub fn set_timer_slack(nanos: u32) -> io::Result<()> {
    imp::set_timer_slack(nanos)
}

#[cfg_attr(target_os = "linux", path = "timer/linux.rs")]
#[cfg_attr(windows, path = "timer/windows.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "timer/portable.rs")]
mod imp;

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    #[tokio::test]
    async fn a_timer_never_wakes_early_and_can_be_armed_again() {
        let mut timer = Timer::new().unwrap();
        for micros in [0, 1, 50, 300, 1_000, 20] {
            let at = Monotonic::now() + Duration::from_micros(micros);
            timer.until(at).await;
            assert!(Monotonic::now() >= at);
        }
        timer.until(Monotonic::from_nanos(-5)).await;
        timer.until(Monotonic::from_nanos(0)).await;
    }

    #[tokio::test]
    async fn a_later_time_replaces_an_earlier_one() {
        let mut timer = Timer::new().unwrap();
        let start = Monotonic::now();
        let far = start + Duration::from_secs(3600);
        let pending = poll_fn(|cx| Poll::Ready(timer.poll_until(cx, far).is_pending())).await;
        assert!(pending);
        let near = start + Duration::from_millis(2);
        timer.until(near).await;
        let now = Monotonic::now();
        assert!(now >= near && now < far);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_slack_can_be_set() {
        set_timer_slack(1).unwrap();
    }
}
