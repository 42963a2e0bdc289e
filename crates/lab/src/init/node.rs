//! Creation of one node: a network namespace with a device, addresses, routes and settings.

use super::message::{NodeInfo, NodeSpec};
use crate::backpressure::{Backpressure, Probe};
use crate::device_kind::DeviceKind;
use crate::error::Requirement;
use crate::packet::ethernet;
use netburn_lab_kernel::diag::Diag;
use netburn_lab_kernel::ethernet::Frames;
use netburn_lab_kernel::route::{Link, Route};
use netburn_lab_kernel::tun::Tun;
use netburn_lab_kernel::{namespace, offload, raw, sockets};
use netburn_platform::interface;
use netburn_platform::links::Links;
use std::io;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Resources of a node in the helper.
pub(super) struct Node {
    pub(super) device: OwnedFd,
    pub(super) namespace: OwnedFd,
    pub(super) route: Route,
    pub(super) raw: OwnedFd,
    pub(super) links: Links,
    pub(super) diag: Option<Diag>,
    pub(super) made: NodeInfo,
}

/// Network namespace that contains the lab's sides of Ethernet pairs.
pub(super) struct Hub {
    namespace: OwnedFd,
    route: Route,
    pairs: u32,
    /// Interface index of the last pair.
    last: u32,
}

/// Error of creating a node.
pub(super) struct NodeError {
    /// The feature of the kernel that the operation needs.
    pub(super) needs: Requirement,
    /// The failed operation, as a verb phrase.
    pub(super) what: &'static str,
    /// Cause.
    pub(super) error: io::Error,
}

impl NodeError {
    /// Converts an error of an operation that needs a feature.
    fn needing(needs: Requirement, what: &'static str) -> impl FnOnce(io::Error) -> NodeError {
        move |error| NodeError { needs, what, error }
    }

    /// Converts an error of any other operation.
    fn at(what: &'static str) -> impl FnOnce(io::Error) -> NodeError {
        NodeError::needing(Requirement::Other, what)
    }
}

/// Length in packets of the qdisc and of the device's queue. A burst of up to 64 KiB counts as one packet.
const QUEUE_LENGTH: u32 = 2_000;

/// Queue length in packets of a TUN device that stops the qdisc. TCP considers these packets sent, so the queue is
/// short. The kernel restarts the qdisc when half of it is free.
const TUN_QUEUE_LENGTH: u32 = 8;

/// First grant in bytes. The switch grants more as soon as the network has started.
const INITIAL_GRANT: u32 = 16 * 1024;

impl Hub {
    /// Opens the network namespace of this thread.
    pub(super) fn here() -> io::Result<Hub> {
        Ok(Hub {
            namespace: namespace::network()?,
            route: Route::new()?,
            pairs: 0,
            last: 0,
        })
    }

    /// Creates an Ethernet pair between the hub and this thread's namespace, where the interface is called `name`.
    /// Returns the lab's side.
    fn connect(&mut self, name: &str, there: &OwnedFd) -> Result<Frames, NodeError> {
        let at = |error| NodeError::at("create an Ethernet pair")(error);
        self.pairs += 1;
        let ours = format!("pair{}", self.pairs);
        self.route.add_pair(&ours, name, there.as_fd()).map_err(at)?;
        namespace::enter_network(&self.namespace).map_err(at)?;
        let frames = self.bring_up(&ours);
        namespace::enter_network(there).map_err(at)?;
        frames.map_err(at)
    }

    fn bring_up(&mut self, ours: &str) -> io::Result<Frames> {
        // The lab's side has no addresses and must not send anything by itself.
        set_sysctl(&format!("ipv6/conf/{ours}/disable_ipv6"), "1", &mut Vec::new());
        let index = interface::number(ours)?;
        let link = Link {
            mtu: Some(crate::credit::MTU as u32),
            resolves: Some(false),
            ..Link::default()
        };
        self.route.bring_up(index, &link)?;
        self.last = index;
        Frames::new(index)
    }

