//! Linux.

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
        let fd = check(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
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
