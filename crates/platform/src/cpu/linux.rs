//! Linux.

use super::*;
use crate::process::check;

pub(crate) fn read_clock(clock: libc::clockid_t) -> io::Result<i64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec` to `time`.
    check(unsafe { libc::clock_gettime(clock, &mut time) })?;
    Ok(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

fn span(clock: libc::clockid_t) -> io::Result<Duration> {
    let nanos = read_clock(clock)?;
    Ok(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
}

pub(super) fn current() -> u32 {
    // Before version 2.30, glibc has no function for it.
    // SAFETY: gettid has no arguments and cannot fail.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(id).unwrap_or_default()
}

pub(super) fn thread_time(id: u32) -> io::Result<Duration> {
    // The kernel's encoding of a thread's processor clock (include/linux/posix-timers_types.h):
    // CPUCLOCK_PERTHREAD_MASK
    // CPUCLOCK_SCHED below the complement of the thread id.
    let id = libc::clockid_t::try_from(id).map_err(|_| io::ErrorKind::InvalidInput)?;
    span((!id << 3) | 0b110)
}

pub(super) fn threads() -> io::Result<Vec<ThreadId>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc/self/task")? {
        if let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.push(ThreadId(id));
        }
    }
    found.sort_unstable();
    Ok(found)
}

pub(super) fn process_time() -> io::Result<Duration> {
    span(libc::CLOCK_PROCESS_CPUTIME_ID)
}

pub(super) fn machine() -> io::Result<MachineTimes> {
    let text = std::fs::read_to_string("/proc/stat")?;
    parse_machine(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "invalid /proc/stat"))
}
