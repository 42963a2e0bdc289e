//! Rows of a record, and the trait through which they are stored.
//!
//! Times are nanoseconds since the run began, by the clock of the measuring device. The run's
//! clocks allow conversion. Stations are numbered as in the plan, workloads within their station.

mod detail;
mod link;
mod link_event;
mod logged;
mod observed;

pub use detail::Detail;
pub use link::{Bssid, LinkRow, Modulation, ParseBssidError, Phy};
pub use link_event::{LinkChange, LinkEvent};
pub use logged::{LeaveCause, Logged, MoveReason, Steerer};
pub use observed::{AccessPointEvent, Observable, ObservedRow};

use netburn_units::{Duration, Instant};
use netburn_workload::{Failure, Operation, Outcome, ProbeTarget};

/// The workload number of the idle-latency probe that runs before the load.
pub const BASELINE: u16 = u16::MAX;
/// The same with the first hop beyond the router as its target.
pub const BASELINE_LINE: u16 = u16::MAX - 1;
/// The same with the access point, or the default gateway, as its target.
pub const BASELINE_NEAR: u16 = u16::MAX - 2;

/// The workload number of the idle-latency probe to a target.
#[must_use]
pub const fn baseline(target: ProbeTarget) -> u16 {
    match target {
        ProbeTarget::Server => BASELINE,
        ProbeTarget::Line => BASELINE_LINE,
        ProbeTarget::Near => BASELINE_NEAR,
    }
}

/// The target of an idle-latency probe; `None` for a workload of the plan.
#[must_use]
pub const fn baseline_target(workload: u16) -> Option<ProbeTarget> {
    match workload {
        BASELINE => Some(ProbeTarget::Server),
        BASELINE_LINE => Some(ProbeTarget::Line),
        BASELINE_NEAR => Some(ProbeTarget::Near),
        _ => None,
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// An operation that ended.
    Operation(OperationRow),
    /// Bytes that one workload moved in 100 ms.
    Interval(IntervalRow),
    /// A TCP_INFO sample of one connection.
    Connection(ConnectionRow),
    /// A sample of a station's Wi-Fi link.
    Link(LinkRow),
    /// An event.
    Event(EventRow),
    /// Modelled airtime of one station in 100 ms.
    Air(AirRow),
    /// A value that an observed access point reported.
    Observed(ObservedRow),
}

impl Row {
    /// The number in the plan of the station that it is about; `None` for an event of the whole run, and for a value of an
    /// access point that is not about a station of the plan.
    #[must_use]
    pub fn station(&self) -> Option<u16> {
        match self {
            Row::Operation(row) => Some(row.station),
            Row::Interval(row) => Some(row.station),
            Row::Connection(row) => Some(row.station),
            Row::Link(row) => Some(row.station),
            Row::Event(row) => row.station,
            Row::Air(row) => Some(row.station),
            Row::Observed(row) => row.station,
        }
    }
}

/// An operation of one station's workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationRow {
    /// The station's number in the plan.
    pub station: u16,
    /// The workload's number within the station, or that of an idle-latency probe ([`baseline`]).
    pub workload: u16,
    /// The operation and its outcome.
    pub operation: Operation,
}

/// Bytes of content moved by one workload in the 100 ms that begin at `at` (a multiple of 100 ms). Intervals without
/// bytes may be left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IntervalRow {
    /// The station's number in the plan.
    pub station: u16,
    /// The workload's number within the station.
    pub workload: u16,
    /// Start of the interval.
    pub at: Instant,
    /// Bytes towards the station.
    pub bytes_down: u64,
    /// Bytes away from it.
    pub bytes_up: u64,
}

/// Modelled airtime of one station in the 100 ms that begin at `at` (a multiple of 100 ms), on
/// simulate and lab. Data PPDUs are those that carry data MPDUs. A PPDU counts in the interval in
/// which it ends. Intervals in which all values are 0 may be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AirRow {
    /// The station's number in the plan.
    pub station: u16,
    /// Start of the interval.
    pub at: Instant,
    /// Airtime of data PPDUs to the station, with preambles and failed transmissions.
    pub airtime_down: Duration,
    /// The same from the station.
    pub airtime_up: Duration,
    /// Data PPDUs sent, both directions.
    pub transmissions: u64,
    /// MPDUs in them, both directions: the mean aggregate is `mpdus` / `transmissions`.
    pub mpdus: u64,
    /// MPDUs among them that were retransmissions.
    pub retries: u64,
    /// Packets queued for the station and at it at the end of the interval.
    pub backlog: u64,
    /// Packets dropped, both directions, by queues and after the last retry.
    pub drops: u64,
    /// Packets that got a congestion mark (ECN CE), both directions.
    pub marks: u64,
    /// Airtime of networks that are not modelled on its channel, collisions included. `None` for a
    /// wired station, and in older records.
    pub others: Option<Duration>,
}

/// End of a connection that took a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Side {
    /// The station.
    #[default]
    Station,
    /// The server.
    Server,
}

