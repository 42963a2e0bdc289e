//! The server of one run, managed by the controller.

use crate::controller_session::dial::Dial;
use crate::controller_session::{ControllerSession, LEFT_BY_OWNER, Prepare, ShutdownSignal, Started};
use crate::error::AgentError;
use crate::join::Join;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Ready, Serve, ServerAddress, ToAgent};
use netburn_protocol::own_clock::to_std;
use netburn_record::{ConnectionRow, Health, Moved, Row, Side};
use netburn_scenario::Plan;
use netburn_scenario::plan::Station;
use netburn_traffic::clock::RunClock;
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::server::{
    BROWSER_PORTS, Connection, Server, ServerConfig, ServerHandle, has_congestion_control, with_port,
};
use netburn_traffic::tls::Identity;
use netburn_units::{BitRate, Duration, Instant};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// Interval of sampling connections, as on the stations.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Runs the server of one run, over a connection of `dial`. It listens as described by `join`, limits its
/// rate as assigned, and runs until it is stopped. `reconnect_timeout` limits the attempts to reconnect to a lost
/// controller.
///
/// # Errors
/// If the controller rejects the server, if it can't listen, or if it loses the controller.
pub async fn run<D: Dial>(
    dial: D,
    join: &Join,
    reconnect_timeout: Option<Duration>,
    mut shutdown: ShutdownSignal,
) -> Result<(), AgentError> {
    let mut session = ControllerSession::connect(dial, join, reconnect_timeout).await?;
    let (zero, serving) = match session.wait_for_start(&mut Preparation(join), &mut shutdown).await {
        Ok(Started { zero, part, .. }) => (zero, part),
        Err(why) => return session.not_started("", why).await,
    };
    let clock = RunClock::starting_at(zero);
    let (tell, mut rows) = mpsc::unbounded_channel();
    let mut sampling = JoinSet::new();
    sampling.spawn(sample(serving.handle.clone(), clock, tell));
    // The aborted task drops its sender, so that the remaining rows are sent.
    let stop = || sampling.abort_all();
    session.run(&mut rows, clock, stop, |_| None, &mut shutdown).await?;
    let end = LateResultsEnd {
        health: Some(serving.health()),
        error: shutdown.is_requested().then(|| LEFT_BY_OWNER.to_owned()),
        ..LateResultsEnd::default()
    };
    session.finish(end).await
}

/// Preparation of the server, which starts at the first assignment.
struct Preparation<'a>(&'a Join);

impl Prepare for Preparation<'_> {
    type Part = Serving;

    async fn prepare(&mut self, message: ToAgent, prepared: &mut Option<Serving>) -> Result<Option<Ready>, String> {
        let ToAgent::Serve(serve) = message else {
            return Ok(None);
        };
        if prepared.is_none() {
            *prepared = Some(Serving::start(&serve, self.0).await?);
        }
        Ok(prepared.as_ref().map(|serving| Ready {
            server: Some(serving.address.clone()),
            notes: serving.notes.clone(),
            ..Ready::default()
        }))
    }
}

/// A server that runs until this is dropped.
struct Serving {
    handle: ServerHandle,
    /// Names of the plan's stations.
    stations: Vec<String>,
    address: ServerAddress,
    /// Settings of the plan that this system does not support.
    notes: Vec<String>,
    _stop: oneshot::Sender<()>,
}

impl Serving {
    fn health(&self) -> Health {
        let moved = self.handle.moved().into_iter().map(|(down, up)| Moved {
            bytes_down: down,
            bytes_up: up,
        });
        Health {
            served: self.stations.iter().cloned().zip(moved).collect(),
            ..self.handle.health()
        }
    }

