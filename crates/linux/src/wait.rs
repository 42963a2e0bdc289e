//! Waiting for files and for an absolute time on a thread of one's own, and having that thread run when it wants to.
//! Linux only.

use crate::Monotonic;
use crate::process::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Waits until one of several files can be read (epoll(7)) or a time has come (timerfd).
#[derive(Debug)]
pub struct Wait {
    epoll: OwnedFd,
    timer: OwnedFd,
}

/// The timer's own number.
const TIMER: u64 = u64::MAX;

impl Wait {
    /// Waits for nothing yet.
    ///
    /// # Errors
    /// When no more files can be opened.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed.
        let epoll = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the kernel has just given us this descriptor.
        let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
        // SAFETY: no pointers are passed.
        let timer =
            check(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
        // SAFETY: as above.
        let timer = unsafe { OwnedFd::from_raw_fd(timer) };
        let wait = Wait { epoll, timer };
        wait.put(&wait.timer, TIMER)?;
        Ok(wait)
    }

    /// Waits for `file` too, from now on. It is called `number`.
    ///
    /// # Errors
    /// When it can't be waited for.
    pub fn add(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        self.put(file, u64::from(number))
    }

    /// Doesn't wait for `file` until it is [resumed](Self::resume).
    ///
    /// # Errors
    /// When it isn't waited for.
    pub fn pause(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, file, 0, u64::from(number))
    }

    /// Waits for `file` again.
    ///
    /// # Errors
    /// When it was never added.
    pub fn resume(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, file, libc::EPOLLIN as u32, u64::from(number))
    }

    /// Waits for `file` no more.
    ///
    /// # Errors
    /// When it isn't waited for.
    pub fn remove(&self, file: impl AsFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, file, 0, 0)
    }

    fn put(&self, file: impl AsFd, number: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, file, libc::EPOLLIN as u32, number)
    }

    fn control(&self, operation: libc::c_int, file: impl AsFd, events: u32, number: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events, u64: number };
        let (epoll, file) = (self.epoll.as_raw_fd(), file.as_fd().as_raw_fd());
        // SAFETY: the kernel reads one event.
        check(unsafe { libc::epoll_ctl(epoll, operation, file, &raw mut event) }).map(drop)
    }

    /// Waits until `until` at the latest (for ever without; not at all when it has passed), and puts the numbers of files that can be
    /// read into `ready`.
    ///
    /// # Errors
    /// What the kernel says; a signal is no error.
    pub fn wait(&mut self, until: Option<Monotonic>, ready: &mut Vec<u32>) -> io::Result<()> {
        ready.clear();
        let passed = until.is_some_and(|until| until <= Monotonic::now());
        if !passed {
            self.arm(until)?;
        }
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let timeout = if passed { 0 } else { -1 };
        let epoll = self.epoll.as_raw_fd();
        // SAFETY: the kernel writes at most as many events as there are places.
        let got = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), events.len() as libc::c_int, timeout) };
        let count = match check(got) {
            Ok(count) => count.unsigned_abs() as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        ready.extend(events[..count].iter().filter_map(|event| u32::try_from(event.u64).ok()));
        Ok(())
    }

    /// Sleeps until then, whatever can be read meanwhile.
    ///
    /// # Errors
    /// What the kernel says; a signal ends it early and is no error.
    pub fn sleep(&self, until: Monotonic) -> io::Result<()> {
        let nanos = until.as_nanos().max(0);
        let until = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as _,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the kernel reads one timespec; what is left isn't asked for.
        let error = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const until,
                std::ptr::null_mut(),
            )
        };
        match error {
            0 | libc::EINTR => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Arming takes back what went off before; the timer is never read.
    fn arm(&self, until: Option<Monotonic>) -> io::Result<()> {
        // All zeros disarm it.
        let nanos = until.map_or(0, |until| until.as_nanos().max(1));
        let spec = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec {
                tv_sec: (nanos / 1_000_000_000) as _,
                tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
            },
        };
        let timer = self.timer.as_raw_fd();
        // SAFETY: `spec` lives through the call; the old value isn't asked for.
        check(unsafe { libc::timerfd_settime(timer, libc::TFD_TIMER_ABSTIME, &spec, std::ptr::null_mut()) }).map(drop)
    }
}

/// Has this thread run before all others that aren't real-time too (SCHED_FIFO at `priority`, 1 to 99; sched(7)). What it starts
/// isn't.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_SYS_NICE or an RLIMIT_RTPRIO.
pub fn run_first(priority: i32) -> io::Result<()> {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // The kernel itself: musl's function of this name refuses.
    // SAFETY: the kernel's sched_param is one int, which it reads.
    let set = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    check(set as libc::c_int).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;
    use std::io::Write;

    #[test]
    fn it_waits_for_a_file_or_a_time() {
        let mut wait = Wait::new().unwrap();
        let (reader, mut writer) = std::io::pipe().unwrap();
        wait.add(&reader, 7).unwrap();
        let mut ready = Vec::new();
        let until = Monotonic::now() + Duration::from_micros(300);
        wait.wait(Some(until), &mut ready).unwrap();
        assert!(ready.is_empty() && Monotonic::now() >= until);
        writer.write_all(b"x").unwrap();
        wait.wait(None, &mut ready).unwrap();
        assert_eq!(ready, [7]);
        wait.wait(Some(Monotonic::from_nanos(1)), &mut ready).unwrap();
        assert_eq!(ready, [7]);
        let soon = || Some(Monotonic::now() + Duration::from_micros(300));
        wait.pause(&reader, 7).unwrap();
        wait.wait(soon(), &mut ready).unwrap();
        assert_eq!(ready, []);
        wait.resume(&reader, 7).unwrap();
        wait.wait(soon(), &mut ready).unwrap();
        assert_eq!(ready, [7]);
        wait.remove(&reader).unwrap();
        wait.wait(soon(), &mut ready).unwrap();
        assert_eq!(ready, []);
    }
}
