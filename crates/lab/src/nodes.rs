//! Creation of a lab's nodes: requests to the helper, and fallbacks for features that the system lacks.

use crate::address;
use crate::backpressure::{Backpressure, choose};
use crate::device::Device;
use crate::device_kind::DeviceKind;
use crate::egress::{Connections, Egress};
use crate::engine::{Port, lock};
use crate::error::{LabError, Requirement};
use crate::helper::{Helper, ProcessEvents};
use crate::host::{NamespaceHost, StationHost};
use crate::init::message::{Answer, NodeInfo, NodeSpec, Request};
use crate::kernel_settings::{KernelSettings, kernel_settings};
use crate::options::Options;
use crate::switch::Switch;
use crate::unsupported_settings;
use netburn_lab_kernel::diag::Diag;
use netburn_lab_kernel::route::Route;
use netburn_network::Endpoint;
use netburn_platform::links::Links;
use netburn_platform::process;
use netburn_scenario::Plan;
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// The nodes and their helper.
pub(crate) struct Nodes {
    pub(crate) helper: Arc<Mutex<Helper>>,
    pub(crate) process_events: Arc<ProcessEvents>,
    /// The server's port first, then the stations'.
    pub(crate) ports: Vec<Port>,
    /// In the same order.
    pub(crate) hosts: Vec<Arc<dyn StationHost>>,
    pub(crate) notes: Vec<String>,
    pub(crate) in_user_namespace: bool,
    pub(crate) device: DeviceKind,
    pub(crate) backpressure: Backpressure,
    pub(crate) segments_udp: bool,
    /// Soft limit of open files before it was raised.
    open_files: u32,
}

/// Open files per node: device, network namespace, three netlink sockets, raw socket, and capture file.
const FILES_PER_NODE: u64 = 7;
/// Open files that do not depend on the number of nodes: helper, threads, live view, output of programs.
const OTHER_FILES: u64 = 64;

impl Nodes {
    pub(crate) fn make(
        plan: &Plan,
        helper: Command,
        options: &Options,
        warn: impl FnMut(String) + Send + 'static,
    ) -> Result<Nodes, LabError> {
        if plan.stations.len() > address::MAX_STATIONS {
            return Err(LabError::TooManyStations(plan.stations.len()));
        }
        Switch::new(plan)?;
        let open_files = raise_open_files(plan.stations.len())?;
        let (mut helper, in_user_namespace, mut notes) = Helper::start(helper, warn)?;
        if let Err(error) = helper.request(&Request::Names(names(plan)), &[]) {
            notes.push(format!("can't install host names: {error}"));
        }
        let mut nodes = Nodes {
            process_events: Arc::clone(helper.process_events()),
            helper: Arc::new(Mutex::new(helper)),
            ports: Vec::new(),
            hosts: Vec::new(),
            notes,
            in_user_namespace,
            device: options.device.unwrap_or(DeviceKind::Tun),
            backpressure: Backpressure::None,
            segments_udp: true,
            open_files,
        };
        let default = unsupported_settings::default_congestion_control();
        nodes.notes.extend(default.note);
        nodes.notes.extend(unsupported_settings::unsupported(plan));
        let mut kernels = kernel_settings(plan).into_iter().map(|mut settings| {
            settings.control = settings.control.or_else(|| default.name.clone());
            settings
        });
        if let Some(server) = kernels.next() {
            nodes.server(&server, options)?;
        }
        nodes.backpressure = options.backpressure.unwrap_or_else(|| nodes.best_backpressure());
        for (settings, number) in kernels.zip(0..) {
            let end = Endpoint::Station(number);
            let spec = nodes.spec(end, &settings, options);
            nodes.add(end, spec)?;
        }
        Ok(nodes)
    }