    /// Waits until the last pair forwards packets in both directions, for at most 2 s.
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

/// Creates a node. Moves this thread into the node's network namespace.
pub(super) fn make(spec: &NodeSpec, hub: &mut Hub) -> Result<Node, NodeError> {
    let name = spec.interface.as_str();
    let mut notes = Vec::new();
    let (namespace, mut route) = network()?;
    let is_pair = spec.device == DeviceKind::Pair;
    let (device, segments_udp) = match spec.device {
        DeviceKind::Pair => {
            let frames = hub.connect(name, &namespace)?;
            (
                OwnedFd::from(frames),
                udp_over_pair(name, spec.segments_udp, &mut notes),
            )
        }
        DeviceKind::Tun => {
            let needing = NodeError::needing(Requirement::TunDevice, "create a TUN device");
            let tun = Tun::new(name, spec.segments_udp).map_err(needing)?;
            (OwnedFd::from(tun.file), tun.segments_udp)
        }
    };
    let index = interface::number(name).map_err(NodeError::at("find the device"))?;
    // The server answers a marked connection with the same DSCP. In the model, a priority applies to both directions as
    // well.
    set_sysctl("ipv4/tcp_reflect_tos", "1", &mut notes);
    set_sysctl(&format!("ipv6/conf/{name}/addr_gen_mode"), "1", &mut Vec::new());
    set_sysctl(&format!("ipv6/conf/{name}/router_solicitations"), "0", &mut Vec::new());
    let link = Link {
        mtu: Some(crate::credit::MTU as u32),
        queue: Some(if spec.backpressure == Backpressure::TunQueue {
            TUN_QUEUE_LENGTH
        } else {
            QUEUE_LENGTH
        }),
        segments: (spec.backpressure != Backpressure::None).then_some(1),
        address: is_pair.then_some(ethernet::ADDRESS),
        resolves: is_pair.then_some(false),
    };
    route
        .bring_up(index, &link)
        .map_err(NodeError::at("bring the device up"))?;
    if is_pair {
        hub.settle(&mut route, index)
            .map_err(NodeError::at("query the device"))?;
    }
    add_addresses(spec, &mut route, index, &mut notes)?;
    let (_, gid) = namespace::ids();
    set_sysctl("ipv4/ping_group_range", &format!("{gid} {gid}"), &mut notes);
    set_sysctl("ipv4/tcp_no_metrics_save", "1", &mut notes);
    set_sysctl("ipv4/tcp_ecn", &spec.ecn.to_string(), &mut notes);
    // Ports below 1024 need no privilege in the lab's own network.
    set_sysctl("ipv4/ip_unprivileged_port_start", "0", &mut notes);
    let backpressure = apply_backpressure(spec.backpressure, &mut route, index, &mut notes);
    if let Some(limit) = spec.output_limit {
        set_sysctl("ipv4/tcp_limit_output_bytes", &limit.to_string(), &mut notes);
    }
    // The device is up. From here on, a link-down event means that a program took it down.
    let links = Links::watch().map_err(NodeError::at("watch the device"))?;
    let raw = raw::sender(index).map_err(NodeError::at("open a raw socket"))?;
    let diag = match backpressure {
        Backpressure::None => None,
        _ => Diag::new()
            .inspect_err(|error| {
                notes.push(format!(
                    "TCP Small Queues use the link's rate instead of the connection's: {error}"
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
        made: NodeInfo {
            index,
            segments_udp,
            backpressure,
            notes,
        },
    })
}

/// Adds the addresses of a node, each with a default route. A kernel without IPv6 has only one.
fn add_addresses(spec: &NodeSpec, route: &mut Route, index: u32, notes: &mut Vec<String>) -> Result<(), NodeError> {
    for address in [IpAddr::V4(spec.v4), IpAddr::V6(spec.v6)] {
        match route.add_address(index, address) {
            Ok(()) => {}
            Err(error) if address.is_ipv6() => {
                notes.push(format!("no IPv6: {error}"));
                continue;
            }
            Err(error) => return Err(NodeError::at("add an address to the device")(error)),
        }
        let needing = NodeError::needing(
            Requirement::CongestionControl,
            "add a route with that congestion control",
        );
        route
            .add_default(index, address, spec.control.as_deref())
            .map_err(needing)?;
    }
    Ok(())
}

/// Creates a network namespace with a loopback device, and moves this thread into it.
fn network() -> Result<(OwnedFd, Route), NodeError> {
    namespace::new_network().map_err(NodeError::at("create a network namespace"))?;
    let namespace = namespace::network().map_err(NodeError::at("open a network namespace"))?;
    let mut route = Route::new().map_err(NodeError::at("open a netlink socket"))?;
    let loopback = interface::number("lo").map_err(NodeError::at("find lo"))?;
    route
        .bring_up(loopback, &Link::default())
        .map_err(NodeError::at("bring lo up"))?;
    Ok((namespace, route))
}

/// Since Linux 6.2, packet sockets can receive datagrams that have not been segmented (USO). On older kernels they
/// would be lost, so the kernel segments them itself.
fn udp_over_pair(name: &str, spec: bool, notes: &mut Vec<String>) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if spec && super::since(&release, (6, 2)) {
        return true;
    }
    match offload::set(name, "tx-udp-segmentation", false) {
        // A kernel without this feature always segments datagrams itself.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => notes.push(format!(
            "datagrams sent as one burst (UDP_SEGMENT) may be lost: {error}"
        )),
    }
    false
}

fn apply_backpressure(spec: Backpressure, route: &mut Route, index: u32, notes: &mut Vec<String>) -> Backpressure {
    if spec == Backpressure::None {
        return spec;
    }
    // Otherwise the kernel treats a modelled round trip of 1 ms as one within a data centre, and sends larger bursts
    // (tcp_tso_rtt_log).
    set_sysctl("ipv4/tcp_tso_rtt_log", "0", &mut Vec::new());
    let (queue, lacks) = match spec {
        Backpressure::TunQueue => (route.add_fifo(index, QUEUE_LENGTH), "queue"),
        _ => (route.add_token_bucket(index, INITIAL_GRANT), "token bucket"),
    };
    match queue {
        Ok(()) => spec,
        Err(error) => {
            notes.push(format!(
                "TCP Small Queues do not work, because the kernel has no {lacks}: {error}"
            ));
            Backpressure::None
        }
    }
}

/// Sends into a TUN device that is not read, and measures how many packets are queued and dropped. Moves this thread
/// into a new network namespace.
pub(super) fn probe() -> io::Result<Probe> {
    let (_namespace, mut route) = network().map_err(|failed| failed.error)?;
    let name = "probe";
    let tun = Tun::new(name, false)?;
    let index = interface::number(name)?;
    let link = Link {
        queue: Some(Probe::QUEUE_LENGTH),
        ..Link::default()
    };
    route.bring_up(index, &link)?;
    route.add_fifo(index, QUEUE_LENGTH)?;
    let here = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    route.add_address(index, here)?;
    route.add_default(index, here, None)?;
    let before = route.counters(index)?.sent_dropped;
    let sender = UdpSocket::bind((here, 0))?;
    sender.connect((Ipv4Addr::new(192, 0, 2, 2), 9))?;
    for _ in 0..Probe::DATAGRAMS {
        // With backpressure, the datagrams stay in the socket's send buffer, which has room for all of them.
        let _ = sender.send(&[0; Probe::DATAGRAM_SIZE]);
    }
    let probe = Probe {
        outstanding: sockets::unsent(&sender)?,
        dropped: (route.counters(index)?.sent_dropped - before) as u32,
    };
    drop(tun);
    Ok(probe)
}

fn set_sysctl(name: &str, value: &str, notes: &mut Vec<String>) {
    if let Err(error) = std::fs::write(format!("/proc/sys/net/{name}"), value) {
        notes.push(format!("can't set net/{name}: {error}"));
    }
}
