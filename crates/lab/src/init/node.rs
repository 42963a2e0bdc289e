//! One node: a network namespace with a device, addresses, routes and settings.

use super::Device;
use super::message::{NodeMade, NodeWanted};
use netburn_linux::route::{Link, Route};
use netburn_linux::tun::Tun;
use netburn_linux::{namespace, raw};
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

/// A node, as its maker has it.
pub(super) struct Node {
    pub(super) device: Device,
    pub(super) namespace: OwnedFd,
    pub(super) route: Route,
    pub(super) raw: OwnedFd,
    pub(super) made: NodeMade,
}

/// Packets that wait before a device, and in it: a burst of 64 KiB counts as one.
const QUEUE: u32 = 2_000;

/// The first grant; the first real one comes as soon as there is a network.
const FIRST: u32 = 16 * 1024;

/// Makes a node. This thread is inside its network namespace afterwards.
pub(super) fn make(wanted: &NodeWanted) -> Result<Node, (&'static str, io::Error)> {
    let at = |what: &'static str| move |error: io::Error| (what, error);
    let name = wanted.interface.as_str();
    let mut notes = Vec::new();
    namespace::new_network().map_err(at("make a network namespace"))?;
    let namespace = namespace::network().map_err(at("open a network namespace"))?;
    let mut route = Route::new().map_err(at("open a netlink socket"))?;
    let loopback = Route::index("lo").map_err(at("find lo"))?;
    route.bring_up(loopback, &Link::default()).map_err(at("bring lo up"))?;
    let tun = Tun::new(name).map_err(at("make a TUN device"))?;
    let (device, segments_udp) = (tun.file, tun.segments_udp);
    let index = Route::index(name).map_err(at("find the device"))?;
    set(&format!("ipv6/conf/{name}/addr_gen_mode"), "1", &mut Vec::new());
    set(&format!("ipv6/conf/{name}/router_solicitations"), "0", &mut Vec::new());
    let link = Link {
        mtu: Some(crate::credit::MTU as u32),
        queue: Some(QUEUE),
        segments: wanted.bucket.then_some(1),
        ..Link::default()
    };
    route.bring_up(index, &link).map_err(at("bring the device up"))?;
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
    let mut bucket = false;
    if wanted.bucket {
        // Else a modelled round trip of a millisecond counts as one within a data centre, and bursts grow.
        set("ipv4/tcp_tso_rtt_log", "0", &mut Vec::new());
        match route.add_bucket(index, FIRST) {
            Ok(()) => bucket = true,
            Err(error) => notes.push(format!(
                "TCP Small Queues don't work, there is no token bucket: {error}"
            )),
        }
    }
    if wanted.output_limit > 0 {
        set(
            "ipv4/tcp_limit_output_bytes",
            &wanted.output_limit.to_string(),
            &mut notes,
        );
    }
    let raw = raw::sender(index).map_err(at("open a raw socket"))?;
    Ok(Node {
        device,
        namespace,
        route,
        raw,
        made: NodeMade {
            index,
            segments_udp,
            bucket,
            notes,
        },
    })
}

fn set(name: &str, value: &str, notes: &mut Vec<String>) {
    if let Err(error) = std::fs::write(format!("/proc/sys/net/{name}"), value) {
        notes.push(format!("net/{name} can't be set: {error}"));
    }
}
