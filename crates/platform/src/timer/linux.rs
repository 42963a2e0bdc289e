//! Linux.

use super::*;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[derive(Debug)]
pub(super) struct Timer {
    file: AsyncFd<OwnedFd>,
    armed: Option<Monotonic>,
}

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
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
        let spec = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec {
                tv_sec: nanos / 1_000_000_000,
                tv_nsec: nanos % 1_000_000_000,
            },
        };
        rustix::time::timerfd_settime(self.file.get_ref(), TimerfdTimerFlags::ABSTIME, &spec)
            .expect("an open timer takes every positive time");
        self.armed = Some(at);
    }
}

pub(super) fn set_timer_slack(nanos: u32) -> io::Result<()> {
    let slack = std::num::NonZeroU64::new(nanos.into());
    Ok(rustix::thread::set_current_timer_slack(slack)?)
}
