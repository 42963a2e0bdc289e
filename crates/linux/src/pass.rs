//! Messages between processes that carry open files (SCM_RIGHTS, unix(7)). Linux only.

use crate::process::{check, check_size};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The most files of one message.
pub const MOST_FILES: usize = 8;

/// The longest message.
pub const LONGEST: usize = 96 * 1024;

/// Two connected ends. Messages keep their bounds; one end sees that the other is closed.
///
/// # Errors
/// When no more files can be opened.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: the kernel has just given us both, and nobody else has them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Room for the control message of [`MOST_FILES`] files, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends one message.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) when it is empty, too long or has too many files; what the kernel says.
pub fn send(to: impl AsFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    if bytes.is_empty() || bytes.len() > LONGEST || files.len() > MOST_FILES {
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
    // SAFETY: bytes and control live through the call and are as long as the message says; the kernel only reads them.
    check_size(unsafe { libc::sendmsg(to.as_fd().as_raw_fd(), &message, libc::MSG_NOSIGNAL) }).map(drop)
}

/// Waits for one message. An empty one means that the other end is closed.
///
/// # Errors
/// When it was cut off; what the kernel says.
pub fn receive(from: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; LONGEST];
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
        // SAFETY: bytes and control are as long as the message says and live through the call.
        let got = unsafe { libc::recvmsg(from.as_fd().as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        match check_size(got) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            got => break got?,
        }
    };
    let mut files = Vec::new();
    // SAFETY: the kernel has set the control length to what it wrote into the live control buffer.
    let header = unsafe { libc::CMSG_FIRSTHDR(&message) };
    if !header.is_null() {
        // SAFETY: the header lies wholly inside the buffer, and the kernel says how many descriptors follow; they are ours alone.
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
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message too long"));
    }
    bytes.truncate(length);
    Ok((bytes, files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn files_travel_with_their_message() {
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
    fn what_does_not_fit_is_refused() {
        let (one, _other) = pair().unwrap();
        assert_eq!(send(&one, b"", &[]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let files = [one.as_fd(); MOST_FILES + 1];
        assert_eq!(
            send(&one, b"x", &files).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}
