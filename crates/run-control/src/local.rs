//! One run of a plan with all agents and the server as processes on this machine.

use crate::controller::{Controller, Expected, RunIo, Setup, Timeouts, UNCAPPED};
use crate::document;
use crate::error::ControllerError;
use crate::join::Join;
use crate::launch::{Launcher, SHUTDOWN_GRACE, terminate};
use crate::progress::{Outcome, ProgressObserver};
use crate::row_queue::RowQueue;
use netburn_protocol::token::Token;
use netburn_record::Role;
use netburn_scenario::{Environment, Plan};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::sync::watch;

/// Options of a run.
pub struct Options<'a> {
    /// Starts agents and the server; usually [`ThisMachine`](crate::ThisMachine) with this program.
    pub launcher: &'a mut dyn Launcher,
    /// Queue of all rows. They are synced at least once a second.
    pub rows: RowQueue,
    /// Progress reports.
    pub observer: &'a mut dyn ProgressObserver,
    /// Becomes true to end the run early, with the results so far.
    pub stop: watch::Receiver<bool>,
}

/// Runs `plan` once. Starts the server and one agent per station, synchronises the clocks and measures the
/// idle latency. Starts all stations at the same instant, and passes all rows to the sinks. The run ends in
/// bounded time even if agents are lost.
///
/// # Errors
/// If there is no result, or rows can't be stored.
pub async fn run_local(plan: &Plan, options: Options<'_>) -> Result<Outcome, ControllerError> {
    let Options {
        launcher,
        rows,
        observer,
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
            listen: vec![SocketAddr::new(own.unwrap_or(Ipv4Addr::LOCALHOST.into()), 0)],
            fleet: None,
        };
        let mut child = launcher.spawn(&join).map_err(|source| ControllerError::Launch {
            name: join.name,
            source,
        })?;
        if let Some(stream) = child.control() {
            controller.add_inherited(stream).map_err(ControllerError::Listen)?;
        }
        children.push(Some(child));
    }
    let run_io = RunIo {
        rows,
        observer,
        stop,
        children: &mut children,
    };
    let result = controller.run(setup, run_io).await;
    terminate(children, SHUTDOWN_GRACE).await;
    result
}

/// Setup of a run on one machine: a server, and one agent per station with the station's name.
fn setup(plan: &Plan) -> Result<Setup, ControllerError> {
    let document = document::from_plan(plan)?;
    let token = || Token::random().map_err(ControllerError::Listen);
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
                .any(|workload| workload.config.kind().is_datagram()),
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
    use netburn_units::BitRate;

    #[test]
    fn the_server_rate_is_the_plans_or_a_gigabit() {
        let mut plan = Plan::new("one");
        let rate = |plan: &Plan| setup(plan).unwrap().rate;
        assert_eq!(rate(&plan), BitRate::from_mbps(1000));
        plan.server.link.rate = Some(BitRate::from_mbps(15));
        assert_eq!(rate(&plan), BitRate::from_mbps(15));
    }
}
