//! Linux.

use super::*;
use crate::clock::read_clock;
use crate::system_call::check;
use rustix::time::ClockId;

pub(super) fn current() -> u32 {
    rustix::thread::gettid().as_raw_pid().unsigned_abs()
}

pub(super) fn thread_time(id: u32) -> io::Result<Duration> {
    // The kernel's encoding of a thread's processor clock (include/linux/posix-timers_types.h): CPUCLOCK_PERTHREAD_MASK
    // and CPUCLOCK_SCHED below the complement of the thread id. rustix has no such clocks.
    let id = libc::clockid_t::try_from(id).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec` to `time`.
    check(unsafe { libc::clock_gettime((!id << 3) | 0b110, &mut time) })?;
    Ok(Duration::from_nanos(
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
    ))
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
    let nanos = read_clock(ClockId::ProcessCPUTime);
    Ok(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
}

pub(super) fn machine() -> io::Result<MachineTimes> {
    let text = std::fs::read_to_string("/proc/stat")?;
    parse_machine(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "invalid /proc/stat"))
}
