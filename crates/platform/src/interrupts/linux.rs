//! Linux.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static FROM_PROCESS: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO, the kernel passes a valid pointer.
    let code = unsafe { (*info).si_code };
    // Codes of kill, sigqueue and tgkill are not positive; the kernel's own are.
    FROM_PROCESS.store(code <= 0, Relaxed);
}

pub(super) fn observe() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: all zeros is a valid `sigaction`, with an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: `action` is initialised. The handler only stores to an atomic, which is async-signal-safe.
        unsafe { libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut()) };
    });
}

pub(super) fn is_from_process() -> bool {
    FROM_PROCESS.load(Relaxed)
}
