//! nl80211 sockets: one for requests, another for events.

use super::attribute::Attributes;
use super::decode;
use super::format::{attr, command};
use super::message::Messages;
use super::recording::Kind;
use crate::netlink::Netlink;
use crate::netlink::message::{ACK, DUMP, Message, REQUEST};
use crate::wifi::Interface;
use netburn_units::Duration;
use std::io;

/// An nl80211 socket.
#[derive(Debug)]
pub struct Nl80211 {
    netlink: Netlink,
    family: Family,
}

/// Socket for events: association, roaming, disconnection (multicast group `mlme`), scans (`scan`).
#[derive(Debug)]
pub struct Events {
    netlink: Netlink,
}

/// A generic netlink family.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Family {
    number: u16,
    /// Multicast groups.
    groups: Vec<(String, u32)>,
}

/// Receive buffer in bytes. Only messages about a radio's capabilities are longer, and they are not requested.
const ROOM: usize = 64 * 1024;
/// Timeout of an answer.
const PATIENCE: Duration = Duration::from_secs(2);

impl Nl80211 {
    /// Opens a socket.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when the kernel has no Wi-Fi support (cfg80211).
    pub fn open() -> io::Result<Nl80211> {
        let mut netlink = Netlink::new(Some(rustix::net::netlink::GENERIC))?;
        let family = family(&mut netlink, "nl80211")?;
        Ok(Nl80211 { netlink, family })
    }

    /// Returns all Wi-Fi interfaces.
    ///
    /// # Errors
    /// The kernel's error; [`TimedOut`](io::ErrorKind::TimedOut) after 2 s without an answer.
    pub fn interfaces(&mut self) -> io::Result<Vec<Interface>> {
        let answers = self.request(command::GET_INTERFACE, DUMP, None)?;
        Ok(answers.iter().flat_map(|answer| decode::interfaces(answer)).collect())
    }

    /// Returns the datagrams about an interface; an error when it does not exist or has no Wi-Fi.
    pub(crate) fn interface(&mut self, index: u32) -> io::Result<Vec<Vec<u8>>> {
        self.request(command::GET_INTERFACE, ACK, Some(index))
    }

    /// Returns the datagrams about an interface, its stations (for a client, its access point) and the channels that it
    /// has surveyed. Drivers do not support all requests, in particular surveys: what is unsupported is missing.
    pub fn sample(&mut self, index: u32) -> Vec<(Kind, Vec<u8>)> {
        let answers = [
            (Kind::Interface, self.interface(index)),
            (Kind::Station, self.request(command::GET_STATION, DUMP, Some(index))),
            (Kind::Survey, self.request(command::GET_SURVEY, DUMP, Some(index))),
        ];
        let datagrams = answers
            .into_iter()
            .map(|(kind, answer)| (kind, answer.unwrap_or_default()));
        datagrams
            .flat_map(|(kind, answer)| answer.into_iter().map(move |datagram| (kind, datagram)))
            .collect()
    }

    /// Opens a second socket, for events.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn events(&self) -> io::Result<Events> {
        let netlink = Netlink::new(Some(rustix::net::netlink::GENERIC))?;
        for wanted in ["mlme", "scan"] {
            let group = self.family.groups.iter().find(|(name, _)| name == wanted);
            let (_, group) = group.ok_or(io::ErrorKind::NotFound)?;
            netlink.join(*group)?;
        }
        Ok(Events { netlink })
    }

    fn request(&mut self, command: u8, flags: u16, index: Option<u32>) -> io::Result<Vec<Vec<u8>>> {
        let mut message = generic(self.family.number, flags, command);
        if let Some(index) = index {
            message.attribute(attr::IFINDEX, &index.to_ne_bytes());
        }
        ask(&mut self.netlink, message)
    }
}

impl Events {
    /// Returns the next event's datagram; `None` after the timeout. Lost events are not an error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn next(&mut self, within: Duration) -> io::Result<Option<Vec<u8>>> {
        match self.netlink.receive_within(within, ROOM) {
            Ok(datagram) => Ok(Some(datagram)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the id and the groups of a family.
fn family(netlink: &mut Netlink, name: &str) -> io::Result<Family> {
    let mut message = generic(libc::GENL_ID_CTRL as u16, ACK, libc::CTRL_CMD_GETFAMILY as u8);
    let mut zero_ended = name.as_bytes().to_vec();
    zero_ended.push(0);
    message.attribute(libc::CTRL_ATTR_FAMILY_NAME as u16, &zero_ended);
    let answers = ask(netlink, message)?;
    let families = answers.iter().flat_map(|datagram| Messages(datagram));
    let mut found = families.filter_map(|message| Family::read(message.attributes()));
    found.next().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Sends a request and returns its answers, up to the acknowledgement or the end of the dump.
fn ask(netlink: &mut Netlink, message: Message) -> io::Result<Vec<Vec<u8>>> {
    let sequence = netlink.send(message)?;
    let mut answers = Vec::new();
    loop {
        let datagram = netlink.receive_within(PATIENCE, ROOM)?;
        let mut ended = None;
        let mut ours = false;
        for message in Messages(&datagram).filter(|message| message.sequence == sequence) {
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

fn generic(family: u16, flags: u16, command: u8) -> Message {
    let mut message = Message::new(family, REQUEST | flags);
    message.put(&[command, 1, 0, 0]);
    message
}

impl Family {
    /// Decodes CTRL_ATTR_FAMILY_ID and CTRL_ATTR_MCAST_GROUPS (linux/genetlink.h).
    fn read(from: Attributes<'_>) -> Option<Family> {
        let groups = from.nested(libc::CTRL_ATTR_MCAST_GROUPS as u16).filter_map(|group| {
            let group = Attributes(group.value);
            let name = group.get(libc::CTRL_ATTR_MCAST_GRP_NAME as u16)?;
            let name = name.split(|byte| *byte == 0).next()?;
            let number = group.u32(libc::CTRL_ATTR_MCAST_GRP_ID as u16)?;
            Some((String::from_utf8_lossy(name).into_owned(), number))
        });
        Some(Family {
            number: from.u16(libc::CTRL_ATTR_FAMILY_ID as u16)?,
            groups: groups.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Netlink {
        Netlink::new(Some(rustix::net::netlink::GENERIC)).unwrap()
    }

    /// All kernels have this family, with fixed numbers (linux/genetlink.h).
    #[test]
    fn the_controller_of_generic_netlink_is_found() {
        let family = family(&mut open(), "nlctrl").unwrap();
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
        let error = family(&mut open(), "no-such-family").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_group_is_joined_and_silence_is_none() {
        let mut netlink = open();
        let family = family(&mut netlink, "nlctrl").unwrap();
        netlink.join(family.groups[0].1).unwrap();
        let mut events = Events { netlink };
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
        for interface in wifi.interfaces().unwrap() {
            assert!(!wifi.interface(interface.index).unwrap().is_empty());
        }
    }
}
