//! Resolved scenario: checked, with every default filled in.

use netburn_units::{Duration, Seed};

mod absence;
mod ap;
mod backhaul;
mod building;
mod capacity;
mod change;
mod destination;
mod line;
mod multicast;
mod network;
mod radio;
mod radio_name;
mod radios;
mod rename;
mod router;
mod server;
mod signals;
mod station;
mod topology;
mod trace;
mod wire;
mod workload;

pub use absence::Absence;
pub use ap::{Ap, DEFAULT_RELAY_DELAY, DEFAULT_SCAN_AWAY};
pub use backhaul::{Backhaul, Mesh, MeshRoot, MeshTimers};
pub use building::{Building, Floors};
pub use capacity::Capacity;
pub use change::{ApSetting, Change, LinkSetting, RadioSetting, Setting, StationSetting};
pub use destination::{Destination, ParseDestinationError};
pub use line::{Cake, Framing, Isolation, Outage, Policer, ShaperRate, Tins, Wan};
pub use multicast::{MAX_MULTICAST_RATE, MULTICAST_SIZES, Multicast, ToUnicast};
pub use network::{BROADCAST_BYTES, DEFAULT_RADIUS_DELAY, Network};
pub use radio::Radio;
pub use radio_name::{RadioName, RadioRef};
pub use radios::RadiosError;
pub use rename::NameKind;
pub use router::Router;
pub use server::{DEFAULT_INTERRUPT_INTERVAL, Hop, Http, Server};
pub use signals::{RadioSignal, SignalPoint};
pub use station::{DEFAULT_SPEED, Joins, Station, StationAir};
pub use topology::{Device, Line};
pub use trace::{Trace, TraceError};
pub use wire::{DEFAULT_QUEUE_TIME, MIN_DEFAULT_QUEUE, Port, StationLink};
pub use workload::StationWorkload;

pub(crate) use absence::AbsenceSection;
pub(crate) use ap::ApSection;
pub(crate) use backhaul::{BackhaulChoice, MeshSection};
pub(crate) use building::{BuildingSection, check_floor};
pub(crate) use line::{CakeSection, OutageSection, PolicerSection, WanSection};
pub(crate) use multicast::MulticastSection;
pub(crate) use network::NetworkSection;
pub(crate) use radio::RadioSection;
pub(crate) use router::RouterSection;
pub(crate) use server::{LinkSection, ServerSection};
pub(crate) use signals::Signals;
pub(crate) use station::StationSection;
pub(crate) use wire::{StationLinkSection, WiredChoice, follow_name, wired_queue};
pub(crate) use workload::{AdaptationSection, DashSection, PlayerSection, WorkloadSection};

/// The resolved scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Name from the file's `name`, the file's stem, or the built-in scenario: letters, digits and `-`.
    pub name: String,
    /// One line that describes the scenario.
    pub title: Option<String>,
    /// Question that the scenario answers.
    pub question: Option<String>,
    /// Assumptions of the scenario, with reasons.
    pub assumptions: Vec<String>,
    /// Duration of the load; up to 30 days.
    pub duration: Duration,
    /// Time at the beginning of the load that verdicts do not cover; shorter than the load.
    pub warmup: Duration,
    /// Time before the load in which idle latency is measured.
    pub baseline: Duration,
    /// Time after the load in which running operations can finish.
    pub drain: Duration,
    /// Random seed.
    pub seed: Seed,
    /// Number of runs; 1 to 10 000.
    pub repeat: u32,
    /// Server, and its link to the access points.
    pub server: Server,
    /// Building in which access points and stations have positions; `None`: without walls.
    pub building: Option<Building>,
    /// Router behind which all wired access points are; `None`: each access point is a router itself.
    pub router: Option<Router>,
    /// Networks (SSIDs), in the file's order.
    pub networks: Vec<Network>,
    /// Access points, in the file's order.
    pub aps: Vec<Ap>,
    /// Meshes of 802.11s, in the file's order.
    pub meshes: Vec<Mesh>,
    /// Stations, in the file's order; at least one.
    pub stations: Vec<Station>,
    /// Changes during the run, ordered by time, then by the file's order.
    pub changes: Vec<Change>,
}

impl Plan {
    /// Returns the latest end of all operations: `duration` + `drain`. The drain of a station that stops earlier starts at
    /// its stop.
    #[must_use]
    pub fn settled(&self) -> Duration {
        self.duration + self.drain
    }

    /// Returns the number of the station that is the server of a workload; `None`: the plan's server.
    #[must_use]
    pub fn server_of(&self, workload: &StationWorkload) -> Option<usize> {
        let name = workload.server.as_ref()?;
        self.stations.iter().position(|station| station.name == *name)
    }

    /// Returns the station with this name.
    #[must_use]
    pub fn station(&self, name: &str) -> Option<&Station> {
        self.stations.iter().find(|s| s.name == name)
    }
}

impl Plan {
    /// Creates a plan with default settings and no stations.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Plan {
            name: name.to_owned(),
            title: None,
            question: None,
            assumptions: Vec::new(),
            duration: Duration::from_secs(60),
            warmup: Duration::ZERO,
            baseline: Duration::from_secs(3),
            drain: Duration::from_secs(5),
            seed: Seed(1),
            repeat: 1,
            server: Server::default(),
            building: None,
            router: None,
            networks: Vec::new(),
            aps: Vec::new(),
            meshes: Vec::new(),
            stations: Vec::new(),
            changes: Vec::new(),
        }
    }
}
