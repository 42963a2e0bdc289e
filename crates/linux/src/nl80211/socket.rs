//! nl80211 sockets: one for requests, another for events.

use super::attribute::Attributes;
use super::format::{attr, command};
use super::message::Messages;
use crate::netlink::message::Message;
use crate::process::{check, check_size};
use netburn_units::Duration;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// An nl80211 socket. Each request returns the datagrams of its answer, for [`decode`](super::decode).
#[derive(Debug)]
pub struct Nl80211 {
    socket: Socket,
    family: Family,
}

/// Socket for events: association, roaming, disconnection (multicast group `mlme`).
#[derive(Debug)]
pub struct Events {
    socket: Socket,
}

/// A generic netlink family.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Family {
    number: u16,
    /// Multicast groups.
    groups: Vec<(String, u32)>,
}

#[derive(Debug)]
struct Socket {
    fd: OwnedFd,
    sequence: u32,
}

const REQUEST: u16 = 1;
const ACK: u16 = 4;
const DUMP: u16 = 0x300;
/// GENL_ID_CTRL.
const CONTROL: u16 = 16;
/// Receive buffer in bytes. Only messages about a radio's capabilities are longer, and they are not requested.
const ROOM: usize = 64 * 1024;
/// Timeout of an answer.
const PATIENCE: Duration = Duration::from_secs(2);

impl Nl80211 {
    /// Opens a socket.
    /// | # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when the kernel has no Wi-Fi support (cfg80211).
    pub fn open() -> io::Result<Nl80211> {
        let mut socket = Socket::open()?;
        let family = socket.family("nl80211")?;
        Ok(Nl80211 { socket, family })
    }

    /// Returns all Wi-Fi interfaces.
    /// | # Errors
    /// The kernel's error; [`TimedOut`](io::ErrorKind::TimedOut) after 2 s without an answer.
    pub fn interfaces(&mut self) -> io::Result<Vec<Vec<u8>>> {
        self.request(command::GET_INTERFACE, DUMP, None)
    }

    /// Returns one interface.
    /// | # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) or ENODEV when it does not exist or has no Wi-Fi; the errors of
    /// [`interfaces`](Self::interfaces).
    pub fn interface(&mut self, index: u32) -> io::Result<Vec<Vec<u8>>> {
        self.request(command::GET_INTERFACE, ACK, Some(index))
    }

    /// Returns the stations of an interface: for a client, its access point.
    /// | # Errors
    /// The errors of [`interface`](Self::interface).
    pub fn stations(&mut self, index: u32) -> io::Result<Vec<Vec<u8>>> {
        self.request(command::GET_STATION, DUMP, Some(index))
    }

    /// Returns the channels that an interface has surveyed.
    /// | # Errors
    /// EOPNOTSUPP when the driver has no survey; the errors of [`interface`](Self::interface).
    pub fn survey(&mut self, index: u32) -> io::Result<Vec<Vec<u8>>> {
        self.request(command::GET_SURVEY, DUMP, Some(index))
    }

    /// Opens a second socket, for events.
    /// | # Errors
    /// The kernel's error.
    pub fn events(&self) -> io::Result<Events> {
        let socket = Socket::open()?;
        let group = self.family.groups.iter().find(|(name, _)| name == "mlme");
        let (_, group) = group.ok_or(io::ErrorKind::NotFound)?;
        socket.join(*group)?;
        Ok(Events { socket })
    }

    fn request(&mut self, command: u8, flags: u16, index: Option<u32>) -> io::Result<Vec<Vec<u8>>> {
        let mut message = generic(self.family.number, flags, command);
        if let Some(index) = index {
            message.attribute(attr::IFINDEX, &index.to_ne_bytes());
        }
        self.socket.ask(message)
    }
}

