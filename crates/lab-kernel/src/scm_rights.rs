//! Messages between processes with file descriptors (SCM_RIGHTS, unix(7)).

use crate::result::{check, check_size};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Maximum number of files of one message.
pub const MAX_FILES: usize = 8;

/// Maximum length of a message in bytes.
pub const MAX_MESSAGE: usize = 96 * 1024;

/// Returns two connected sockets. Message boundaries are preserved, and closing one socket is visible at the other
/// (SOCK_SEQPACKET).
///
/// # Errors
/// An I/O error when too many files are open.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: the kernel has just returned both descriptors, and nothing else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Buffer for the control message of [`MAX_FILES`] files, aligned for a header.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends one message.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) when the message is empty, too long or has too many files; the
/// kernel's error.
pub fn send(to: impl AsFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    if bytes.is_empty() || bytes.len() > MAX_MESSAGE || files.len() > MAX_FILES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let raw: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let length = size_of_val(raw.as_slice());
    let mut control = Control([0; 64]);
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: a msghdr is numbers and pointers; all zero is an empty one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !raw.is_empty() {
        message.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: pure arithmetic.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(length as u32) } as _;
        // SAFETY: the control buffer has room for the header and `length` bytes: 16 + 8 × 4 of 64.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(length as u32) as _;
            std::ptr::copy_nonoverlapping(raw.as_ptr().cast::<u8>(), libc::CMSG_DATA(header), length);
        }
    }
    // SAFETY: bytes and control are valid during the call and have the lengths in the message; the kernel only reads
    // them.
    check_size(unsafe { libc::sendmsg(to.as_fd().as_raw_fd(), &message, libc::MSG_NOSIGNAL) }).map(drop)
}

/// Waits for one message. An empty message means that the peer has closed its socket.
///
/// # Errors
/// [`InvalidData`](io::ErrorKind::InvalidData) when the message was truncated; the kernel's error.
pub fn receive(from: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut control = Control([0; 64]);
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: a msghdr is numbers and pointers; all zero is an empty one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    let length = loop {
        // SAFETY: bytes and control have the lengths in the message and are valid during the call.
        let got = unsafe { libc::recvmsg(from.as_fd().as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        match check_size(got) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            got => break got?,
        }
    };
    let mut files = Vec::new();
    // SAFETY: the kernel has set the control length to the number of bytes that it wrote to the
    // valid control buffer.
    let header = unsafe { libc::CMSG_FIRSTHDR(&message) };
    if !header.is_null() {
        // SAFETY: the header is within the buffer, and the kernel set the number of descriptors, which nothing else
        // owns.
        unsafe {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(header);
                let count = ((*header).cmsg_len as usize - (data as usize - header as usize)) / size_of::<RawFd>();
                for index in 0..count {
                    let raw = data.cast::<RawFd>().add(index).read_unaligned();
                    files.push(OwnedFd::from_raw_fd(raw));
                }
            }
        }
    }
    if message.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "message too long"));
    }
    bytes.truncate(length);
    Ok((bytes, files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn files_arrive_with_their_message() {
        let (one, other) = pair().unwrap();
        let (reader, mut writer) = std::io::pipe().unwrap();
        send(&one, b"take this", &[reader.as_fd()]).unwrap();
        drop(reader);
        writer.write_all(b"through").unwrap();
        drop(writer);
        let (bytes, mut files) = receive(&other).unwrap();
        assert_eq!((bytes.as_slice(), files.len()), (&b"take this"[..], 1));
        let mut text = String::new();
        std::fs::File::from(files.remove(0)).read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
        drop(one);
        assert_eq!(receive(&other).unwrap().0, b"");
    }

    #[test]
    fn messages_that_exceed_limits_are_rejected() {
        let (one, _other) = pair().unwrap();
        assert_eq!(send(&one, b"", &[]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let files = [one.as_fd(); MAX_FILES + 1];
        assert_eq!(
            send(&one, b"x", &files).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}
