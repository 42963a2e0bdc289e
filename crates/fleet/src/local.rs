//! One run of a plan with all agents and the server as processes on this machine.

use crate::controller::{Controller, Expected, RunIo, Setup, Timeouts};
use crate::document;
use crate::join::Join;
use crate::launch::{Child, Launcher};
use netburn_protocol::messages::RejectReason;
use netburn_protocol::own_clock::to_std;
use netburn_protocol::token::Token;
use netburn_record::{Health, Role, Sink};
use netburn_scenario::{Environment, Plan};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Kind;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::sync::watch;

/// Time for child processes to end by themselves after the run.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Maximum rate of a server whose network has its own limits.
pub(crate) const UNCAPPED: BitRate = BitRate::from_mbps(400_000);

/// Options of a run.
pub struct Options<'a> {
    /// Starts agents and the server; usually [`ThisMachine`](crate::ThisMachine) with this program.
    pub launcher: &'a mut dyn Launcher,
    /// Sinks of all rows, in this order: recorder, live view. All are synced once a second.
    pub sinks: Vec<&'a mut dyn Sink>,
    /// Progress reports.
    pub watch: &'a mut dyn Watch,
    /// Becomes true to end the run early, with the results so far.
    pub stop: watch::Receiver<bool>,
}

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Agents and the server start and join.
    Joining,
    /// Preparation and clock synchronisation.
    Clocks,
    /// Measurement of the idle latency.
    Baseline,
    /// Load.
    Running,
    /// No new operations; running ones may finish.
    Draining,
    /// Delivery of the remaining results.
    Collecting,
}

/// Receiver of progress reports.
pub trait Watch {
    /// A phase begins. `left` is its expected length.
    fn phase(&mut self, phase: Phase, left: Duration) {
        let _ = (phase, left);
    }

    /// The run time, at the beginning of each phase from the baseline on, and about ten times a second.
    fn tick(&mut self, now: Instant) {
        let _ = now;
    }

    /// A warning for the user. It is also recorded.
    fn warn(&mut self, text: &str) {
        let _ = text;
    }
}

/// Outcome of a run. Everything that affects the verdict is also recorded.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Whether the run was ended early from outside.
    pub interrupted: bool,
    /// Lost agents and servers, each with the reason.
    pub lost: Vec<(String, String)>,
    /// Self-reports on the measurement.
    pub health: Vec<Health>,
}

