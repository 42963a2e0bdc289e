//! Windows. Times are counted in ticks of the scheduler (1 to 15.6 ms), so that a short window is inexact.

use super::*;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::{FILETIME, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThreadId, GetProcessTimes, GetSystemTimes, GetThreadTimes, OpenThread,
    THREAD_QUERY_LIMITED_INFORMATION,
};

const ZERO: FILETIME = FILETIME {
    dwLowDateTime: 0,
    dwHighDateTime: 0,
};

/// Units of 100 ns.
fn units(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

fn check(done: i32) -> io::Result<()> {
    if done == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

pub(super) fn current() -> u32 {
    // SAFETY: it has no arguments.
    unsafe { GetCurrentThreadId() }
}

pub(super) fn thread_time(id: u32) -> io::Result<Duration> {
    // SAFETY: it has no pointers.
    let thread = unsafe { OpenThread(THREAD_QUERY_LIMITED_INFORMATION, 0, id) };
    if thread.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and nothing else closes it.
    let thread = unsafe { OwnedHandle::from_raw_handle(thread) };
    let (mut created, mut ended, mut kernel, mut user) = (ZERO, ZERO, ZERO, ZERO);
    // SAFETY: the handle is open, and the function writes four times.
    check(unsafe {
        GetThreadTimes(
            thread.as_raw_handle(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    })?;
    Ok(Duration::from_nanos((units(kernel) + units(user)) * 100))
}

pub(super) fn threads() -> io::Result<Vec<ThreadId>> {
    // SAFETY: it has no pointers.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and nothing else closes it.
    let snapshot = unsafe { OwnedHandle::from_raw_handle(snapshot) };
    // SAFETY: the structure has integers only.
    let mut entry: THREADENTRY32 = unsafe { std::mem::zeroed() };
    entry.dwSize = size_of::<THREADENTRY32>() as u32;
    let mut found = Vec::new();
    // SAFETY: the entry has its size, as the function requires.
    let mut more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        // The snapshot has the threads of all processes.
        if entry.th32OwnerProcessID == std::process::id() {
            found.push(ThreadId(entry.th32ThreadID));
        }
        // SAFETY: as above.
        more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    found.sort_unstable();
    Ok(found)
}

pub(super) fn process_time() -> io::Result<Duration> {
    let (mut created, mut ended, mut kernel, mut user) = (ZERO, ZERO, ZERO, ZERO);
    // SAFETY: the handle of this process is always open, and the function writes four times.
    check(unsafe {
        GetProcessTimes(
            GetCurrentProcess(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    })?;
    Ok(Duration::from_nanos((units(kernel) + units(user)) * 100))
}

pub(super) fn machine() -> io::Result<MachineTimes> {
    let (mut idle, mut kernel, mut user) = (ZERO, ZERO, ZERO);
    // SAFETY: the function writes three times.
    check(unsafe { GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user) })?;
    // The time of the kernel includes the idle time.
    Ok(MachineTimes {
        busy: (units(kernel) + units(user)).saturating_sub(units(idle)),
        idle: units(idle),
        steal: 0,
    })
}
