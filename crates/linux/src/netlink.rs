//! A netlink socket (netlink(7)) with one outstanding request.

use crate::process::{check, check_size};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

pub(crate) mod message;

use message::Message;

/// A netlink socket. It stays in the network namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in this thread's network namespace.
    pub(crate) fn new(protocol: i32) -> io::Result<Netlink> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers are passed.
        let socket = check(unsafe { libc::socket(libc::AF_NETLINK, kind, protocol) })?;
        // SAFETY: the kernel has just given us this descriptor.
        Ok(Netlink::from(unsafe { OwnedFd::from_raw_fd(socket) }))
    }

    /// Sends a request and waits for its answer. Returns the body of the answer, which is empty for an acknowledgement.
    pub(crate) fn ask<'a>(&mut self, message: Message, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        self.forget();
        let sequence = self.send(message)?;
        self.answer(sequence, buffer)
    }

    /// Sends a request without an answer. Returns its sequence number.
    pub(crate) fn send(&mut self, message: Message) -> io::Result<u32> {
        self.sequence = self.sequence.wrapping_add(1);
        let bytes = message.finish(self.sequence);
        let socket = self.socket.as_raw_fd();
        // SAFETY: the kernel reads as many bytes as there are.
        check_size(unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), 0) })?;
        Ok(self.sequence)
    }

    /// Receives the answer to a request. Returns its body.
    fn answer<'a>(&self, sequence: u32, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        loop {
            let socket = self.socket.as_raw_fd();
            // SAFETY: the kernel writes at most as many bytes as there are.
            let length = check_size(unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), 0) })?;
            let Some((kind, of, end)) = message::head(&buffer[..length]) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            if of != sequence {
                continue;
            }
            let body = &buffer[16..end];
            // NLMSG_ERROR, which with 0 is an acknowledgement.
            if kind == 2 {
                let code = body
                    .get(..4)
                    .map_or(0, |code| i32::from_ne_bytes(code.try_into().expect("four")));
                return if code == 0 {
                    Ok(&[])
                } else {
                    Err(io::Error::from_raw_os_error(-code))
                };
            }
            return Ok(body);
        }
    }

    /// Discards answers that were not awaited.
    fn forget(&self) {
        let mut buffer = [0_u8; 4096];
        let socket = self.socket.as_raw_fd();
        // SAFETY: the kernel writes at most as many bytes as there are.
        while unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) } > 0 {}
    }
}

impl From<OwnedFd> for Netlink {
    fn from(socket: OwnedFd) -> Netlink {
        Netlink { socket, sequence: 0 }
    }
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
