//! An absolute timer for tokio with a resolution of microseconds.

use crate::Monotonic;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

/// A timer on the monotonic clock.
///
/// tokio's timers round up to 1 ms. This timer is a timerfd with an absolute time and wakes as soon as the kernel's
/// high-resolution timer expires. Only one task may use it at a time.
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
/// (PR_SET_TIMERSLACK; default 50 µs). It limits the lateness of sleeps and timeouts, including tokio's.
///
/// # Errors
/// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux.
pub fn set_timer_slack(nanos: u32) -> io::Result<()> {
    imp::set_timer_slack(nanos)
}

#[cfg(target_os = "linux")]
mod imp {
    use super::*;
    use crate::process::check;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    #[derive(Debug)]
    pub(super) struct Timer {
        file: AsyncFd<OwnedFd>,
        armed: Option<Monotonic>,
    }

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            // SAFETY: no pointers are passed.
            let fd =
                check(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
            // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
            let fd = unsafe { OwnedFd::from_raw_fd(fd) };
            // SAFETY: an `OwnedFd` refers to the same open file during its lifetime, and nothing else closes it.
            let file = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE)? };
            Ok(Self { file, armed: None })
        }

        pub(super) fn poll_until(&mut self, cx: &mut Context<'_>, at: Monotonic) -> Poll<()> {
            loop {
                if Monotonic::now() >= at {
                    return Poll::Ready(());
                }
                if self.armed != Some(at) {
                    self.arm(at);
                }
                match self.file.poll_read_ready(cx) {
                    // The timer is not read: arming resets the expiration count, and each expiration is a new edge.
                    Poll::Ready(Ok(mut ready)) => {
                        ready.clear_ready();
                        self.armed = None;
                    }
                    // The runtime is shutting down, so this task is not woken again.
                    Poll::Ready(Err(_)) | Poll::Pending => return Poll::Pending,
                }
            }
        }

        fn arm(&mut self, at: Monotonic) {
            // A value of zero would disarm the timer. A time before boot has passed anyway.
            let nanos = at.as_nanos().max(1);
            let value = libc::timespec {
                tv_sec: (nanos / 1_000_000_000) as _,
                tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
            };
            let spec = libc::itimerspec {
                it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: value,
            };
            let fd = self.file.get_ref().as_raw_fd();
            // SAFETY: `spec` is valid during the call; the old value is not requested.
            let set = unsafe { libc::timerfd_settime(fd, libc::TFD_TIMER_ABSTIME, &spec, std::ptr::null_mut()) };
            check(set).expect("an open timer takes every positive time");
            self.armed = Some(at);
        }
    }

    pub(super) fn set_timer_slack(nanos: u32) -> io::Result<()> {
        // SAFETY: PR_SET_TIMERSLACK takes an integer and does not access memory of this process.
        check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, libc::c_ulong::from(nanos)) }).map(drop)
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::*;
    use std::pin::Pin;
    use tokio::time::{Sleep, sleep};

    #[derive(Debug)]
    pub(super) struct Timer {
        sleep: Option<(Monotonic, Pin<Box<Sleep>>)>,
    }

    impl Timer {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self { sleep: None })
        }

        pub(super) fn poll_until(&mut self, cx: &mut Context<'_>, at: Monotonic) -> Poll<()> {
            let now = Monotonic::now();
            if now >= at {
                return Poll::Ready(());
            }
            if self.sleep.as_ref().is_none_or(|(armed, _)| *armed != at) {
                let left = std::time::Duration::from_nanos(at.saturating_since(now).as_nanos());
                self.sleep = Some((at, Box::pin(sleep(left))));
            }
            let (_, sleep) = self.sleep.as_mut().expect("armed above");
            sleep.as_mut().poll(cx)
        }
    }

    pub(super) fn set_timer_slack(_nanos: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

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
