//! One run of a plan on this user's fleet: selects and invites the members, and holds the run.

mod run_lease;
mod wait_for_members;

pub use wait_for_members::{WaitError, Waiting, wait_for_members};

use crate::assign::{Assignment, needs_datagrams};
use crate::hub::State;
use crate::hub::control::{AcquireRun, InviteMember, ObservedAccessPoints};
use crate::late::Part;
use netburn_protocol::messages::standing::{MemberInfo, proof};
use netburn_protocol::token::Token;
use netburn_record::Role;
use netburn_run_control::controller::{Controller, Device, Expected, RunIo, Setup, Timeouts, UNCAPPED};
use netburn_run_control::document;
use netburn_run_control::join::Join;
use netburn_run_control::launch::{Child, Launcher, SHUTDOWN_GRACE, terminate};
use netburn_run_control::row_queue::RowQueue;
use netburn_run_control::{ControllerError, Outcome, ProgressObserver};
use netburn_scenario::plan::Station;
use netburn_scenario::{Environment, Plan};
use netburn_traffic::server::ServerConfig;
use netburn_units::Duration;
use run_lease::RunLease;
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use tokio::sync::watch;

/// Time limit for invited members to join.
const JOIN_TIMEOUT: Duration = Duration::from_secs(15);
/// Estimated time of a run beside its plan: joining, clock synchronisation, delivery of results.
const RUN_OVERHEAD: Duration = Duration::from_secs(5);

/// Selected members.
#[derive(Debug, Clone)]
pub struct Participants {
    /// Member of each station.
    pub assignment: Assignment,
    /// Descriptions of the members, in the same order.
    pub abouts: Vec<Option<MemberInfo>>,
    /// Addresses from which they connect, in the same order.
    pub addresses: Vec<Option<IpAddr>>,
    /// Member that runs the server; `None`: this machine.
    pub server: Option<String>,
    /// Access points that the run observes, by the settings of the controller.
    pub observed: ObservedAccessPoints,
    /// Token of the fleet.
    token: String,
    /// True if the fleet listens on this machine only.
    loopback_only: bool,
}

/// Options of a run on a fleet.
pub struct Options<'a> {
    /// State directory of this user's controller.
    pub state: State,
    /// Name of the run: the name of its folder.
    pub run: String,
    /// Folder of the run, for late results.
    pub folder: PathBuf,
    /// Selected members.
    pub participants: Participants,
    /// Starts the server on this machine.
    pub launcher: &'a mut dyn Launcher,
    /// Queue of all rows. They are synced at least once a second.
    pub rows: RowQueue,
    /// Progress reports.
    pub observer: &'a mut dyn ProgressObserver,
    /// Becomes true to end the run early, with the results so far.
    pub stop: watch::Receiver<bool>,
    /// The run ends early if a member leaves.
    pub all: bool,
}

/// Runs `plan` once with the selected members. It ends in bounded time even if members are lost.
///
/// # Errors
/// If there is no result, or rows can't be stored.
pub async fn run_fleet(plan: &Plan, options: Options<'_>) -> Result<Outcome, ControllerError> {
    let Options {
        state,
        run,
        folder,
        participants,
        launcher,
        rows,
        observer,
        stop,
        all,
    } = options;
    let controller = Controller::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let address = controller.address()?;
    let invitations = Invitations::new(plan, &participants).map_err(ControllerError::Listen)?;
    let server_token = invitations.expected[0].token.reveal().to_owned();
    let document = document::from_plan(plan)?;
    let timeouts = Timeouts::for_fleet(JOIN_TIMEOUT);
    let setup = Setup {
        plan: plan.clone(),
        document,
        rate: plan.server_rate(Environment::Fleet).unwrap_or(UNCAPPED),
        expected: invitations.expected,
        timeouts: if all { timeouts.requiring_all() } else { timeouts },
    };
    let lasts = plan.baseline + plan.duration + plan.drain + RUN_OVERHEAD;
    let all_names: BTreeSet<String> = invitations.parts.iter().map(|part| part.name.clone()).collect();
    let invites: Vec<InviteMember> = invitations
        .invites
        .into_iter()
        .map(|(member, name, token)| InviteMember {
            run: run.clone(),
            member,
            name,
            token: token.reveal().to_owned(),
        })
        .collect();
    let acquire = AcquireRun {
        run,
        port: address.port(),
        folder,
        parts: invitations.parts,
        members: invites.iter().map(|invite| invite.member.clone()).collect(),
        until: wait_for_members::unix_seconds() + lasts.as_nanos().div_ceil(1_000_000_000),
    };
    let run_lease = RunLease::begin(state, acquire, invites).await?;
    let mut children = Vec::new();
    children.resize_with(setup.expected.len(), || None);
    if participants.server.is_none() {
        children[0] = Some(start_server(launcher, address, server_token, &participants)?);
    }
    let run_io = RunIo {
        rows,
        observer,
        stop,
        children: &mut children,
    };
    let result = controller.run(setup, run_io).await;
    let missing = match &result {
        Ok(outcome) => outcome.lost.iter().map(|(name, _)| name.clone()).collect(),
        // It is unknown which agents have undelivered results.
        Err(_) => all_names,
    };
    run_lease.end(missing).await;
    terminate(children, SHUTDOWN_GRACE).await;
    result
}

