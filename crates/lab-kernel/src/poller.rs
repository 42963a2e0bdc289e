//! Waiting for files and for an absolute time on one thread, and real-time scheduling.

use netburn_platform::Monotonic;
use netburn_platform::system_call::check;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::thread::ClockId;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

/// Waits until one of several files is readable (epoll(7)) or a time has come (timerfd).
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
}

/// Maximum number of events of one wait.
const MAX_EVENTS: usize = 64;

/// Number of the timer.
const TIMER: u64 = u64::MAX;

impl Poller {
    /// Creates a poller without files.
    ///
    /// # Errors
    /// An I/O error when too many files are open.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let poller = Poller {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            timer: rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?,
        };
        let timer = EventData::new_u64(TIMER);
        epoll::add(&poller.epoll, &poller.timer, timer, EventFlags::IN)?;
        Ok(poller)
    }

    /// Adds `file` with this number.
    ///
    /// # Errors
    /// The kernel's error when the file does not support polling.
    pub fn add(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, file, data(number), EventFlags::IN)?)
    }

    /// Ignores `file` until it is [resumed](Self::resume).
    ///
    /// # Errors
    /// The kernel's error when the file was not added.
    pub fn pause(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, file, data(number), EventFlags::empty())?)
    }

    /// Waits for `file` again.
    ///
    /// # Errors
    /// The kernel's error when the file was not added.
    pub fn resume(&self, file: impl AsFd, number: u32) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, file, data(number), EventFlags::IN)?)
    }

    /// Removes `file`.
    ///
    /// # Errors
    /// The kernel's error when the file was not added.
    pub fn remove(&self, file: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, file)?)
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
        let timeout = passed.then_some(Timespec { tv_sec: 0, tv_nsec: 0 });
        let mut room = [MaybeUninit::uninit(); MAX_EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room[..], timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let numbers = events.iter().map(|event| event.data.u64());
        ready.extend(numbers.filter_map(|number| u32::try_from(number).ok()));
        Ok(())
    }

    /// Sleeps until `until`, regardless of readable files. A signal ends the sleep and is not an error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn sleep(&self, until: Monotonic) -> io::Result<()> {
        match rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &timespec(until.as_nanos().max(0))) {
            Ok(()) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Arms the timer. This clears previous expirations, so the timer is never read.
    fn arm(&self, until: Option<Monotonic>) -> io::Result<()> {
        // A value of zero disarms the timer.
        let nanos = until.map_or(0, |until| until.as_nanos().max(1));
        let spec = Itimerspec {
            it_interval: timespec(0),
            it_value: timespec(nanos),
        };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec)?;
        Ok(())
    }
}

fn data(number: u32) -> EventData {
    EventData::new_u64(number.into())
}

fn timespec(nanos: i64) -> Timespec {
    Timespec {
        tv_sec: nanos / 1_000_000_000,
        tv_nsec: nanos % 1_000_000_000,
    }
}

/// Gives this thread real-time priority (SCHED_FIFO at `priority`, 1 to 99; sched(7)). Child processes do not inherit
/// it.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_SYS_NICE or RLIMIT_RTPRIO.
pub fn set_realtime_priority(priority: i32) -> io::Result<()> {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // rustix does not set the scheduling policy, and musl's function returns an error. SAFETY: the kernel's sched_param is
    // one int, which the kernel reads.
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
