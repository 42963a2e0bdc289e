//! One node: a network namespace with a device, addresses, routes and settings.

use super::message::{NodeMade, NodeWanted};
use crate::hold::{Hold, Probe};
use crate::packet::ethernet;
use netburn_linux::diag::Diag;
use netburn_linux::ethernet::Frames;
use netburn_linux::links::Links;
use netburn_linux::route::{Link, Route};
use netburn_linux::tun::Tun;
use netburn_linux::{namespace, offload, raw, socket};
use std::io;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// A node, as its maker has it.
pub(super) struct Node {
    pub(super) device: OwnedFd,
    pub(super) namespace: OwnedFd,
    pub(super) route: Route,
    pub(super) raw: OwnedFd,
    pub(super) links: Links,
    pub(super) diag: Option<Diag>,
    pub(super) made: NodeMade,
}

/// The network namespace in which our ends of Ethernet pairs are.
pub(super) struct Hub {
    namespace: OwnedFd,
    route: Route,
    pairs: u32,
    /// The last one's number.
    last: u32,
}

/// What was tried, and why it can't be.
type Refused = (&'static str, io::Error);

/// Packets that wait before a device, and in it: a burst of 64 KiB counts as one.
const QUEUE: u32 = 2_000;

/// Packets in a device that stops the queue before it: gone as far as TCP knows, so few; the queue is woken when half are left.
const RING: u32 = 8;

/// The first grant; the first real one comes as soon as there is a network.
const FIRST: u32 = 16 * 1024;

impl Hub {
    /// The network namespace that this thread is in.
    pub(super) fn here() -> io::Result<Hub> {
        Ok(Hub {
            namespace: namespace::network()?,
            route: Route::new()?,
            pairs: 0,
            last: 0,
        })
    }

    /// Connects the namespace that this thread is in by an interface called `name`; our end of it.
    fn connect(&mut self, name: &str, there: &OwnedFd) -> Result<Frames, Refused> {
        let at = |error| ("make an Ethernet pair", error);
        self.pairs += 1;
        let ours = format!("pair{}", self.pairs);
        self.route.add_pair(&ours, name, there.as_fd()).map_err(at)?;
        namespace::enter_network(&self.namespace).map_err(at)?;
        let frames = self.bring_up(&ours);
        namespace::enter_network(there).map_err(at)?;
        frames.map_err(at)
    }

    fn bring_up(&mut self, ours: &str) -> io::Result<Frames> {
        // This end has no addresses and says nothing.
        set(&format!("ipv6/conf/{ours}/disable_ipv6"), "1", &mut Vec::new());
        let index = Route::index(ours)?;
        let link = Link {
            mtu: Some(crate::credit::MTU as u32),
            resolves: Some(false),
            ..Link::default()
        };
        self.route.bring_up(index, &link)?;
        self.last = index;
        Frames::new(index)
    }

    /// Waits until the last pair carries packets both ways, or for two seconds.
    fn settle(&mut self, there: &mut Route, index: u32) -> io::Result<()> {
        for _ in 0..1_000 {
            if self.route.is_running(self.last)? && there.is_running(index)? {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

/// Makes a node. This thread is inside its network namespace afterwards.
pub(super) fn make(wanted: &NodeWanted, hub: &mut Hub) -> Result<Node, Refused> {
    let at = |what: &'static str| move |error: io::Error| (what, error);
    let name = wanted.interface.as_str();
    let mut notes = Vec::new();
    let (namespace, mut route) = network()?;
    let (device, segments_udp) = if wanted.pair {
        let frames = hub.connect(name, &namespace)?;
        (OwnedFd::from(frames), udp_over_pair(name, wanted.udp, &mut notes))
    } else {
        let tun = Tun::new(name, wanted.udp).map_err(at("make a TUN device"))?;
        (OwnedFd::from(tun.file), tun.segments_udp)
    };
    let index = Route::index(name).map_err(at("find the device"))?;
    // A connection that its client marks is answered with the same DSCP, as the model has it: priority works both ways.
    set("ipv4/tcp_reflect_tos", "1", &mut notes);
    set(&format!("ipv6/conf/{name}/addr_gen_mode"), "1", &mut Vec::new());
    set(&format!("ipv6/conf/{name}/router_solicitations"), "0", &mut Vec::new());
    let link = Link {
        mtu: Some(crate::credit::MTU as u32),
        queue: Some(if wanted.hold == Hold::Ring { RING } else { QUEUE }),
        segments: (wanted.hold != Hold::Nothing).then_some(1),
        address: wanted.pair.then_some(ethernet::ADDRESS),
        resolves: wanted.pair.then_some(false),
    };
    route.bring_up(index, &link).map_err(at("bring the device up"))?;
    if wanted.pair {
        hub.settle(&mut route, index).map_err(at("look at the device"))?;
    }
    let control = Some(wanted.control.as_str()).filter(|control| !control.is_empty());
    for address in [IpAddr::V4(wanted.v4), IpAddr::V6(wanted.v6)] {
        let given = route.add_address(index, address);
        match given {
            Ok(()) => {}
            Err(error) if address.is_ipv6() => {
                notes.push(format!("no IPv6: {error}"));
                continue;
            }
            Err(error) => return Err(("give it an address", error)),
        }
        route
            .add_default(index, address, control)
            .map_err(at("make a route with that congestion control"))?;
    }
    let (_, gid) = namespace::ids();
    set("ipv4/ping_group_range", &format!("{gid} {gid}"), &mut notes);
    set("ipv4/tcp_no_metrics_save", "1", &mut notes);
    // A server at port 80 is nobody's privilege in a network of one's own.
    set("ipv4/ip_unprivileged_port_start", "0", &mut notes);
    let hold = hold(wanted.hold, &mut route, index, &mut notes);
    if wanted.output_limit > 0 {
        set(
            "ipv4/tcp_limit_output_bytes",
            &wanted.output_limit.to_string(),
            &mut notes,
        );
    }
    // It is up by now: from here on it stays up, unless it is taken down.
    let links = Links::watch().map_err(at("watch the device"))?;
    let raw = raw::sender(index).map_err(at("open a raw socket"))?;
    let diag = match hold {
        Hold::Nothing => None,
        _ => Diag::new()
            .inspect_err(|error| {
                notes.push(format!(
                    "small queues follow the link's rate, not the connection's: {error}"
                ))
            })
            .ok(),
    };
    Ok(Node {
        device,
        namespace,
        route,
        raw,
        links,
        diag,
        made: NodeMade {
            index,
            segments_udp,
            hold,
            notes,
        },
    })
}

/// A network namespace of its own, in which this thread is from now on, with loopback.
fn network() -> Result<(OwnedFd, Route), Refused> {
    let at = |what: &'static str| move |error: io::Error| (what, error);
    namespace::new_network().map_err(at("make a network namespace"))?;
    let namespace = namespace::network().map_err(at("open a network namespace"))?;
    let mut route = Route::new().map_err(at("open a netlink socket"))?;
    let loopback = Route::index("lo").map_err(at("find lo"))?;
    route.bring_up(loopback, &Link::default()).map_err(at("bring lo up"))?;
    Ok((namespace, route))
}

/// Datagrams that are still to be segmented can be described to us since Linux 6.2. What can't would be lost, so older kernels
/// segment them themselves.
fn udp_over_pair(name: &str, wanted: bool, notes: &mut Vec<String>) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if wanted && super::since(&release, (6, 2)) {
        return true;
    }
    match offload::set(name, "tx-udp-segmentation", false) {
        // A kernel that doesn't know it doesn't leave it to us.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => notes.push(format!(
            "datagrams sent as one burst (UDP_SEGMENT) may be lost: {error}"
        )),
    }
    false
}

fn hold(wanted: Hold, route: &mut Route, index: u32, notes: &mut Vec<String>) -> Hold {
    if wanted == Hold::Nothing {
        return wanted;
    }
    // Else a modelled round trip of a millisecond counts as one within a data centre, and bursts grow.
    set("ipv4/tcp_tso_rtt_log", "0", &mut Vec::new());
    let (queue, lacks) = match wanted {
        Hold::Ring => (route.add_fifo(index, QUEUE), "queue"),
        _ => (route.add_bucket(index, FIRST), "token bucket"),
    };
    match queue {
        Ok(()) => wanted,
        Err(error) => {
            notes.push(format!("TCP Small Queues don't work, there is no {lacks}: {error}"));
            Hold::Nothing
        }
    }
}

/// Sends into a TUN device that nobody reads, and looks what becomes of it. This thread is in a network namespace of its own
/// afterwards.
pub(super) fn probe() -> io::Result<Probe> {
    let (_namespace, mut route) = network().map_err(|(_, error)| error)?;
    let name = "probe";
    let tun = Tun::new(name, false)?;
    let index = Route::index(name)?;
    let link = Link {
        queue: Some(Probe::ROOM),
        ..Link::default()
    };
    route.bring_up(index, &link)?;
    route.add_fifo(index, QUEUE)?;
    let here = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    route.add_address(index, here)?;
    route.add_default(index, here, None)?;
    let before = route.counted(index)?.sent_dropped;
    let sender = UdpSocket::bind((here, 0))?;
    sender.connect((Ipv4Addr::new(192, 0, 2, 2), 9))?;
    for _ in 0..Probe::SENT {
        // A sender that is told to wait is what we hope for, and its buffer holds them all.
        let _ = sender.send(&[0; Probe::EACH]);
    }
    let probe = Probe {
        outstanding: socket::unsent(&sender)?,
        dropped: (route.counted(index)?.sent_dropped - before) as u32,
    };
    drop(tun);
    Ok(probe)
}

fn set(name: &str, value: &str, notes: &mut Vec<String>) {
    if let Err(error) = std::fs::write(format!("/proc/sys/net/{name}"), value) {
        notes.push(format!("net/{name} can't be set: {error}"));
    }
}
