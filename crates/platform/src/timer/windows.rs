//! Windows: a high-resolution waitable timer. A thread of the system's pool wakes the task.

use super::*;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Media::timeBeginPeriod;
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, INFINITE, RegisterWaitForSingleObject,
    SetWaitableTimer, TIMER_ALL_ACCESS, UnregisterWaitEx, WT_EXECUTEINWAITTHREAD,
};

#[derive(Debug)]
pub(super) struct Timer {
    // Dropped before the handle and the state that it uses.
    _wait: Wait,
    timer: OwnedHandle,
    state: Arc<Mutex<State>>,
    armed: Option<Monotonic>,
}

#[derive(Debug, Default)]
struct State {
    waker: Option<Waker>,
    has_expired: bool,
}

/// A registered wait for the timer, which calls [`expired`].
#[derive(Debug)]
struct Wait(HANDLE);

// SAFETY: the handle of a wait belongs to the process, and any thread may end the wait.
unsafe impl Send for Wait {}
// SAFETY: a shared reference has no operations.
unsafe impl Sync for Wait {}

impl Drop for Wait {
    fn drop(&mut self) {
        // Waits until a running callback has returned, so that the state can be dropped afterwards. The callback only wakes
        // a task and so never drops a timer itself.
        // SAFETY: the wait is registered, and is ended once.
        unsafe { UnregisterWaitEx(self.0, INVALID_HANDLE_VALUE) };
    }
}

/// Wakes the task of a timer.
unsafe extern "system" fn expired(state: *mut core::ffi::c_void, _timed_out: bool) {
    // SAFETY: the pointer is the state of a timer, which lives until its wait has ended.
    let state = unsafe { &*state.cast::<Mutex<State>>() };
    let waker = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_expired = true;
        state.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Creates a timer that resets itself when a wait ends. Windows before 10.0.17134 has no high resolution.
fn create() -> io::Result<OwnedHandle> {
    let create = |flags| {
        // SAFETY: both pointers may be null: no attributes, no name.
        let timer = unsafe { CreateWaitableTimerExW(std::ptr::null(), std::ptr::null(), flags, TIMER_ALL_ACCESS) };
        if timer.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is open, and nothing else closes it.
        Ok(unsafe { OwnedHandle::from_raw_handle(timer) })
    };
    create(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION).or_else(|_| create(0))
}

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        let timer = create()?;
        let state = Arc::new(Mutex::new(State::default()));
        let mut wait = std::ptr::null_mut();
        // SAFETY: the timer and the state live until the wait has ended: `_wait` is dropped first.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &raw mut wait,
                timer.as_raw_handle(),
                Some(expired),
                Arc::as_ptr(&state).cast(),
                INFINITE,
                WT_EXECUTEINWAITTHREAD,
            )
        };
        if registered == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            _wait: Wait(wait),
            timer,
            state,
            armed: None,
        })
    }

    pub(super) fn poll_until(&mut self, cx: &mut Context<'_>, at: Monotonic) -> Poll<()> {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if std::mem::take(&mut state.has_expired) {
                self.armed = None;
            }
            state.waker = Some(cx.waker().clone());
        }
        let now = Monotonic::now();
        if now >= at {
            return Poll::Ready(());
        }
        if self.armed != Some(at) {
            self.arm(at.saturating_since(now).as_nanos());
            self.armed = Some(at);
        }
        Poll::Pending
    }

    fn arm(&self, nanos: u64) {
        // A negative value is a relative time in units of 100 ns.
        let due = -i64::try_from(nanos.div_ceil(100)).unwrap_or(i64::MAX);
        // SAFETY: the timer is open, and the function reads the time.
        let set = unsafe { SetWaitableTimer(self.timer.as_raw_handle(), &raw const due, 0, None, std::ptr::null(), 0) };
        assert!(set != 0, "an open timer takes every time");
    }
}

/// The other waits of this process have the resolution of the system's timer, which is at most 1 ms
/// (`timeBeginPeriod`).
pub(super) fn set_timer_slack(_nanos: u32) -> io::Result<()> {
    // SAFETY: it has no pointers.
    match unsafe { timeBeginPeriod(1) } {
        0 => Ok(()),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