impl Events {
    /// Returns the next event's datagram; `None` after the timeout. Lost events are not an error.
    /// | # Errors
    /// The kernel's error.
    pub fn next(&mut self, within: Duration) -> io::Result<Option<Vec<u8>>> {
        match self.socket.receive(within) {
            Ok(datagram) => Ok(Some(datagram)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Socket {
    fn open() -> io::Result<Socket> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers are passed.
        let fd = check(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_GENERIC) })?;
        // SAFETY: the kernel has just given us this descriptor.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a sockaddr_nl is numbers; all zero lets the kernel choose.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as u16;
        let length = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
        // SAFETY: the kernel reads one address.
        check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(Socket { fd, sequence: 0 })
    }

    fn join(&self, group: u32) -> io::Result<()> {
        let length = size_of::<u32>() as libc::socklen_t;
        let (socket, value) = (self.fd.as_raw_fd(), (&raw const group).cast());
        // SAFETY: the kernel reads one int.
        check(unsafe { libc::setsockopt(socket, libc::SOL_NETLINK, libc::NETLINK_ADD_MEMBERSHIP, value, length) })
            .map(drop)
    }

    /// Returns the id and the groups of a family (CTRL_CMD_GETFAMILY).
    fn family(&mut self, name: &str) -> io::Result<Family> {
        let mut message = generic(CONTROL, ACK, 3);
        let mut zero_ended = name.as_bytes().to_vec();
        zero_ended.push(0);
        message.attribute(2, &zero_ended);
        let answers = self.ask(message)?;
        let families = answers.iter().flat_map(|datagram| Messages(datagram));
        let mut found = families.filter_map(|message| family(message.attributes()));
        found.next().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Sends a request and returns its answers, up to the acknowledgement or the end of the dump.
    fn ask(&mut self, message: Message) -> io::Result<Vec<Vec<u8>>> {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let bytes = message.finish(self.sequence);
        // SAFETY: the kernel reads as many bytes as there are.
        check_size(unsafe { libc::send(self.fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) })?;
        let mut answers = Vec::new();
        loop {
            let datagram = self.receive(PATIENCE)?;
            let mut ended = None;
            let mut ours = false;
            for message in Messages(&datagram).filter(|message| message.sequence == self.sequence) {
                ended = ended.or(message.word());
                ours |= message.command().is_some();
            }
            if ours {
                answers.push(datagram);
            }
            match ended {
                Some(Ok(())) => return Ok(answers),
                Some(Err(code)) => return Err(io::Error::from_raw_os_error(code)),
                None => {}
            }
        }
    }

    fn receive(&self, within: Duration) -> io::Result<Vec<u8>> {
        let mut poll = libc::pollfd {
            fd: self.fd.as_raw_fd(),
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
        let mut datagram = vec![0; ROOM];
        let (to, room) = (datagram.as_mut_ptr().cast(), datagram.len());
        // SAFETY: the kernel writes at most as many bytes as there are.
        let length = check_size(unsafe { libc::recv(self.fd.as_raw_fd(), to, room, libc::MSG_DONTWAIT) })?;
        datagram.truncate(length);
        Ok(datagram)
    }
}

fn generic(family: u16, flags: u16, command: u8) -> Message {
    let mut message = Message::new(family, REQUEST | flags);
    message.put(&[command, 1, 0, 0]);
    message
}

/// Decodes CTRL_ATTR_FAMILY_ID and CTRL_ATTR_MCAST_GROUPS (linux/genetlink.h).
fn family(from: Attributes<'_>) -> Option<Family> {
    let groups = from.nested(7).filter_map(|group| {
        let group = Attributes(group.value);
        let name = group.get(1)?.split(|byte| *byte == 0).next()?;
        Some((String::from_utf8_lossy(name).into_owned(), group.u32(2)?))
    });
    Some(Family {
        number: from.u16(1)?,
        groups: groups.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All kernels have this family, with fixed numbers (linux/genetlink.h).
    #[test]
    fn the_controller_of_generic_netlink_is_found() {
        let family = Socket::open().unwrap().family("nlctrl").unwrap();
        assert_eq!(family.number, 16);
        assert!(
            family
                .groups
                .iter()
                .any(|(name, number)| name == "notify" && *number != 0),
            "{family:?}"
        );
    }

    #[test]
    fn an_unknown_family_is_not_found() {
        let error = Socket::open().unwrap().family("no-such-family").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_group_is_joined_and_silence_is_none() {
        let mut socket = Socket::open().unwrap();
        let family = socket.family("nlctrl").unwrap();
        socket.join(family.groups[0].1).unwrap();
        let mut events = Events { socket };
        assert_eq!(events.next(Duration::from_millis(1)).unwrap(), None);
    }

    /// With Wi-Fi, all interfaces can be queried; without Wi-Fi, opening fails.
    #[test]
    fn this_machine_is_read() {
        let mut wifi = match Nl80211::open() {
            Ok(wifi) => wifi,
            Err(error) => return assert_eq!(error.kind(), io::ErrorKind::NotFound),
        };
        wifi.events().unwrap();
        let answers = wifi.interfaces().unwrap();
        for interface in answers
            .iter()
            .flat_map(|datagram| super::super::decode::interfaces(datagram))
        {
            assert!(!wifi.interface(interface.index).unwrap().is_empty());
        }
    }
}
