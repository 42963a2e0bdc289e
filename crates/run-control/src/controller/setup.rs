//! Input of a run: the plan, the expected agents and servers, and the timeouts.

use netburn_protocol::token::Token;
use netburn_record::Role;
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration};

/// Time to reconnect in a run that needs all agents. It is longer than the change of an access point, and shorter than a
/// phase of a measurement.
const MAX_ABSENCE: Duration = Duration::from_secs(3);

/// Timeouts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Time limit for joining.
    pub join: Duration,
    /// Time limit for preparation and clock synchronisation.
    pub ready: Duration,
    /// Time limit for the delivery of results after the drain.
    pub collect: Duration,
    /// True if an agent may reconnect. If so, it counts as disconnected, and is lost only after the time
    /// for results.
    pub allow_reconnect: bool,
    /// Time without a connection after which the whole run ends early, because it needs all agents and the server. A loss ends
    /// it at once. `None`: the run continues with the others.
    pub max_absence: Option<Duration>,
}

impl Timeouts {
    /// For processes on this machine. They do not reconnect.
    pub const LOCAL: Timeouts = Timeouts {
        join: Duration::from_secs(10),
        ready: Duration::from_secs(10),
        collect: Duration::from_secs(10),
        allow_reconnect: false,
        max_absence: None,
    };

    /// For devices on a network, with this time limit for joining.
    #[must_use]
    pub const fn for_fleet(join: Duration) -> Timeouts {
        Timeouts {
            join,
            ready: Duration::from_secs(20),
            collect: Duration::from_secs(20),
            allow_reconnect: true,
            max_absence: None,
        }
    }

    /// The same timeouts for a run that is useless without one of its agents.
    #[must_use]
    pub const fn requiring_all(self) -> Timeouts {
        Timeouts {
            max_absence: Some(MAX_ABSENCE),
            ..self
        }
    }
}

/// Input of a run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The plan.
    pub plan: Plan,
    /// The plan as a document, for the agents.
    pub document: serde_json::Value,
    /// Maximum rate of the server.
    pub rate: BitRate,
    /// One server and at least one agent.
    pub expected: Vec<Expected>,
    /// Timeouts.
    pub timeouts: Timeouts,
}

/// Maximum rate of a server whose network has its own limits.
pub const UNCAPPED: BitRate = BitRate::from_mbps(400_000);

/// An agent or server that is expected in the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Name in the run.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Token of this agent alone, so that no other agent can take its place.
    pub token: Token,
    /// Stations that it drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// True if its workloads need datagrams. If they do not reach the server, the agent can't take part.
    pub datagrams: bool,
    /// Device that takes part.
    pub device: Device,
}

/// Device that takes part under a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Device {
    /// A device of the same name, or without a name.
    #[default]
    Same,
    /// The fleet member of this name.
    Member(String),
    /// No device, with the reason.
    Missing(String),
}
