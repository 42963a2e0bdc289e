//! The server of one run, as a participant.

use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::std;
use crate::participant::dial::Dial;
use crate::participant::{Beginning, Conversation, LEFT, Leave, why};
use crate::protocol::standing::LateEnd;
use crate::protocol::{Ready, Serve, ServerAddress, ToController, ToParticipant};
use netburn_record::{ConnectionRow, Health, Moved, Row, Side};
use netburn_scenario::Plan;
use netburn_traffic::clock::RunClock;
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::server::{Connection, Server, ServerConfig, ServerHandle, has_congestion_control};
use netburn_traffic::tls::Identity;
use netburn_units::{BitRate, Duration, Instant};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Its connections are looked at this often, as the stations look at theirs.
const EVERY: Duration = Duration::from_secs(1);

/// The server's whole part, over a connection that `dial` opens: serves where `join` says, at a free port, capped as
/// the assignment says, until it is told to stop. With `patience` it looks so long for a controller that is gone.
///
/// # Errors
/// When it is refused, can't serve, or loses the controller.
pub async fn run<D: Dial>(
    dial: D,
    join: &Join,
    patience: Option<Duration>,
    mut leave: Leave,
) -> Result<(), FleetError> {
    let mut conversation = Conversation::begin(dial, join, patience).await?;
    let mut serving: Option<Serving> = None;
    let ended = |error| LateEnd {
        error,
        ..LateEnd::default()
    };
    // Whoever comes back before the start is given its part again.
    let (start, serving) = loop {
        let heard = tokio::select! {
            heard = conversation.hear() => heard?,
            () = leave.wanted() => return conversation.part(ended(Some(LEFT.to_owned()))).await,
        };
        match heard {
            ToParticipant::Serve(serve) => {
                if serving.is_none() {
                    match Serving::begin(&serve, join).await {
                        Ok(begun) => serving = Some(begun),
                        Err(error) => return conversation.part(ended(Some(error))).await,
                    }
                }
                let server = serving.as_ref().map(|serving| serving.address.clone());
                let ready = Ready {
                    server,
                    notes: serving.as_ref().map_or(Vec::new(), |serving| serving.notes.clone()),
                    ..Ready::default()
                };
                conversation.say(ToController::Ready(ready)).await;
            }
            ToParticipant::Start(start) if serving.is_some() => break (start, serving.expect("it is")),
            ToParticipant::Stop(_) => return conversation.part(ended(None)).await,
            ToParticipant::Bye(bye) => return Err(FleetError::Over(why(bye))),
            _ => {}
        }
    };
    let zero = match conversation.beginning(start) {
        Beginning::At(zero) => zero,
        Beginning::Never(error) => return conversation.part(ended(error)).await,
    };
    let clock = RunClock::starting_at(zero);
    let (tell, mut rows) = mpsc::unbounded_channel();
    let looking = AbortOnDrop(tokio::spawn(look(serving.handle.clone(), clock, tell)));
    // Aborted, it drops its end of the rows, and what is left of them goes out.
    let stop = || looking.0.abort();
    conversation
        .attend(&mut rows, clock, stop, |_| None, &mut leave)
        .await?;
    let end = LateEnd {
        health: Some(serving.health()),
        ..ended(leave.is_wanted().then(|| LEFT.to_owned()))
    };
    conversation.part(end).await
}

/// A server that serves until this is dropped.
struct Serving {
    handle: ServerHandle,
    /// The plan's stations, by name.
    stations: Vec<String>,
    address: ServerAddress,
    /// What it can't do as the plan has it.
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

    async fn begin(serve: &Serve, join: &Join) -> Result<Serving, String> {
        let plan = crate::document::read(&serve.plan)?;
        let here = SocketAddr::new(join.listen.ip(), 0);
        let identity = match plan.server.tls {
            true => Some(Identity::generate(&[here.ip().to_string()]).map_err(|error| error.to_string())?),
            false => None,
        };
        let fingerprint = identity.as_ref().map(Identity::fingerprint);
        let config = ServerConfig {
            name: join.name.clone(),
            listen: vec![join.listen],
            listen_tls: if plan.server.tls { vec![here] } else { Vec::new() },
            tls: identity,
            rate: Some(BitRate::from_bps(serve.rate_bps)),
            cc: plan.server.cc.as_ref().map(|cc| cc.name().to_owned()),
            fleet: join.fleet.as_deref().map(FleetKey::new),
            stations: plan.stations.len(),
            ..ServerConfig::default()
        };
        let server = match Server::bind(config.clone()).await {
            // Somebody else's server has the port: another will do.
            Err(_) if join.listen.port() != 0 => {
                let listen = vec![here];
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
            return Err("the server listens nowhere".to_owned());
        };
        let address = ServerAddress {
            address: *http,
            datagram_port: datagrams.port(),
            fingerprint: fingerprint.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        };
        let notes = refused(&plan, has_congestion_control);
        let handle = server.handle();
        handle.watch_standstills();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            // Told, or nobody left to tell.
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

/// The congestion controls that the plan names for what the server sends and that its system doesn't have.
fn refused(plan: &Plan, has: impl Fn(&str) -> bool) -> Vec<String> {
    let workloads = plan.stations.iter().flat_map(|station| &station.workloads);
    let named = workloads.map(|workload| &workload.cc).chain([&plan.server.cc]);
    let names: BTreeSet<&str> = named.flatten().map(|control| control.name()).collect();
    let refused = names.into_iter().filter(|name| !has(name));
    let note = |name| {
        format!("the server's system refuses the congestion control `{name}`: its answers have the system's own")
    };
    refused.map(note).collect()
}

/// Looks at the connections once a second until nobody wants to know any more. What the server measured before the
/// run's time zero is forgotten.
async fn look(handle: ServerHandle, clock: RunClock, tell: mpsc::UnboundedSender<Vec<Row>>) {
    tokio::time::sleep_until(clock.when(Instant::ZERO).into()).await;
    handle.reset();
    loop {
        tokio::time::sleep(std(EVERY)).await;
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

/// A look at a connection, whose station the controller has to find.
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

/// A task that ends with this.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
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
        assert_eq!(refused(&plan, |_| true), [""; 0]);
        let notes = refused(&plan, |name| name == "cubic");
        assert!(matches!(&notes[..], [note] if note.contains("`bbr`")), "{notes:?}");
    }
}
