//! Interfaces, addresses, routes and qdiscs of a network namespace (rtnetlink(7)).
//!
//! A [`Route`] stays in the network namespace in which it was opened.

use libc::{RTM_GETLINK, RTM_NEWADDR, RTM_NEWLINK, RTM_NEWQDISC, RTM_NEWROUTE};
use netburn_platform::netlink::Netlink;
use netburn_platform::netlink::message::{self, ACK, CREATE, EXCLUSIVE, Message, REPLACE, REQUEST};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// An rtnetlink socket of one network namespace.
#[derive(Debug)]
pub struct Route {
    netlink: Netlink,
}

/// Changes of an interface. `None` leaves a property unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Link {
    /// MTU in bytes.
    pub mtu: Option<u32>,
    /// Length of the transmit queue in packets.
    pub queue: Option<u32>,
    /// Maximum number of GSO segments per packet.
    pub segments: Option<u32>,
    /// Ethernet address.
    pub address: Option<[u8; 6]>,
    /// True if the interface resolves neighbours' addresses (ARP, Neighbor Discovery).
    pub resolves: Option<bool>,
}

/// Counters of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkCounters {
    /// Packets received.
    pub received: u64,
    /// Packets sent.
    pub sent: u64,
    /// Received packets that were dropped.
    pub received_dropped: u64,
    /// Sent packets that were dropped by the qdisc or the device.
    pub sent_dropped: u64,
}

const IFF_UP: u32 = libc::IFF_UP as u32;
const IFF_NOARP: u32 = libc::IFF_NOARP as u32;
/// Handle of the qdisc, 1:0.
const HANDLE: u32 = 0x1_0000;
const ROOT: u32 = 0xffff_ffff;

impl Route {
    /// Opens a socket in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new() -> io::Result<Route> {
        let netlink = Netlink::new(None)?;
        Ok(Route { netlink })
    }

    /// Changes an interface and brings it up.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bring_up(&mut self, index: u32, link: &Link) -> io::Result<()> {
        let no_arp = link
            .resolves
            .map_or((0, 0), |resolves| (if resolves { 0 } else { IFF_NOARP }, IFF_NOARP));
        let mut message = Message::new(RTM_NEWLINK, REQUEST | ACK);
        message.put(&[0, 0, 0, 0]);
        message.put(&index.to_ne_bytes());
        message.put(&(IFF_UP | no_arp.0).to_ne_bytes());
        message.put(&(IFF_UP | no_arp.1).to_ne_bytes());
        for (kind, value) in [(4, link.mtu), (13, link.queue), (40, link.segments)] {
            if let Some(value) = value {
                message.attribute(kind, &value.to_ne_bytes());
            }
        }
        if let Some(address) = link.address {
            message.attribute(1, &address);
        }
        self.ask(message)
    }

    /// Creates a pair of connected Ethernet interfaces (veth), `name` here and `other` in the namespace `there`.
    ///
    /// # Errors
    /// The kernel's error; [`Unsupported`](io::ErrorKind::Unsupported) without veth.
    pub fn add_pair(&mut self, name: &str, other: &str, there: BorrowedFd<'_>) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, REQUEST | ACK | CREATE | EXCLUSIVE);
        message.put(&[0; 16]);
        message.attribute(3, &zero_ended(name));
        let info = message.begin(18);
        message.attribute(1, b"veth\0");
        let data = message.begin(2);
        let peer = message.begin(1);
        message.put(&[0; 16]);
        message.attribute(3, &zero_ended(other));
        message.attribute(28, &there.as_raw_fd().to_ne_bytes());
        message.end(peer);
        message.end(data);
        message.end(info);
        self.ask(message)
    }

    /// Adds an address to an interface, with a prefix of the full length.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_address(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWADDR, REQUEST | ACK | CREATE | REPLACE);
        let (family, prefix) = family(address);
        // IFA_F_NODAD: no other interface can have the address.
        message.put(&[family, prefix, 0x02, 0]);
        message.put(&index.to_ne_bytes());
        let bytes = octets(address);
        message.attribute(2, &bytes);
        message.attribute(1, &bytes);
        self.ask(message)
    }

    /// Adds a default route through an interface. Connections over it use the congestion control `control`, if given.
    /// `like` is any address of the family.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) when the congestion control is unavailable or its module is not
    /// loaded; the kernel's error.
    pub fn add_default(&mut self, index: u32, like: IpAddr, control: Option<&str>) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWROUTE, REQUEST | ACK | CREATE | REPLACE);
        // Table main, protocol static, scope link (IPv6 has only scope universe), unicast.
        let scope = if like.is_ipv4() { 253 } else { 0 };
        message.put(&[family(like).0, 0, 0, 0, 254, 4, scope, 1, 0, 0, 0, 0]);
        message.attribute(4, &index.to_ne_bytes());
        if let Some(control) = control {
            let metrics = message.begin(8);
            message.attribute(16, &zero_ended(control));
            message.end(metrics);
        }
        self.ask(message)
    }

    /// Adds a FIFO qdisc (tc-pfifo(8)) with this limit in packets to an interface.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_fifo(&mut self, index: u32, packets: u32) -> io::Result<()> {
        let mut message = queue(index, REQUEST | ACK | CREATE);
        message.attribute(1, b"pfifo\0");
        message.attribute(2, &packets.to_ne_bytes());
        self.ask(message)
    }

    /// Adds a token bucket qdisc (tc-tbf(8)) to an interface. Packets leave it only after a [`grant`](Self::grant).
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when the kernel has no token bucket.
    pub fn add_token_bucket(&mut self, index: u32, bytes: u32) -> io::Result<()> {
        self.ask(bucket(index, bytes, REQUEST | ACK | CREATE))
    }

    /// Lets the token bucket release `bytes`, which replaces the unused rest of the last grant. Queued packets leave
    /// with the next packet that the host sends.
    ///
    /// # Errors
    /// The kernel's error of sending the request. Its acknowledgement is not awaited.
    pub fn grant(&mut self, index: u32, bytes: u32) -> io::Result<()> {
        let message = bucket(index, bytes, REQUEST);
        self.netlink.send(message).map(drop)
    }

    /// Returns the counters of an interface.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters(&mut self, index: u32) -> io::Result<LinkCounters> {
        self.counters_and_qdisc(index).map(|(counters, _)| counters)
    }

    /// Returns the counters of an interface, and the kind of its root qdisc, such as `tbf`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn counters_and_qdisc(&mut self, index: u32) -> io::Result<(LinkCounters, String)> {
        let mut buffer = vec![0; 32 * 1024];
        let attributes = self.request_link(index, &mut buffer)?;
        let qdisc = message::find(attributes, 6).unwrap_or_default();
        let qdisc = String::from_utf8_lossy(qdisc).trim_end_matches('\0').to_owned();
        let statistics = message::find(attributes, 23).ok_or(io::ErrorKind::InvalidData)?;
        let number = |place: usize| {
            let bytes = statistics.get(place * 8..place * 8 + 8);
            bytes.map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
        };
        let counters = LinkCounters {
            received: number(0),
            sent: number(1),
            received_dropped: number(6),
            sent_dropped: number(7),
        };
        Ok((counters, qdisc))
    }

    /// Returns whether an interface is operational. The kernel notices up to 1 s later that the peer of a pair is up.
    /// Since Linux 6.8, this query makes the kernel check immediately.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn is_running(&mut self, index: u32) -> io::Result<bool> {
        let mut buffer = vec![0; 32 * 1024];
        let attributes = self.request_link(index, &mut buffer)?;
        // IFLA_OPERSTATE: IF_OPER_UP, or unknown (RFC 2863).
        Ok(matches!(message::find(attributes, 16), Some([0 | 6])))
    }

    /// Queries the attributes of an interface.
    fn request_link<'a>(&mut self, index: u32, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let mut message = Message::new(RTM_GETLINK, REQUEST);
        message.put(&[0, 0, 0, 0]);
        message.put(&index.to_ne_bytes());
        message.put(&[0; 8]);
        let answer = self.netlink.ask(message, buffer)?;
        Ok(answer.get(16..).unwrap_or_default())
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&mut self, message: Message) -> io::Result<()> {
        self.netlink.ask(message, &mut [0; 8192]).map(drop)
    }
}