/// Error of a run.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The controller can't listen.
    #[error("can't listen for agents: {0}")]
    Listen(#[source] io::Error),
    /// A process can't be started.
    #[error("can't start {name}: {source}")]
    Launch {
        /// Name of the agent or server.
        name: String,
        /// Cause.
        source: io::Error,
    },
    /// The server is not available.
    #[error("no server to measure against: {0}")]
    NoServer(String),
    /// No agent is available.
    #[error("no agent is ready: {0}")]
    NoAgents(String),
    /// A row can't be stored. The run was ended.
    #[error("results can't be stored: {0}")]
    Storage(#[source] io::Error),
    /// Agent or server: the controller can't be reached, or the peer is not a controller.
    #[error("can't connect to the controller: {0}")]
    Join(String),
    /// Agent or server: the controller rejected it.
    #[error("the controller rejected the connection: {reason}")]
    Rejected {
        /// Reason for programs.
        code: RejectReason,
        /// Reason for people.
        reason: String,
    },
    /// Agent or server: the connection to the controller is lost.
    #[error("the connection to the controller is lost: {0}")]
    ControllerLost(String),
    /// Agent or server: the run ended or did not begin, with the reason.
    #[error("{0}")]
    RunEnded(String),
    /// Agent or server: no process holds the run any more.
    #[error("the run is no longer held: its `netburn run` has ended")]
    UnknownRun,
    /// Agent or server: it rejected its part.
    #[error("rejected its part: {0}")]
    Declined(String),
    /// Agent or server: its part ended early. The measured rows are delivered.
    #[error("its part ended early: {0}; its results so far are delivered")]
    EndedEarly(String),
    /// A member is in another run.
    #[error("{0}; simultaneous runs disturb each other")]
    Busy(String),
    /// Agent or server: the assignment is invalid.
    #[error("invalid assignment: {0}")]
    Assignment(String),
}

/// Runs `plan` once. Starts the server and one agent per station, synchronises the clocks and measures the
/// idle latency. Starts all stations at the same instant, and passes all rows to the sinks. The run ends in
/// bounded time even if agents are lost.
///
/// # Errors
/// If there is no result, or rows can't be stored.
pub async fn run_local(plan: &Plan, options: Options<'_>) -> Result<Outcome, FleetError> {
    let Options {
        launcher,
        mut sinks,
        watch,
        stop,
    } = options;
    let mut controller = Controller::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let address = controller.address()?;
    let own = launcher.server();
    let mut setup = setup(plan)?;
    if own.is_some() {
        setup.rate = UNCAPPED;
    }
    let mut children = Vec::new();
    for expected in &setup.expected {
        let join = Join {
            url: format!("ws://{address}/"),
            token: expected.token.reveal().to_owned(),
            role: expected.role,
            name: expected.name.clone(),
            parent: None,
            listen: SocketAddr::new(own.unwrap_or(Ipv4Addr::LOCALHOST.into()), 0),
            fleet: None,
        };
        let mut child = launcher.spawn(&join).map_err(|source| FleetError::Launch {
            name: join.name,
            source,
        })?;
        #[cfg(unix)]
        if let Some(stream) = child.control() {
            controller.add_inherited(stream).map_err(FleetError::Listen)?;
        }
        children.push(Some(child));
    }
    let run_io = RunIo {
        sinks: &mut sinks,
        watch,
        stop,
        children: &mut children,
    };
    let result = controller.run(setup, run_io).await;
    terminate(children, SHUTDOWN_GRACE).await;
    result
}

/// Waits for child processes to end, then kills the rest.
pub(crate) async fn terminate(mut children: Vec<Option<Box<dyn Child>>>, wait: Duration) {
    let leaving = std::time::Instant::now() + to_std(wait);
    while std::time::Instant::now() < leaving {
        for place in &mut children {
            if place.as_mut().is_some_and(|child| child.ended().is_some()) {
                *place = None;
            }
        }
        if children.iter().all(Option::is_none) {
            break;
        }
        tokio::time::sleep(to_std(Duration::from_millis(10))).await;
    }
    // Dropping a child kills it.
    drop(children);
}

/// Setup of a run on one machine: a server, and one agent per station with the station's name.
fn setup(plan: &Plan) -> Result<Setup, FleetError> {
    let document = document::from_plan(plan)?;
    let token = || Token::random().map_err(FleetError::Listen);
    let mut expected = vec![Expected {
        name: "server".to_owned(),
        role: Role::Server,
        token: token()?,
        stations: Vec::new(),
        datagrams: false,
        device: Default::default(),
    }];
    for (station, number) in plan.stations.iter().zip(0..) {
        expected.push(Expected {
            name: station.name.clone(),
            role: Role::Agent,
            token: token()?,
            stations: vec![number],
            datagrams: station
                .workloads
                .iter()
                .any(|workload| workload.config.kind == Kind::Probe),
            device: Default::default(),
        });
    }
    Ok(Setup {
        plan: plan.clone(),
        document,
        rate: plan
            .server_rate(Environment::Local)
            .expect("on `local` there always is one"),
        expected,
        timeouts: Timeouts::LOCAL,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_rate_is_the_plans_or_a_gigabit() {
        let mut plan = Plan::new("one");
        let rate = |plan: &Plan| setup(plan).unwrap().rate;
        assert_eq!(rate(&plan), BitRate::from_mbps(1000));
        plan.server.link.rate = Some(BitRate::from_mbps(15));
        assert_eq!(rate(&plan), BitRate::from_mbps(15));
    }
}
