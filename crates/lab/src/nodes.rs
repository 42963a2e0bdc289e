//! Making a lab's nodes: what the helper is asked for, in order, and what is done where the machine can't.

use crate::address;
use crate::device::Device;
use crate::engine::Port;
use crate::error::LabError;
use crate::helper::Helper;
use crate::hold::{Hold, choose};
use crate::init::message::{Answer, NodeMade, NodeWanted, Request};
use crate::options::{DeviceKind, Options};
use crate::switch::Switch;
use crate::wishes;
use netburn_linux::diag::Diag;
use netburn_linux::links::Links;
use netburn_linux::process;
use netburn_linux::route::Route;
use netburn_network::Endpoint;
use netburn_scenario::Plan;
use std::os::fd::OwnedFd;
use std::process::Command;

/// Nodes, and who made them.
pub(crate) struct Nodes {
    pub(crate) helper: Helper,
    /// The server's first, then each station's.
    pub(crate) ports: Vec<Port>,
    pub(crate) namespaces: Vec<OwnedFd>,
    /// Of each port's namespace.
    pub(crate) links: Vec<(Links, u32)>,
    pub(crate) notes: Vec<String>,
    pub(crate) user: bool,
    pub(crate) device: DeviceKind,
    pub(crate) hold: Hold,
    pub(crate) segments_udp: bool,
    /// The soft limit of open files before it was raised.
    pub(crate) open_files: u32,
}

/// Open files for each node: its device, network namespace, three sockets of netlink's and a raw one; and one for its capture.
const FILES_EACH: u64 = 7;
/// Open files beside those of nodes: the helper, threads, a view, programs' output.
const FILES_ELSE: u64 = 64;

/// What may wait in a station's kernel for each connection, in bytes of `truesize` (`tcp_limit_output_bytes`): two packets. What small
/// queues let wait beyond that is ahead of the air.
const KERNELS: u32 = 4_096;

impl Nodes {
    pub(crate) fn make(
        plan: &Plan,
        helper: Command,
        options: &Options,
        warn: impl FnMut(String) + Send + 'static,
    ) -> Result<Nodes, LabError> {
        if plan.stations.len() > address::MOST_STATIONS {
            return Err(LabError::TooMany(plan.stations.len()));
        }
        Switch::new(plan)?;
        let open_files = raise_open_files(plan.stations.len())?;
        let (mut helper, user, mut notes) = Helper::start(helper, warn)?;
        if let Err(error) = helper.ask(&Request::Names(names(plan)), &[]) {
            notes.push(format!("names don't resolve: {error}"));
        }
        let mut nodes = Nodes {
            helper,
            ports: Vec::new(),
            namespaces: Vec::new(),
            links: Vec::new(),
            notes,
            user,
            device: options.device.unwrap_or(DeviceKind::Tun),
            hold: Hold::Nothing,
            segments_udp: true,
            open_files,
        };
        let usual = wishes::usual_control();
        nodes.notes.extend(usual.note);
        nodes.notes.extend(wishes::unmet(plan));
        nodes.server(plan, &usual.name, options)?;
        nodes.hold = options.hold.unwrap_or_else(|| nodes.best_hold());
        for (station, number) in plan.stations.iter().zip(0..) {
            let small_queues = station.tsq.unwrap_or_default().settings().is_some();
            let wanted = NodeWanted {
                // On a wire they are the kernel's own.
                output_limit: if small_queues && station.link.is_none() {
                    KERNELS
                } else {
                    0
                },
                // Without small queues a kernel hands over what it likes.
                hold: if small_queues { nodes.hold } else { Hold::Nothing },
                ..nodes.wanted(
                    Endpoint::Station(number),
                    station.cc.as_ref().map_or(&*usual.name, |control| control.name()),
                    options,
                )
            };
            nodes.add(Endpoint::Station(number), wanted)?;
        }
        Ok(nodes)
    }

