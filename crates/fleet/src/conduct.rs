//! One round of a plan on this user's fleet: chooses the members, has them summoned, and holds the run.

mod gather;
mod keeper;

pub use gather::{GatherError, Waiting, gather};

use crate::assign::{Assignment, needs_datagrams};
use crate::controller::round::Patience;
use crate::controller::{Around, Controller, Device, Expected, Setup, Token};
use crate::document;
use crate::hub::State;
use crate::hub::owner::{Hold, SummonMember};
use crate::join::Join;
use crate::late::Part;
use crate::launch::Launcher;
use crate::local::{FleetError, LEAVE, Outcome, UNCAPPED, Watch, let_go};
use crate::protocol::standing::{About, proof};
use keeper::Keeper;
use netburn_record::{Role, Sink};
use netburn_scenario::plan::Station;
use netburn_scenario::{Environment, Plan};
use netburn_traffic::server::PORT;
use netburn_units::Duration;
use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use tokio::sync::watch;

/// How long those summoned have to come.
const JOIN: Duration = Duration::from_secs(15);
/// What a run takes beside its plan, about: joining, comparing clocks, bringing home.
const AROUND: Duration = Duration::from_secs(5);

/// Who takes part.
#[derive(Debug, Clone)]
pub struct Cast {
    /// The members of the stations.
    pub assignment: Assignment,
    /// What they are, in the same order.
    pub abouts: Vec<Option<About>>,
    /// The member that serves; `None`: this machine.
    pub server: Option<String>,
    /// The fleet's token.
    token: String,
    /// Whether the fleet is on this machine alone.
    near_only: bool,
}

/// What a round on a fleet needs besides its plan.
pub struct Options<'a> {
    /// Where this user's controller is told.
    pub state: State,
    /// What the run is called: the name of its folder.
    pub run: String,
    /// Its folder, where late results go.
    pub folder: PathBuf,
    /// Who takes part.
    pub cast: Cast,
    /// Starts the server on this machine.
    pub launcher: &'a mut dyn Launcher,
    /// Where every row goes, in this order. All are synced once a second.
    pub sinks: Vec<&'a mut dyn Sink>,
    /// Who is told how far it is.
    pub watch: &'a mut dyn Watch,
    /// Becomes true to end the round early with what there is.
    pub stop: watch::Receiver<bool>,
}

/// Runs one round of `plan` with those who were chosen. It ends in its time whoever is lost.
///
/// # Errors
/// When there is no result at all, or rows can't be kept.
pub async fn run_fleet(plan: &Plan, options: Options<'_>) -> Result<Outcome, FleetError> {
    let Options {
        state,
        run,
        folder,
        cast,
        launcher,
        mut sinks,
        watch,
        stop,
    } = options;
    let controller = Controller::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let address = controller.address()?;
    let casting = Casting::of(plan, &cast).map_err(FleetError::Listen)?;
    let server_token = casting.expected[0].token.reveal().to_owned();
    let document = document::written(plan)?;
    let setup = Setup {
        plan: plan.clone(),
        document,
        rate: plan.server_rate(Environment::Fleet).unwrap_or(UNCAPPED),
        expected: casting.expected,
        patience: Patience::fleet(JOIN),
    };
    let lasts = plan.baseline + plan.duration + plan.drain + AROUND;
    let everybody: BTreeSet<String> = casting.parts.iter().map(|part| part.name.clone()).collect();
    let hold = Hold {
        run: run.clone(),
        port: address.port(),
        folder,
        parts: casting.parts,
        members: casting.summons.iter().map(|(member, _, _)| member.clone()).collect(),
        until: gather::unix_seconds() + lasts.as_nanos().div_ceil(1_000_000_000),
    };
    let summons = casting.summons.into_iter().map(|(member, name, token)| SummonMember {
        run: run.clone(),
        member,
        name,
        token: token.reveal().to_owned(),
    });
    let keeper = Keeper::begin(state, hold, summons.collect()).await?;
    let mut children = Vec::new();
    children.resize_with(setup.expected.len(), || None);
    if cast.server.is_none() {
        let join = Join {
            url: format!("ws://{address}/"),
            token: server_token,
            role: Role::Server,
            name: SERVER.to_owned(),
            parent: None,
            listen: match cast.near_only {
                true => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                false => SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)),
            },
            fleet: Some(cast.token.clone()),
        };
        let child = launcher.spawn(&join).map_err(|source| FleetError::Launch {
            name: join.name,
            source,
        })?;
        children[0] = Some(child);
    }
    let around = Around {
        sinks: &mut sinks,
        watch,
        stop,
        children: &mut children,
    };
    let result = controller.run(setup, around).await;
    let missing = match &result {
        Ok(outcome) => outcome.lost.iter().map(|(name, _)| name.clone()).collect(),
        // Nobody knows how much of whose results there was no room for.
        Err(_) => everybody,
    };
    keeper.end(missing).await;
    let_go(children, LEAVE).await;
    result
}

/// What the server is called in a run.
const SERVER: &str = "server";

/// Who is expected, and who is told so.
struct Casting {
    /// The server first.
    expected: Vec<Expected>,
    /// Member, name in the run, and what lets it in.
    summons: Vec<(String, String, Token)>,
    parts: Vec<Part>,
}

impl Casting {
    /// # Errors
    /// When the system has no random numbers for tokens.
    fn of(plan: &Plan, cast: &Cast) -> io::Result<Casting> {
        let token = Token::random()?;
        let mut casting = Casting {
            expected: vec![Expected {
                name: SERVER.to_owned(),
                role: Role::Server,
                token: token.clone(),
                stations: Vec::new(),
                datagrams: false,
                device: cast.server.clone().map_or(Device::Same, Device::Member),
            }],
            summons: Vec::new(),
            parts: Vec::new(),
        };
        if let Some(server) = &cast.server {
            casting.summons.push((server.clone(), SERVER.to_owned(), token));
        }
        let parts = cast.assignment.parts();
        let absent = cast
            .assignment
            .members
            .iter()
            .zip(0u16..)
            .filter(|(member, _)| member.is_none());
        let name_of = |stations: &[u16]| plan.stations[usize::from(stations[0])].name.clone();
        for (member, stations) in parts {
            // One name per part: that of its first station, as on the other environments.
            let (name, token) = (name_of(&stations), Token::random()?);
            casting.summons.push((member.clone(), name.clone(), token.clone()));
            casting.parts.push(Part {
                name: name.clone(),
                member,
                stations: stations.clone(),
                proof: Some(proof(token.reveal())),
                most: Some(Part::most_bytes(plan, &stations)),
            });
            let device = Device::Member(casting.parts[casting.parts.len() - 1].member.clone());
            casting.expect(plan, name, token, stations, device);
        }
        for (_, station) in absent {
            let Station { agent, label, .. } = &plan.stations[usize::from(station)];
            // Missing members were waited for before.
            let why = match (agent, label) {
                (Some(agent), _) => format!("the agent {agent} is not in the fleet"),
                (None, Some(label)) => format!("nobody labelled {label} is free in the fleet"),
                (None, None) => "nobody is free for it in the fleet".to_owned(),
            };
            casting.expect(
                plan,
                name_of(&[station]),
                Token::random()?,
                vec![station],
                Device::Missing(why),
            );
        }
        Ok(casting)
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
