//! Link-down events of a network namespace's interfaces (rtnetlink(7)). Unavailable on other systems than Linux.

#[cfg(target_os = "linux")]
use crate::netlink::Netlink;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A socket that receives the kernel's events about the interfaces of one network namespace. It stays in the namespace
/// in which it was opened.
#[derive(Debug)]
pub struct Links {
    #[cfg(target_os = "linux")]
    netlink: Netlink,
}

#[cfg(target_os = "linux")]
impl Links {
    /// Opens a socket in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn watch() -> io::Result<Links> {
        let netlink = Netlink::new(None)?;
        netlink.join(libc::RTNLGRP_LINK)?;
        Ok(Links { netlink })
    }

    /// Returns whether the interface with this index went down or was removed since the last call. Also returns `true`
    /// if events were lost.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn went_down(&self, index: u32) -> io::Result<bool> {
        let (mut down, mut buffer) = (false, [0_u8; 16 << 10]);
        loop {
            match self.netlink.receive_now(&mut buffer) {
                Ok(length) => down |= reports_down(&buffer[..length], index),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(down),
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => down = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl From<OwnedFd> for Links {
    /// Wraps a socket that another process opened with [`watch`](Self::watch).
    fn from(socket: OwnedFd) -> Links {
        let netlink = Netlink::from(socket);
        Links { netlink }
    }
}

#[cfg(target_os = "linux")]
impl AsFd for Links {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}

/// Returns whether one of these messages reports that the interface is down or removed.
#[cfg(target_os = "linux")]
fn reports_down(mut messages: &[u8], index: u32) -> bool {
    use crate::netlink::message::head;

    while let Some((kind, _, end)) = head(messages) {
        // struct ifinfomsg: index at offset 4, flags at offset 8.
        let number = |at: usize| Some(u32::from_ne_bytes(messages.get(16 + at..20 + at)?.try_into().ok()?));
        let down = match kind {
            libc::RTM_NEWLINK => number(8).is_some_and(|flags| flags & libc::IFF_UP as u32 == 0),
            libc::RTM_DELLINK => true,
            _ => false,
        };
        if down && number(4) == Some(index) {
            return true;
        }
        messages = messages.get(end.next_multiple_of(4)..).unwrap_or(&[]);
    }
    false
}

#[cfg(not(target_os = "linux"))]
impl Links {
    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn watch() -> io::Result<Links> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn went_down(&self, _: u32) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::netlink::message::Message;

    /// Encodes a message about an interface as in rtnetlink(7).
    fn about(kind: u16, index: u32, flags: u32) -> Vec<u8> {
        let mut message = Message::new(kind, 0);
        message.put(&[0, 0, 0, 0]);
        for number in [index, flags, 0] {
            message.put(&number.to_ne_bytes());
        }
        message.attribute(3, b"wlan0\0");
        message.finish(0)
    }

    #[test]
    fn an_interface_is_down_without_its_flag_or_if_it_does_not_exist() {
        const UP: u32 = 1;
        let up = about(libc::RTM_NEWLINK, 2, UP);
        assert!(!reports_down(&up, 2));
        // IFF_RUNNING without IFF_UP.
        assert!(reports_down(&about(libc::RTM_NEWLINK, 2, 0x40), 2));
        assert!(reports_down(&about(libc::RTM_DELLINK, 2, UP), 2));
        assert!(!reports_down(&about(libc::RTM_NEWLINK, 3, 0), 2));
        let several = [up.clone(), about(libc::RTM_NEWLINK, 2, 0), up].concat();
        assert!(reports_down(&several, 2));
        assert!(!reports_down(&several[..20], 2));
    }

    #[test]
    fn nothing_is_reported_of_an_interface_that_stays_up() {
        let links = Links::watch().unwrap();
        let lo = crate::interface::number("lo").unwrap();
        assert!(!links.went_down(lo).unwrap());
    }
}