    /// Creates the server's node, which shows whether TUN devices are available.
    fn server(&mut self, settings: &KernelSettings, options: &Options) -> Result<(), LabError> {
        let spec = self.spec(Endpoint::Server, settings, options);
        let closed = match self.add(Endpoint::Server, spec) {
            Err(LabError::Operation {
                needs: Requirement::TunDevice,
                error,
                ..
            }) if options.device.is_none() => error,
            made => return made,
        };
        self.device = DeviceKind::Pair;
        let spec = self.spec(Endpoint::Server, settings, options);
        match self.add(Endpoint::Server, spec) {
            Ok(()) => {
                self.notes.push(format!(
                    "can't open {} ({closed}); stations use {} instead of TUN devices",
                    netburn_lab_kernel::tun::DEVICE,
                    self.device
                ));
                Ok(())
            }
            // A limit on namespaces stops both kinds of devices.
            Err(LabError::Operation { needs, what, error }) if error.kind() == io::ErrorKind::StorageFull => {
                Err(LabError::Operation { needs, what, error })
            }
            // Report the missing TUN device, because enabling it is the simplest solution.
            Err(LabError::Operation { what, error, .. }) => Err(LabError::Operation {
                needs: Requirement::TunDevice,
                what: format!("create a TUN device, and can't {what} instead ({error})"),
                error: closed,
            }),
            Err(error) => Err(error),
        }
    }

    /// Returns the best backpressure mechanism of this kernel.
    fn best_backpressure(&mut self) -> Backpressure {
        let probed = match self.device {
            DeviceKind::Tun => lock(&self.helper).request(&Request::Probe, &[]).ok(),
            DeviceKind::Pair => None,
        };
        let probe = probed.and_then(|(answer, _)| match answer {
            Answer::Probed(probe) => Some(probe),
            _ => None,
        });
        choose(self.device, probe)
    }

    fn spec(&self, end: Endpoint, settings: &KernelSettings, options: &Options) -> NodeSpec {
        NodeSpec {
            interface: if end == Endpoint::Server { "eth0" } else { "wlan0" }.to_owned(),
            v4: address::v4(end),
            v6: address::v6(end),
            control: settings.control.clone(),
            ecn: settings.ecn.sysctl(),
            output_limit: settings.output_limit,
            backpressure: if settings.small_queues {
                self.backpressure
            } else {
                Backpressure::None
            },
            device: self.device,
            segments_udp: options.segments_udp,
        }
    }

    fn add(&mut self, end: Endpoint, spec: NodeSpec) -> Result<(), LabError> {
        let answer = lock(&self.helper).request(&Request::Node(spec), &[])?;
        let (Answer::Node(made), files) = answer else {
            return Err(LabError::HelperExited("unexpected reply".to_owned()));
        };
        let mut files = files.into_iter();
        let mut next = || {
            files
                .next()
                .ok_or_else(|| LabError::HelperExited("its reply has too few files".to_owned()))
        };
        let (device, namespace, route, raw, links) = (next()?, next()?, next()?, next()?, next()?);
        let NodeInfo {
            index,
            segments_udp,
            backpressure,
            notes,
        } = made;
        self.segments_udp &= segments_udp;
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.hosts.push(Arc::new(NamespaceHost {
            helper: Arc::clone(&self.helper),
            node: self.hosts.len() as u32,
            namespace,
            links: Links::from(links),
            index,
            in_user_namespace: self.in_user_namespace,
            open_files: self.open_files,
        }));
        let connections = Connections(files.next().map(Diag::from));
        self.ports.push(Port {
            end,
            device: Device::new(self.device, device),
            route: Route::from(route),
            index,
            egress: match backpressure {
                Backpressure::None => Egress::Unlimited,
                Backpressure::TunQueue => Egress::PauseReading {
                    paused: false,
                    connections,
                },
                Backpressure::TokenBucket => Egress::TokenBucket {
                    raw,
                    replaced: false,
                    connections,
                },
            },
        });
        Ok(())
    }
}

/// Raises the limit of open files of this process and the helper, as far as the stations need. Returns the previous
/// soft limit.
fn raise_open_files(stations: usize) -> Result<u32, LabError> {
    let Ok((soft, hard)) = process::open_files() else {
        return Ok(u32::MAX);
    };
    let needed = (stations as u64 + 1) * FILES_PER_NODE + OTHER_FILES;
    if needed > hard {
        return Err(LabError::OpenFileLimit {
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

/// Returns the lines of /etc/hosts.
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