impl From<OwnedFd> for Route {
    /// Wraps a socket that another process opened.
    fn from(socket: OwnedFd) -> Route {
        let netlink = Netlink::from(socket);
        Route { netlink }
    }
}

impl AsFd for Route {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}

/// Rate of the token bucket in bytes/s. It is negligible compared with the grants.
const TRICKLE: u32 = 2_000;
/// Limit of the token bucket's queue in bytes. A socket's send buffer is smaller.
const WAITING: u32 = 4_000_000;

fn queue(index: u32, flags: u16) -> Message {
    let mut message = Message::new(RTM_NEWQDISC, flags);
    message.put(&[0, 0, 0, 0]);
    message.put(&index.to_ne_bytes());
    message.put(&HANDLE.to_ne_bytes());
    message.put(&ROOT.to_ne_bytes());
    message.put(&[0; 4]);
    message
}

fn bucket(index: u32, bytes: u32, flags: u16) -> Message {
    let mut message = queue(index, flags);
    message.attribute(1, b"tbf\0");
    let options = message.begin(2);
    let mut parameters = Vec::with_capacity(36);
    // Link layer Ethernet: lengths are not adjusted.
    parameters.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    parameters.extend(TRICKLE.to_ne_bytes());
    parameters.extend([0; 12]);
    parameters.extend(WAITING.to_ne_bytes());
    parameters.extend([0; 8]);
    message.attribute(1, &parameters);
    message.attribute(6, &bytes.to_ne_bytes());
    message.end(options);
    message
}

fn family(address: IpAddr) -> (u8, u8) {
    match address {
        IpAddr::V4(_) => (libc::AF_INET as u8, 32),
        IpAddr::V6(_) => (libc::AF_INET6 as u8, 128),
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn zero_ended(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}
