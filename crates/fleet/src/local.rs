//! One round of a plan with all participants as processes on this machine.

use crate::controller::{Controller, Expected, RunIo, Setup, Timeouts, Token};
use crate::document;
use crate::join::Join;
use crate::launch::{Child, Launcher};
use crate::own_clock::to_std;
use crate::protocol::RejectReason;
use netburn_record::{Health, Role, Sink};
use netburn_scenario::{Environment, Plan};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Kind;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::sync::watch;

/// How long participants have to end by themselves after the round.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// What a server may send whose network sets its own limits.
pub(crate) const UNCAPPED: BitRate = BitRate::from_mbps(400_000);

/// What a round needs besides its plan.
pub struct Options<'a> {
    /// Starts the participants; usually [`ThisMachine`](crate::ThisMachine) with the program's own path.
    pub launcher: &'a mut dyn Launcher,
    /// Where every row goes, in this order: the recorder, the live view. All are synced once a second.
    pub sinks: Vec<&'a mut dyn Sink>,
    /// Who is told how far it is.
    pub watch: &'a mut dyn Watch,
    /// Becomes true to end the round early with what there is.
    pub stop: watch::Receiver<bool>,
}

/// How far a round is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Participants are started and join.
    Joining,
    /// Clocks are compared, and everyone gets ready.
    Clocks,
    /// Idle latency is measured.
    Baseline,
    /// The load runs.
    Running,
    /// Nothing new begins; what is under way may finish.
    Draining,
    /// The rest of the results comes home.
    Collecting,
}

/// Is told how far a round is.
pub trait Watch {
    /// A phase begins. `left` is how long it is expected to take.
    fn phase(&mut self, phase: Phase, left: Duration) {
        let _ = (phase, left);
    }

    /// At the beginning of each phase from the baseline on, and about ten times a second: the run's time.
    fn tick(&mut self, now: Instant) {
        let _ = now;
    }

    /// Something the reader should know at once; it is also a row.
    fn warn(&mut self, text: &str) {
        let _ = text;
    }
}

/// What came of a round. All that matters for its verdict is in its rows too.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// It was ended early from outside.
    pub interrupted: bool,
    /// The participants that were lost, or never came, each with the reason.
    pub lost: Vec<(String, String)>,
    /// What each participant says of its measuring.
    pub health: Vec<Health>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The controller can't listen.
    #[error("can't listen for participants: {0}")]
    Listen(#[source] io::Error),
    /// A participant can't be started.
    #[error("can't start {name}: {source}")]
    Launch {
        /// Its name.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The server did not come, or can't serve.
    #[error("no server to measure against: {0}")]
    NoServer(String),
    /// None of the agents came, or none can start.
    #[error("no agent is ready: {0}")]
    NoAgents(String),
    /// A row can't be kept. The round was stopped.
    #[error("results can't be kept: {0}")]
    Storage(#[source] io::Error),
    /// A participant's side: the controller can't be reached, or is no controller.
    #[error("can't join the controller: {0}")]
    Join(String),
    /// A participant's side: the controller refuses it.
    #[error("the controller rejected the connection: {reason}")]
    Rejected {
        /// Reason for programs.
        code: RejectReason,
        /// Reason for people.
        reason: String,
    },
    /// A participant's side: the controller is gone.
    #[error("the controller is gone: {0}")]
    ControllerLost(String),
    /// A participant's side: the run ended, or never began, and this is why.
    #[error("{0}")]
    RunEnded(String),
    /// A participant's side: nobody holds the run any more.
    #[error("nobody holds this run any more: the `netburn run` that did has ended")]
    UnknownRun,
    /// A participant's side: it takes no part.
    #[error("no part taken: {0}")]
    Declined(String),
    /// A participant's side: its part ended before its time. What it had measured is delivered.
    #[error("its part ended early: {0}; what it had measured is delivered")]
    EndedEarly(String),
    /// A member is in another run.
    #[error("{0}; two runs at once would measure each other")]
    Busy(String),
    /// What the participant was given makes no sense.
    #[error("the assignment can't be carried out: {0}")]
    Assignment(String),
}

/// Runs one round of `plan`: starts the server and one agent per station, compares clocks, measures idle latency,
/// starts everyone at one instant, and sees that all rows reach the sinks. It ends in its time whoever is lost.
///
/// # Errors
/// When there is no result at all, or rows can't be kept.
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

/// Waits for children to end by themselves, and then ends the rest by force.
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
    // Dropping the rest ends it by force.
    drop(children);
}

/// The round of a plan on one machine: a server, and an agent per station under the station's name.
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
    fn the_server_is_capped_as_the_plan_says_and_at_a_gigabit_where_it_does_not() {
        let mut plan = Plan::new("one");
        let rate = |plan: &Plan| setup(plan).unwrap().rate;
        assert_eq!(rate(&plan), BitRate::from_mbps(1000));
        plan.server.link.rate = Some(BitRate::from_mbps(15));
        assert_eq!(rate(&plan), BitRate::from_mbps(15));
    }
}