    /// The first node, which shows what devices can be had.
    fn server(&mut self, plan: &Plan, usual: &str, options: &Options) -> Result<(), LabError> {
        let control = plan.server.cc.as_ref().map_or(usual, |control| control.name());
        let wanted = self.wanted(Endpoint::Server, control, options);
        let closed = match self.add(Endpoint::Server, wanted) {
            Err(LabError::Refused { what, error }) if options.device.is_none() && what.contains("TUN") => error,
            made => return made,
        };
        self.device = DeviceKind::Pair;
        let wanted = self.wanted(Endpoint::Server, control, options);
        match self.add(Endpoint::Server, wanted) {
            Ok(()) => {
                self.notes.push(format!(
                    "{} can't be opened ({closed}), so stations have {} in the place of TUN devices",
                    netburn_linux::tun::DEVICE,
                    self.device
                ));
                Ok(())
            }
            // What would help most is the device that there usually is.
            Err(LabError::Refused { what, error }) => Err(LabError::Refused {
                what: format!("make a TUN device, nor {what} in its place ({error})"),
                error: closed,
            }),
            Err(error) => Err(error),
        }
    }

    /// How this kernel holds stations back best.
    fn best_hold(&mut self) -> Hold {
        let probed = match self.device {
            DeviceKind::Tun => self.helper.ask(&Request::Probe, &[]).ok(),
            DeviceKind::Pair => None,
        };
        let probe = probed.and_then(|(answer, _)| match answer {
            Answer::Probed(probe) => Some(probe),
            _ => None,
        });
        choose(self.device, probe)
    }

    fn wanted(&self, end: Endpoint, control: &str, options: &Options) -> NodeWanted {
        NodeWanted {
            interface: if end == Endpoint::Server { "eth0" } else { "wlan0" }.to_owned(),
            v4: address::v4(end),
            v6: address::v6(end),
            control: control.to_owned(),
            output_limit: 0,
            hold: Hold::Nothing,
            pair: self.device == DeviceKind::Pair,
            udp: options.segments_udp,
        }
    }

    fn add(&mut self, end: Endpoint, wanted: NodeWanted) -> Result<(), LabError> {
        let (Answer::Node(made), files) = self.helper.ask(&Request::Node(wanted), &[])? else {
            return Err(LabError::Gone("it answers something else".to_owned()));
        };
        let mut files = files.into_iter();
        let mut next = || {
            files
                .next()
                .ok_or_else(|| LabError::Gone("it does not give what it made".to_owned()))
        };
        let (device, namespace, route, raw, links) = (next()?, next()?, next()?, next()?, next()?);
        let NodeMade {
            index,
            segments_udp,
            hold,
            notes,
        } = made;
        self.segments_udp &= segments_udp;
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.namespaces.push(namespace);
        self.links.push((Links::from(links), index));
        self.ports.push(Port {
            end,
            device: Device::new(self.device, device),
            route: Route::from(route),
            raw,
            diag: files.next().map(Diag::from),
            index,
            hold,
            paused: false,
        });
        Ok(())
    }
}

/// Has this process, and with it the helper, open as many files as so many stations take. The soft limit before.
fn raise_open_files(stations: usize) -> Result<u32, LabError> {
    let Ok((soft, hard)) = process::open_files() else {
        return Ok(u32::MAX);
    };
    let needed = (stations as u64 + 1) * FILES_EACH + FILES_ELSE;
    if needed > hard {
        return Err(LabError::Files {
            stations,
            needed,
            limit: hard,
        });
    }
    if needed > soft {
        process::limit_open_files(hard).map_err(LabError::Start)?;
    }
    Ok(u32::try_from(soft).unwrap_or(u32::MAX))
}

/// The lines of /etc/hosts.
fn names(plan: &Plan) -> String {
    let mut lines = String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
    let stations = plan
        .stations
        .iter()
        .zip(0..)
        .map(|(station, number)| (station.name.as_str(), Endpoint::Station(number)));
    for (name, end) in std::iter::once(("server", Endpoint::Server)).chain(stations) {
        lines.push_str(&format!("{} {name}\n{} {name}\n", address::v4(end), address::v6(end)));
    }
    lines
}
