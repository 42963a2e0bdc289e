//! Windows: the functions that `ping` uses (IcmpSendEcho2), which need no administrator. The system's thread pool collects
//! the answers.

use super::*;
use std::cell::UnsafeCell;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    ICMP_ECHO_REPLY, IP_OPTION_INFORMATION, IP_REQ_TIMED_OUT, IP_SUCCESS, IP_TTL_EXPIRED_TRANSIT, IcmpCloseHandle,
    IcmpCreateFile, IcmpParseReplies, IcmpSendEcho2,
};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, RegisterWaitForSingleObject, UnregisterWaitEx, WT_EXECUTEONLYONCE,
};

/// Time for which the system waits for an answer. Operations have shorter time limits.
const TIMEOUT_MS: u32 = 10_000;
/// Time to live without a choice of the caller, as for other packets of the system.
const DEFAULT_TIME_TO_LIVE: u8 = 128;

#[derive(Debug)]
pub(super) struct Socket {
    file: Arc<File>,
    to: Ipv4Addr,
    time_to_live: u8,
    sender: UnboundedSender<EchoAnswer>,
    answers: tokio::sync::Mutex<UnboundedReceiver<EchoAnswer>>,
}

/// Handle of IcmpCreateFile.
#[derive(Debug)]
struct File(HANDLE);

// SAFETY: any thread may send with the handle.
unsafe impl Send for File {}
// SAFETY: as above; the system serialises the calls.
unsafe impl Sync for File {}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the handle is open. Each pending request has a reference, so that none is pending.
        unsafe { IcmpCloseHandle(self.0) };
    }
}

/// A request whose answer is awaited.
struct Pending {
    sequence: u16,
    /// Aligned for an ICMP_ECHO_REPLY. The system writes to it until it sets the event.
    reply: UnsafeCell<Vec<u64>>,
    event: OwnedHandle,
    wait: Mutex<Wait>,
    sender: UnboundedSender<EchoAnswer>,
    _file: Arc<File>,
}

/// Handle of a registered wait.
struct Wait(HANDLE);

// SAFETY: the handle of a wait belongs to the process.
unsafe impl Send for Wait {}
// SAFETY: only the callback reads the reply, after the system has written it.
unsafe impl Sync for Pending {}

impl Socket {
    pub(super) fn new(to: Ipv4Addr, time_to_live: Option<u8>) -> io::Result<Self> {
        // SAFETY: it has no arguments.
        let file = unsafe { IcmpCreateFile() };
        if file == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        let (sender, answers) = unbounded_channel();
        Ok(Self {
            file: Arc::new(File(file)),
            to,
            time_to_live: time_to_live.unwrap_or(DEFAULT_TIME_TO_LIVE),
            sender,
            answers: tokio::sync::Mutex::new(answers),
        })
    }

    pub(super) fn bind_to_device(&self, _interface: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn set_dscp(&self, _dscp: u8) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn send(&self, sequence: u16, content: &[u8]) -> io::Result<()> {
        let length = u16::try_from(content.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the pointers may be null: no attributes, no name. The event resets itself.
        let event = unsafe { CreateEventW(std::ptr::null(), 0, 0, std::ptr::null()) };
        if event.is_null() {
            return Err(io::Error::last_os_error());
        }
        // The answer, its content or an ICMP error (8 bytes), and an IO_STATUS_BLOCK (16 bytes).
        let room = size_of::<ICMP_ECHO_REPLY>() + content.len() + 8 + 16;
        let pending = Arc::new(Pending {
            sequence,
            reply: UnsafeCell::new(vec![0; room.div_ceil(8)]),
            // SAFETY: the event is open, and nothing else closes it.
            event: unsafe { OwnedHandle::from_raw_handle(event) },
            wait: Mutex::new(Wait(std::ptr::null_mut())),
            sender: self.sender.clone(),
            _file: Arc::clone(&self.file),
        });
        let options = IP_OPTION_INFORMATION {
            Ttl: self.time_to_live,
            ..Default::default()
        };
        // The callback waits for this lock, so that it knows the handle of its wait.
        let mut wait = pending.wait.lock().unwrap_or_else(PoisonError::into_inner);
        let context = Arc::into_raw(Arc::clone(&pending));
        // SAFETY: the reply has the given size. It and the event live until the event is set, because the callback has a
        // reference. The system copies the content and the options.
        let result = unsafe {
            IcmpSendEcho2(
                self.file.0,
                event,
                None,
                std::ptr::null(),
                u32::from_ne_bytes(self.to.octets()),
                content.as_ptr().cast(),
                length,
                &raw const options,
                (*pending.reply.get()).as_mut_ptr().cast(),
                u32::try_from(room).unwrap_or(u32::MAX),
                TIMEOUT_MS,
            )
        };
        let error = io::Error::last_os_error();
        if result == 0 && error.raw_os_error() != Some(ERROR_IO_PENDING.cast_signed()) {
            // SAFETY: without a request there is no callback that would use the reference.
            drop(unsafe { Arc::from_raw(context) });
            return Err(error);
        }
        // SAFETY: the event and the context live until the callback has run.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &raw mut wait.0,
                event,
                Some(answered),
                context.cast(),
                INFINITE,
                WT_EXECUTEONLYONCE,
            )
        };
        // Without a wait the reference is leaked on purpose, because the system still writes the reply.
        if registered == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    pub(super) async fn receive(&self) -> io::Result<EchoAnswer> {
        let answer = self.answers.lock().await.recv().await;
        answer.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

/// Sends the answer to the socket.
unsafe extern "system" fn answered(context: *mut core::ffi::c_void, _timed_out: bool) {
    // SAFETY: the pointer is the reference of this callback, which runs once.
    let pending = unsafe { Arc::from_raw(context.cast_const().cast::<Pending>()) };
    // SAFETY: the event is set, so that the system has written the reply, and nothing else accesses it.
    let reply = unsafe { &mut *pending.reply.get() };
    let size = u32::try_from(reply.len() * 8).unwrap_or(u32::MAX);
    // SAFETY: the buffer has this size.
    if unsafe { IcmpParseReplies(reply.as_mut_ptr().cast(), size) } > 0 {
        // SAFETY: the buffer begins with a reply, for which it is aligned.
        let reply = unsafe { &*reply.as_ptr().cast::<ICMP_ECHO_REPLY>() };
        let sequence = pending.sequence;
        let answer = match reply.Status {
            IP_SUCCESS => Some(EchoAnswer::Reply {
                sequence,
                length: reply.DataSize.into(),
            }),
            IP_TTL_EXPIRED_TRANSIT => Some(EchoAnswer::TimeExceeded {
                sequence,
                router: Ipv4Addr::from(reply.Address.to_ne_bytes()),
            }),
            IP_REQ_TIMED_OUT => None,
            _ => Some(EchoAnswer::Other),
        };
        if let Some(answer) = answer {
            // The socket may have been dropped.
            let _ = pending.sender.send(answer);
        }
    }
    let wait = pending.wait.lock().unwrap_or_else(PoisonError::into_inner).0;
    // SAFETY: the wait is registered. Without an event the function does not wait for this callback.
    unsafe { UnregisterWaitEx(wait, std::ptr::null_mut()) };
    // The event lives until the wait was ended.
    let _ = pending.event.as_raw_handle();
}
