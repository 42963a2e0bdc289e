//! Control messages of recvmsg(2) and sendmsg(2) (cmsg(3)). Linux only.

use crate::system_call::check_size;
use socket2::{SockAddr, SockAddrStorage, Socket};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::AsRawFd;

/// Control message: level, type and data.
pub(crate) type ControlMessage<'a> = (libc::c_int, libc::c_int, &'a [u8]);

/// Size of a `struct cmsghdr`: length, level, type. Messages are aligned to the length.
const HEADER: usize = size_of::<usize>() + 2 * size_of::<libc::c_int>();

/// Message that [`receive`] received.
pub(crate) struct ReceivedMessage {
    pub(crate) length: usize,
    pub(crate) flags: libc::c_int,
    pub(crate) from: SockAddr,
    control: [u8; 256],
    control_length: usize,
}

/// Receives a message with its source address and up to 256 bytes of control messages. rustix skips the control messages
/// of IP.
pub(crate) fn receive(socket: &Socket, buffer: &mut [u8], flags: libc::c_int) -> io::Result<ReceivedMessage> {
    let mut name = SockAddrStorage::zeroed();
    let mut control = [0; 256];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: a msghdr is numbers and pointers; all zero is an empty one.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_name = (&raw mut name).cast();
    message.msg_namelen = name.size_of();
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = control.len() as _;
    // SAFETY: name, buffer and control have the lengths in the message and are valid during the call.
    let length = check_size(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) })?;
    Ok(ReceivedMessage {
        length,
        flags: message.msg_flags,
        // SAFETY: the kernel has written an address of that length.
        from: unsafe { SockAddr::new(name, message.msg_namelen) },
        control,
        control_length: message.msg_controllen as usize,
    })
}

impl ReceivedMessage {
    /// Returns the control messages.
    pub(crate) fn control(&self) -> impl Iterator<Item = ControlMessage<'_>> {
        messages(&self.control[..self.control_length.min(self.control.len())])
    }
}

fn messages(mut control: &[u8]) -> impl Iterator<Item = ControlMessage<'_>> {
    std::iter::from_fn(move || {
        let (length, rest) = control.split_first_chunk()?;
        let length = usize::from_ne_bytes(*length);
        let (level, rest) = rest.split_first_chunk()?;
        let (kind, _) = rest.split_first_chunk()?;
        let data = control.get(HEADER..length)?;
        control = control
            .get(length.next_multiple_of(size_of::<usize>())..)
            .unwrap_or_default();
        Some((
            libc::c_int::from_ne_bytes(*level),
            libc::c_int::from_ne_bytes(*kind),
            data,
        ))
    })
}

/// Encodes one control message.
pub(crate) fn encode(level: libc::c_int, kind: libc::c_int, data: &[u8]) -> Vec<u8> {
    let mut control = Vec::with_capacity((HEADER + data.len()).next_multiple_of(size_of::<usize>()));
    control.extend((HEADER + data.len()).to_ne_bytes());
    control.extend(level.to_ne_bytes());
    control.extend(kind.to_ne_bytes());
    control.extend(data);
    control.resize(control.capacity(), 0);
    control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_layout_of_the_c_library() {
        let two = [encode(1, 2, b"abcde"), encode(3, 4, &[7; 8])].concat();
        // SAFETY: both only compute.
        let spaces = unsafe { libc::CMSG_SPACE(5) + libc::CMSG_SPACE(8) };
        assert_eq!(two.len(), spaces as usize);
        let found: Vec<_> = messages(&two).collect();
        assert_eq!(found, [(1, 2, &b"abcde"[..]), (3, 4, &[7; 8][..])]);
    }

    #[test]
    fn invalid_lengths_end_the_messages() {
        let mut short = encode(1, 2, b"abcde");
        short.truncate(HEADER + 2);
        assert_eq!(messages(&short).count(), 0);
        assert_eq!(messages(&[0; HEADER]).count(), 0);
        assert_eq!(messages(&[0; 3]).count(), 0);
    }
}