/// Starts the run's server on this machine. It connects to the controller of the run at `address`.
fn start_server(
    launcher: &mut dyn Launcher,
    address: SocketAddr,
    token: String,
    participants: &Participants,
) -> Result<Box<dyn Child>, ControllerError> {
    let join = Join {
        url: format!("ws://{address}/"),
        token,
        role: Role::Server,
        name: SERVER.to_owned(),
        parent: None,
        listen: if participants.loopback_only {
            vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))]
        } else {
            ServerConfig::default().listen
        },
        fleet: Some(participants.token.clone()),
    };
    launcher.spawn(&join).map_err(|source| ControllerError::Launch {
        name: join.name,
        source,
    })
}

/// Name of the server in a run.
const SERVER: &str = "server";

/// Expected agents, and their invitations.
struct Invitations {
    /// The server is the first.
    expected: Vec<Expected>,
    /// Member, name in the run, and token.
    invites: Vec<(String, String, Token)>,
    parts: Vec<Part>,
}

impl Invitations {
    /// Creates the invitations.
    ///
    /// # Errors
    /// If the system returns no random numbers for tokens.
    fn new(plan: &Plan, participants: &Participants) -> io::Result<Invitations> {
        let token = Token::random()?;
        let mut invitations = Invitations {
            expected: vec![Expected {
                name: SERVER.to_owned(),
                role: Role::Server,
                token: token.clone(),
                stations: Vec::new(),
                datagrams: false,
                device: participants.server.clone().map_or(Device::Same, Device::Member),
            }],
            invites: Vec::new(),
            parts: Vec::new(),
        };
        if let Some(server) = &participants.server {
            invitations.invites.push((server.clone(), SERVER.to_owned(), token));
        }
        let parts = participants.assignment.parts();
        let absent = participants
            .assignment
            .members
            .iter()
            .zip(0u16..)
            .filter(|(member, _)| member.is_none());
        let name_of = |stations: &[u16]| plan.stations[usize::from(stations[0])].name.clone();
        for (member, stations) in parts {
            // The name of a part is that of its first station, as in the other environments.
            let (name, token) = (name_of(&stations), Token::random()?);
            invitations.invites.push((member.clone(), name.clone(), token.clone()));
            invitations.parts.push(Part {
                name: name.clone(),
                member,
                stations: stations.clone(),
                proof: Some(proof(token.reveal())),
                max_bytes: Some(Part::max_bytes(plan, &stations)),
            });
            let device = Device::Member(invitations.parts[invitations.parts.len() - 1].member.clone());
            invitations.expect(plan, name, token, stations, device);
        }
        for (_, station) in absent {
            let Station { name, agent, label, .. } = &plan.stations[usize::from(station)];
            // Missing members were awaited before.
            let why = match (agent, label) {
                (Some(agent), _) => format!("no agent named `{agent}` is registered"),
                (None, Some(label)) => format!("no free member of the fleet has the label {label}"),
                (None, None) => format!("no agent named `{name}` is available, and no other agent is free"),
            };
            invitations.expect(
                plan,
                name_of(&[station]),
                Token::random()?,
                vec![station],
                Device::Missing(why),
            );
        }
        Ok(invitations)
    }

    fn expect(&mut self, plan: &Plan, name: String, token: Token, stations: Vec<u16>, device: Device) {
        let needs = |station: &u16| needs_datagrams(&plan.stations[usize::from(*station)]);
        self.expected.push(Expected {
            name,
            role: Role::Agent,
            token,
            datagrams: stations.iter().any(needs),
            device,
            stations,
        });
    }
}