/// A sample of one TCP connection (`struct tcp_info`, linux/tcp.h).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionRow {
    /// The station's number in the plan; [`u16::MAX`] if the server took the sample and cannot
    /// identify it.
    pub station: u16,
    /// The workload's number within the station; [`u16::MAX`] if the server took the sample and
    /// cannot identify it.
    pub workload: u16,
    /// End that took the sample.
    pub side: Side,
    /// The station's local port: names the connection at both ends.
    pub port: u16,
    /// Time of the sample.
    pub at: Instant,
    /// Smoothed round-trip time in µs.
    pub rtt_us: u32,
    /// Variation of the round-trip time in µs.
    pub rtt_var_us: u32,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Retransmitted segments so far.
    pub retransmits: u32,
    /// Delivery rate in bit/s.
    pub delivery_rate_bps: u64,
    /// Bytes acknowledged so far.
    pub bytes_acked: u64,
    /// Bytes received so far.
    pub bytes_received: u64,
}

/// An event during a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventRow {
    /// The station's number in the plan; `None` for the whole run.
    pub station: Option<u16>,
    /// The workload's number within the station, where it is one workload's.
    pub workload: Option<u16>,
    /// Start.
    pub at: Instant,
    /// Time for which it took, in nanoseconds; 0 for a moment.
    pub length: u64,
    /// Kind of event.
    pub kind: EventKind,
    /// Description or typed data.
    pub detail: Detail,
}

/// The kinds of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum EventKind {
    /// A player's buffer was empty.
    Stall,
    /// The controller lost the station's agent: [`QualityIssue::AgentLost`](crate::QualityIssue::AgentLost).
    Lost,
    /// A timed change of the scenario took effect.
    Change,
    /// A station moved to another BSS.
    Roam,
    /// A warning for the reader.
    #[default]
    Warning,
    /// A health report: [`Detail::Health`].
    Health,
    /// An agent's clock against the controller's: [`Detail::Clock`].
    Clock,
    /// A player began to play; `length` is how long that took from when it was switched on.
    Startup,
    /// Reason for which no result of the run is reliable: [`Detail::Issue`].
    QualityIssue,
    /// A station's rate fell to less than a quarter of what it was, for a while.
    Rate,
    /// The lab's report on its own work: [`Detail::Lab`]. The last one counts.
    Lab,
    /// An agent reports that results of its station are missing.
    Incomplete,
    /// The controller lost the run's server. The station measured against it; `None`: all stations did.
    ServerLost,
    /// The controller lost the run's server, and no station measured against it.
    UnusedServerLost,
    /// The controller rejected rows of the station's agent; `None`: rows of the run's server.
    Rejected,
    /// A station scanned; `length` includes the returns to its channel.
    Scan,
    /// An access point asked a station to move or disassociated it, or the station answered.
    Steering,
    /// A path of a mesh was found, changed or lost, or a link of the mesh opened or closed.
    Path,
    /// DSCP with which the packets of one direction of a workload arrived: [`Detail::Dscp`].
    Dscp,
    /// An observed access point: [`Detail::AccessPoint`].
    AccessPoint,
}

impl IntervalRow {
    /// Bytes in both directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes_down.saturating_add(self.bytes_up)
    }
}

impl AirRow {
    /// Airtime of data PPDUs in both directions, in ns.
    #[must_use]
    pub fn airtime(&self) -> u64 {
        self.airtime_down.as_nanos().saturating_add(self.airtime_up.as_nanos())
    }
}

/// Destination of rows: the disk, the live view, the network, or several of them.
pub trait Sink {
    /// Takes one row.
    ///
    /// # Errors
    /// When the row cannot be stored (a full disk, a closed connection). The error is returned
    /// once; the run ends.
    fn put(&mut self, row: &Row) -> std::io::Result<()>;

    /// Makes all previous rows durable, or shows them. Callers call this at least once a second.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// All outcomes. Their places are their codes in the spool: append, never reorder.
pub(crate) const OUTCOMES: [Outcome; 9] = [
    Outcome::Finished,
    Outcome::Failed(Failure::Dial),
    Outcome::Failed(Failure::Connection),
    Outcome::Failed(Failure::Answer),
    Outcome::Failed(Failure::Stopped),
    Outcome::TimedOut,
    Outcome::NotStarted,
    Outcome::Unfinished,
    Outcome::Cut,
];

/// An outcome's name in columns and exports.
#[must_use]
pub const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Failed(Failure::Dial) => "failed_dial",
        Outcome::Failed(Failure::Connection) => "failed_connection",
        Outcome::Failed(Failure::Answer) => "failed_answer",
        Outcome::Failed(Failure::Stopped) => "failed_stopped",
        Outcome::TimedOut => "timed_out",
        Outcome::NotStarted => "not_started",
        Outcome::Unfinished => "unfinished",
        Outcome::Cut => "cut",
    }
}

// Their places are their codes in the spool: append, never reorder.
netburn_units::variants! {
    pub EventKind:
        Stall = "stall",
        Lost = "lost",
        Change = "change",
        Roam = "roam",
        Warning = "warning",
        Health = "health",
        Clock = "clock",
        Startup = "startup",
        QualityIssue = "quality_issue",
        Rate = "rate",
        Lab = "lab",
        Incomplete = "incomplete",
        ServerLost = "server-lost",
        UnusedServerLost = "unused-server-lost",
        Rejected = "rejected",
        Scan = "scan",
        Steering = "steering",
        Path = "path",
        Dscp = "dscp",
        AccessPoint = "access-point",
}

// Their places are their codes in the spool, too.
netburn_units::variants! {
    pub Side:
        Station = "station",
        Server = "server",
}
