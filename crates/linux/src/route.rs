//! Interfaces, addresses, routes and queues of the network namespace that a thread is in (rtnetlink(7)). Linux only.
//!
//! A [`Route`] stays with the namespace in which it was opened, whoever uses it later.

use crate::netlink::Netlink;
use crate::netlink::message::{self, Message};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A conversation with the kernel about one network namespace.
#[derive(Debug)]
pub struct Route {
    netlink: Netlink,
}

/// What to change of an interface; what is `None` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Link {
    /// The longest packet in bytes.
    pub mtu: Option<u32>,
    /// Packets that its queue holds.
    pub queue: Option<u32>,
    /// The most segments that the host may leave for the device to make of one packet.
    pub segments: Option<u32>,
    /// Its Ethernet address.
    pub address: Option<[u8; 6]>,
    /// Whether it is to resolve neighbours' addresses.
    pub resolves: Option<bool>,
}

/// What an interface has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Packets that the host received from it.
    pub received: u64,
    /// Packets that the host sent through it.
    pub sent: u64,
    /// Packets to the host that were dropped.
    pub received_dropped: u64,
    /// Packets from the host that were dropped, by the queue before it or in the device.
    pub sent_dropped: u64,
}

const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const RTM_NEWQDISC: u16 = 36;
const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const CREATE: u16 = 0x400 | 0x100;
const MAKE: u16 = 0x400;
const IFF_UP: u32 = 0x1;
const IFF_NOARP: u32 = 0x80;
/// The qdisc's own handle, 1:0.
const HANDLE: u32 = 0x1_0000;
const ROOT: u32 = 0xffff_ffff;

impl Route {
    /// Talks about the network namespace that this thread is in.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new() -> io::Result<Route> {
        let netlink = Netlink::new(libc::NETLINK_ROUTE)?;
        Ok(Route { netlink })
    }

    /// The number of an interface.
    ///
    /// # Errors
    /// When there is none of that name in the namespace that this *thread* is in.
    pub fn index(name: &str) -> io::Result<u32> {
        let name = std::ffi::CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: `name` ends with a zero byte and lives through the call.
        match unsafe { libc::if_nametoindex(name.as_ptr()) } {
            0 => Err(io::Error::last_os_error()),
            index => Ok(index),
        }
    }

    /// Changes an interface and brings it up.
    ///
    /// # Errors
    /// What the kernel says.
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

    /// Makes a pair of connected Ethernet interfaces, `name` here and `other` in the namespace of `there`.
    ///
    /// # Errors
    /// What the kernel says, where it has no veth [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn add_pair(&mut self, name: &str, other: &str, there: BorrowedFd<'_>) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWLINK, REQUEST | ACK | MAKE | 0x200);
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

    /// Gives an interface an address, of a network of its own.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn add_address(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWADDR, REQUEST | ACK | CREATE);
        let (family, prefix) = family(address);
        // IFA_F_NODAD: nobody else is there who could have it.
        message.put(&[family, prefix, 0x02, 0]);
        message.put(&index.to_ne_bytes());
        let bytes = octets(address);
        message.attribute(2, &bytes);
        message.attribute(1, &bytes);
        self.ask(message)
    }

    /// Sends everything that has no better way through an interface, over connections controlled by `control` where it is given.
    /// `like` is any address of the family in question.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) when the kernel doesn't have that congestion control, or its module isn't
    /// loaded; what else the kernel says.
    pub fn add_default(&mut self, index: u32, like: IpAddr, control: Option<&str>) -> io::Result<()> {
        let mut message = Message::new(RTM_NEWROUTE, REQUEST | ACK | CREATE);
        // Table main, protocol static, scope link (IPv6 knows universe only), unicast.
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

    /// Puts a queue (tc-pfifo(8)) of so many packets before an interface.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn add_fifo(&mut self, index: u32, packets: u32) -> io::Result<()> {
        let mut message = queue(index, REQUEST | ACK | MAKE);
        message.attribute(1, b"pfifo\0");
        message.attribute(2, &packets.to_ne_bytes());
        self.ask(message)
    }

    /// Puts a token bucket (tc-tbf(8)) before an interface: what the host sends waits in it, and leaves only when
    /// [`grant`](Self::grant) lets it.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) where the kernel has none.
    pub fn add_bucket(&mut self, index: u32, bytes: u32) -> io::Result<()> {
        self.ask(bucket(index, bytes, REQUEST | ACK | MAKE))
    }

    /// Lets `bytes` leave through the bucket, in place of what was granted before and has not been used. What waits moves with the
    /// next packet that the host sends.
    ///
    /// # Errors
    /// What the kernel says of sending; what it says of the grant isn't waited for.
    pub fn grant(&mut self, index: u32, bytes: u32) -> io::Result<()> {
        let message = bucket(index, bytes, REQUEST);
        self.netlink.send(message).map(drop)
    }

    /// What an interface has counted.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn counted(&mut self, index: u32) -> io::Result<Counted> {
        let mut buffer = vec![0; 32 * 1024];
        let attributes = self.look(index, &mut buffer)?;
        let statistics = message::find(attributes, 23).ok_or(io::ErrorKind::InvalidData)?;
        let number = |place: usize| {
            let bytes = statistics.get(place * 8..place * 8 + 8);
            bytes.map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
        };
        Ok(Counted {
            received: number(0),
            sent: number(1),
            received_dropped: number(6),
            sent_dropped: number(7),
        })
    }

    /// Whether an interface carries packets. That its other end is up, too, the kernel finds out up to a second later; asking for it
    /// makes it look at once (since Linux 6.8).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn is_running(&mut self, index: u32) -> io::Result<bool> {
        let mut buffer = vec![0; 32 * 1024];
        let attributes = self.look(index, &mut buffer)?;
        // IFLA_OPERSTATE: IF_OPER_UP, or one that has no such state (RFC 2863).
        Ok(matches!(message::find(attributes, 16), Some([0 | 6])))
    }

    /// The attributes of an interface.
    fn look<'a>(&mut self, index: u32, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let mut message = Message::new(RTM_GETLINK, REQUEST);
        message.put(&[0, 0, 0, 0]);
        message.put(&index.to_ne_bytes());
        message.put(&[0; 8]);
        let answer = self.netlink.ask(message, buffer)?;
        Ok(answer.get(16..).unwrap_or_default())
    }

    /// Sends a request and waits for the kernel's word.
    fn ask(&mut self, message: Message) -> io::Result<()> {
        self.netlink.ask(message, &mut [0; 8192]).map(drop)
    }
}

impl From<OwnedFd> for Route {
    /// Goes on with a conversation that somebody else opened.
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

/// 2000 bytes a second, next to nothing: what counts is what is granted.
const TRICKLE: u32 = 2_000;
/// What may wait before the sender is told to stop; its own socket's buffer stops it sooner.
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
    // The link layer is Ethernet's: lengths count as they are.
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
