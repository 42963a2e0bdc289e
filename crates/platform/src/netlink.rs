//! A netlink socket (netlink(7)): requests, one at a time, and the messages of multicast groups.

use crate::system_call::set_option;
use netburn_units::Duration;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::time::Timespec;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub mod message;

use message::Message;

/// A netlink socket. It stays in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket of a protocol, or of NETLINK_ROUTE without one, in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new(protocol: Option<Protocol>) -> io::Result<Netlink> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
        // The kernel chooses the address. A socket without an address receives no multicast messages.
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        Ok(Netlink::from(socket))
    }

    /// Joins a multicast group.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn join(&self, group: u32) -> io::Result<()> {
        let group = group.cast_signed();
        set_option(
            self.socket.as_fd(),
            libc::SOL_NETLINK,
            libc::NETLINK_ADD_MEMBERSHIP,
            group,
        )
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
        rustix::net::send(&self.socket, &bytes, SendFlags::empty())?;
        Ok(self.sequence)
    }

    /// Receives the answer to a request. Returns its body.
    fn answer<'a>(&self, sequence: u32, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        loop {
            let length = self.receive(buffer, RecvFlags::empty())?;
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
        self.receive(buffer, RecvFlags::DONTWAIT)
    }

    /// Receives a datagram of at most `room` bytes.
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) when none arrives in time.
    pub fn receive_within(&self, within: Duration, room: usize) -> io::Result<Vec<u8>> {
        let mut files = [PollFd::new(&self.socket, PollFlags::IN)];
        let within = Timespec {
            tv_sec: (within.as_nanos() / 1_000_000_000).try_into().unwrap_or(i64::MAX),
            tv_nsec: (within.as_nanos() % 1_000_000_000) as _,
        };
        match poll(&mut files, Some(&within)) {
            Ok(0) | Err(Errno::INTR) => return Err(io::ErrorKind::TimedOut.into()),
            found => found?,
        };
        let mut datagram = vec![0; room];
        let length = self.receive_now(&mut datagram)?;
        datagram.truncate(length);
        Ok(datagram)
    }

    fn receive(&self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        let (length, _) = rustix::net::recv(&self.socket, buffer, flags)?;
        Ok(length)
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