    async fn start(serve: &Serve, join: &Join) -> Result<Serving, String> {
        let plan = crate::document::to_plan(&serve.plan)?;
        let any_port: Vec<SocketAddr> = join.listen.iter().map(|at| with_port(*at, 0)).collect();
        let identity = if plan.server.tls {
            let names: Vec<String> = any_port.iter().map(|at| at.ip().to_string()).collect();
            Some(Identity::generate(&names).map_err(|error| error.to_string())?)
        } else {
            None
        };
        let fingerprint = identity.as_ref().map(Identity::fingerprint);
        let config = ServerConfig {
            name: join.name.clone(),
            listen: join.listen.clone(),
            listen_tls: if plan.server.tls { any_port.clone() } else { Vec::new() },
            // Browsers are members of fleets, and do not trust the certificate of this server.
            more_ports: if join.fleet.is_some() && !plan.server.tls {
                more_ports(&plan)
            } else {
                Vec::new()
            },
            tls: identity,
            rate: Some(BitRate::from_bps(serve.rate_bps)),
            cc: plan.server.cc.as_ref().map(|cc| cc.name().to_owned()),
            fleet: join.fleet.as_deref().map(FleetKey::new),
            stations: plan.stations.len(),
            ..ServerConfig::default()
        };
        let server = match Server::bind(config.clone()).await {
            // Another server uses the port. Use any free port.
            Err(_) if join.listen.iter().any(|at| at.port() != 0) => {
                let listen = any_port;
                Server::bind(ServerConfig { listen, ..config }).await
            }
            ended => ended,
        };
        let server = server.map_err(|error| error.to_string())?;
        let addresses = server.addresses();
        let http = if plan.server.tls {
            &addresses.https
        } else {
            &addresses.http
        };
        let (Some(http), Some(datagrams)) = (http.first(), addresses.datagrams.first()) else {
            return Err("the server has no listener".to_owned());
        };
        let address = ServerAddress {
            fingerprint: fingerprint.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
            alternatives: addresses.http[1..]
                .iter()
                .map(SocketAddr::ip)
                .filter(|ip| !ip.is_unspecified())
                .collect(),
            more_ports: addresses.more_ports.clone(),
            ..ServerAddress::new(*http, datagrams.port())
        };
        let notes = unsupported_congestion_controls(&plan, has_congestion_control);
        let handle = server.handle();
        handle.watch_standstills();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            // Requested, or the sender was dropped.
            let shutdown = async { drop(stopped.await) };
            if let Err(error) = server.run(shutdown).await {
                tracing::error!(%error, "the server ended");
            }
        });
        Ok(Serving {
            handle,
            stations: plan.stations.into_iter().map(|station| station.name).collect(),
            address,
            notes,
            _stop: stop,
        })
    }
}

/// Ports for browsers beside the main one, so that each HTTP workload of a station has its own.
fn more_ports(plan: &Plan) -> Vec<u16> {
    let over_http = |station: &Station| {
        let workloads = station.workloads.iter();
        workloads
            .filter(|workload| !workload.config.kind().is_datagram())
            .count()
    };
    let most = plan.stations.iter().map(over_http).max().unwrap_or(0);
    BROWSER_PORTS.take(most.saturating_sub(1)).collect()
}

/// Notes on congestion controls that the plan names and this system does not have.
fn unsupported_congestion_controls(plan: &Plan, has: impl Fn(&str) -> bool) -> Vec<String> {
    let workloads = plan.stations.iter().flat_map(|station| &station.workloads);
    let named = workloads.map(|workload| &workload.cc).chain([&plan.server.cc]);
    let names: BTreeSet<&str> = named.flatten().map(|control| control.name()).collect();
    let unsupported_congestion_controls = names.into_iter().filter(|name| !has(name));
    let note =
        |name| format!("the server's system does not support the congestion control `{name}`; it uses its default");
    unsupported_congestion_controls.map(note).collect()
}

/// Samples the connections once a second until the receiver is dropped. Discards samples from before time
/// zero.
async fn sample(handle: ServerHandle, clock: RunClock, tell: mpsc::UnboundedSender<Vec<Row>>) {
    tokio::time::sleep_until(clock.when(Instant::ZERO).into()).await;
    handle.reset();
    loop {
        tokio::time::sleep(to_std(SAMPLE_INTERVAL)).await;
        let rows = handle
            .connections()
            .iter()
            .map(|connection| row(connection, clock))
            .collect();
        if tell.send(rows).is_err() {
            return;
        }
    }
}

/// Row of a connection sample. The controller finds its station.
fn row(connection: &Connection, clock: RunClock) -> Row {
    let micros = |span: Duration| u32::try_from(span.as_nanos() / 1000).unwrap_or(u32::MAX);
    let info = &connection.info;
    Row::Connection(ConnectionRow {
        station: u16::MAX,
        workload: u16::MAX,
        side: Side::Server,
        port: connection.peer.port(),
        at: clock.at(connection.at),
        rtt_us: micros(info.rtt),
        rtt_var_us: micros(info.rtt_var),
        cwnd: info.cwnd,
        retransmits: info.retransmits,
        delivery_rate_bps: info.delivery_rate.map_or(0, BitRate::as_bps),
        bytes_acked: info.bytes_acked.as_bytes(),
        bytes_received: info.bytes_received.as_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_congestion_control_that_the_system_lacks_is_noted_once() {
        let text = "[server]\ncc = \"cubic\"\n[station.a]\nworkload = [\"film\", \"call\"]\n\
                    [workload.film]\nkind = \"stream\"\ncc = \"bbr\"\n\
                    [workload.call]\nkind = \"calls\"\ncc = \"bbr\"\n";
        let (plan, _) = netburn_scenario::Document::from_toml("t.toml", text)
            .unwrap()
            .resolve_for(netburn_scenario::Environment::Fleet)
            .unwrap();
        assert_eq!(unsupported_congestion_controls(&plan, |_| true), [""; 0]);
        let notes = unsupported_congestion_controls(&plan, |name| name == "cubic");
        assert!(matches!(&notes[..], [note] if note.contains("`bbr`")), "{notes:?}");
    }
}
