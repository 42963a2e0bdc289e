//! Messages between processes with file descriptors (SCM_RIGHTS, unix(7)).

use rustix::io::retry_on_intr;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    Ok(rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)?)
}

/// Room for the control message of [`MAX_FILES`] files.
const CONTROL: usize = rustix::cmsg_space!(ScmRights(MAX_FILES));

/// Sends one message.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) when the message is empty, too long or has too many files; the
/// kernel's error.
pub fn send(to: impl AsFd, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    if bytes.is_empty() || bytes.len() > MAX_MESSAGE || files.len() > MAX_FILES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut room = [MaybeUninit::uninit(); CONTROL];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::net::sendmsg(to, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for one message. An empty message means that the peer has closed its socket.
///
/// # Errors
/// [`InvalidData`](io::ErrorKind::InvalidData) when the message was truncated; the kernel's error.
pub fn receive(from: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut room = [MaybeUninit::uninit(); CONTROL];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let message = retry_on_intr(|| {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        rustix::net::recvmsg(from.as_fd(), &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut files = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = part {
            files.extend(received);
        }
    }
    if message.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "message too long"));
    }
    bytes.truncate(message.bytes);
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
