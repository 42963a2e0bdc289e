//! A netlink socket (netlink(7)): requests, one at a time, and the messages of multicast groups.

use crate::process::{check, check_size};
use netburn_units::Duration;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

pub mod message;

use message::Message;

/// A netlink socket. It stays in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket of a protocol (NETLINK_ROUTE) in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new(protocol: i32) -> io::Result<Netlink> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers are passed.
        let socket = check(unsafe { libc::socket(libc::AF_NETLINK, kind, protocol) })?;
        // SAFETY: the kernel has just given us this descriptor.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        // The kernel chooses the address. A socket without an address receives no multicast messages.
        // SAFETY: a sockaddr_nl is numbers, all of which may be zero.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        let length = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
        // SAFETY: the kernel reads the length of the address.
        check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(Netlink::from(socket))
    }

    /// Joins a multicast group.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn join(&self, group: u32) -> io::Result<()> {
        let length = size_of::<u32>() as libc::socklen_t;
        let (socket, value) = (self.socket.as_raw_fd(), (&raw const group).cast());
        // SAFETY: the kernel reads one int.
        check(unsafe { libc::setsockopt(socket, libc::SOL_NETLINK, libc::NETLINK_ADD_MEMBERSHIP, value, length) })
            .map(drop)
    }

    /// Sends a request and waits for its answer. Returns the body of the answer, which is empty for an acknowledgement.
    ///
    /// # Errors
    /// The error in the kernel's answer; [`InvalidData`](io::ErrorKind::InvalidData) when the answer is invalid.
    pub fn ask<'a>(&mut self, message: Message, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        self.forget();
        let sequence = self.send(message)?;
        self.answer(sequence, buffer)
    }

    /// Sends a request without an answer. Returns its sequence number.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn send(&mut self, message: Message) -> io::Result<u32> {
        // 0 is the sequence number of events.
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let bytes = message.finish(self.sequence);
        let socket = self.socket.as_raw_fd();
        // SAFETY: the kernel reads as many bytes as there are.
        check_size(unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), 0) })?;
        Ok(self.sequence)
    }

    /// Receives the answer to a request. Returns its body.
    fn answer<'a>(&self, sequence: u32, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        loop {
            let length = self.receive(buffer, 0)?;
            let Some((kind, of, end)) = message::head(&buffer[..length]) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            if of != sequence {
                continue;
            }
            let body = &buffer[16..end];
            // With 0, it is an acknowledgement.
            if i32::from(kind) == libc::NLMSG_ERROR {
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
        while self.receive_now(&mut buffer).is_ok_and(|length| length > 0) {}
    }

    /// Receives a datagram that has arrived already. Returns its length.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when there is none.
    pub fn receive_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.receive(buffer, libc::MSG_DONTWAIT)
    }

    /// Receives a datagram of at most `room` bytes.
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) when none arrives in time.
    pub fn receive_within(&self, within: Duration, room: usize) -> io::Result<Vec<u8>> {
        let mut poll = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let milliseconds = i32::try_from(within.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        // SAFETY: one pollfd is there.
        match check(unsafe { libc::poll(&raw mut poll, 1, milliseconds) }) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        let mut datagram = vec![0; room];
        let length = self.receive_now(&mut datagram)?;
        datagram.truncate(length);
        Ok(datagram)
    }

    fn receive(&self, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
        let (socket, room) = (self.socket.as_raw_fd(), buffer.len());
        // SAFETY: the kernel writes at most as many bytes as there are.
        check_size(unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), room, flags) })
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
