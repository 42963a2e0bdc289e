//! Waiting for files and for an absolute time on one thread, and real-time scheduling.

use crate::result::check;
use netburn_platform::Monotonic;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Waits until one of several files is readable (epoll(7)) or a time has come (timerfd).
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
}

/// Number of the timer.
const TIMER: u64 = u64::MAX;

impl Poller {
    /// Creates a poller without files.
    ///
    /// # Errors
    /// An I/O error when too many files are open.
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
        let wait = Poller { epoll, timer };
        wait.put(&wait.timer, TIMER)?;
        Ok(wait)
    }

    /// Adds `file` with this number.
    ///
    /// # Errors
    /// The kernel's error when the file does not support polling.
    pub fn add(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        self.put(file, u64::from(number))
    }

    /// Ignores `file` until it is [resumed](Self::resume).
    ///
    /// # Errors
    /// The kernel's error when the file was not added.
    pub fn pause(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, file, 0, u64::from(number))
    }

    /// Waits for `file` again.
    ///
    /// # Errors
    /// The kernel's error when the file was not added.
    pub fn resume(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, file, libc::EPOLLIN as u32, u64::from(number))
    }

    /// Removes `file`.
    ///
    /// # Errors
    /// The kernel's error when the file was not added.
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

    /// Waits until a file is readable, at most until `until`. Without `until`, waits without a limit. Stores the
    /// numbers of readable files in `ready`. A signal is not an error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn wait(&mut self, until: Option<Monotonic>, ready: &mut Vec<u32>) -> io::Result<()> {
        ready.clear();
        let passed = until.is_some_and(|until| until <= Monotonic::now());
        if !passed {
            self.arm(until)?;
        }
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let timeout = if passed { 0 } else { -1 };
        let epoll = self.epoll.as_raw_fd();
        // SAFETY: the kernel writes at most as many events as the array has elements.
        let got = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), events.len() as libc::c_int, timeout) };
        let count = match check(got) {
            Ok(count) => count.unsigned_abs() as usize,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        ready.extend(events[..count].iter().filter_map(|event| u32::try_from(event.u64).ok()));
        Ok(())
    }

    /// Sleeps until `until`, regardless of readable files. A signal ends the sleep and is not an error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn sleep(&self, until: Monotonic) -> io::Result<()> {
        let nanos = until.as_nanos().max(0);
        let until = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as _,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the kernel reads one timespec; the remaining time is not requested.
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

    /// Arms the timer. This clears previous expirations, so the timer is never read.
    fn arm(&self, until: Option<Monotonic>) -> io::Result<()> {
        // A value of zero disarms the timer.
        let nanos = until.map_or(0, |until| until.as_nanos().max(1));
        let spec = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec {
                tv_sec: (nanos / 1_000_000_000) as _,
                tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
            },
        };
        let timer = self.timer.as_raw_fd();
        // SAFETY: `spec` is valid during the call; the old value is not requested.
        check(unsafe { libc::timerfd_settime(timer, libc::TFD_TIMER_ABSTIME, &spec, std::ptr::null_mut()) }).map(drop)
    }
}

/// Gives this thread real-time priority (SCHED_FIFO at `priority`, 1 to 99; sched(7)). Child processes do not inherit
/// it.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_SYS_NICE or RLIMIT_RTPRIO.
pub fn set_realtime_priority(priority: i32) -> io::Result<()> {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // Direct system call, because musl's function returns an error. SAFETY: the kernel's sched_param is one int, which
    // the kernel reads.
    let set = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    check(set as libc::c_int).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;
    use std::io::Write;

    #[test]
    fn a_poller_waits_for_a_file_or_a_time() {
        let mut wait = Poller::new().unwrap();
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
