//! An agent: drives the stations it is assigned.

use crate::join::Join;
use crate::local::FleetError;
use crate::participant::{Beginning, Conversation, why};
use crate::protocol::{Assign, HealthMessage, Ready, ToController, ToParticipant};
use crate::transport::Channel;
use netburn_linux::{Monotonic, Sampler, Watch};
use netburn_scenario::Plan;
use netburn_traffic::client::{Target, Trust};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{self, DriveReport, Idle, Load, Stopper};
use netburn_units::{Duration, Instant};
use netburn_workload::Workload;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The baseline ends this long before the load begins, so that its last answers come in time; a quarter of a shorter
/// baseline.
const QUIET: Duration = Duration::from_millis(200);

/// One agent's whole part, over a channel to the controller: joins as `join` says, measures, brings home the results.
///
/// # Errors
/// When it is refused, can't do its part, or loses the controller.
pub async fn run(channel: Channel, join: &Join) -> Result<(), FleetError> {
    let mut conversation = Conversation::begin(channel, join).await?;
    let assign = loop {
        match conversation.hear().await? {
            ToParticipant::Assign(assign) => break assign,
            ToParticipant::Bye(bye) => return Err(FleetError::Gone(why(bye))),
            _ => {}
        }
    };
    let part = match Part::of(&assign) {
        Ok(part) => part,
        Err(error) => return conversation.part(Some(error)).await,
    };
    conversation.say(&ToController::Ready(Ready::default())).await?;
    let zero = match conversation.wait_for_start().await? {
        Beginning::At(zero) => zero,
        Beginning::Never(error) => return conversation.part(error).await,
    };
    let clock = RunClock::starting_at(zero);
    let watch = Sampler::new().and_then(Watch::start);
    let zero = Monotonic::from(zero);
    let (tell, mut rows) = mpsc::unbounded_channel();
    let (stopper, stop) = Stopper::new();
    let idling = part.until().map(|until| {
        let (tell, stop) = (tell.clone(), stop.clone());
        tokio::spawn(drive::baseline(part.idle(), until, part.plan.seed, clock, tell, stop))
    });
    let driving = tokio::spawn(drive::on_thread(part.loads(), clock, tell, stop));
    let attended = conversation.attend(&mut rows, clock, || stopper.stop()).await;
    if let Err(error) = attended {
        stopper.stop();
        let lost = conversation.waiting();
        tracing::warn!(lost, "rows that the controller has not acknowledged are lost");
        return Err(error);
    }
    if let Some(idling) = idling
        && let Ok(Err(error)) = idling.await
    {
        tracing::warn!(%error, "idle latency could not be measured");
    }
    match driving.await.map_err(std::io::Error::other).and_then(|report| report) {
        Ok(report) => {
            let busy = watch.map_or(0.0, |watch| machine_busy(&watch, zero));
            let health = part.health(&join.name, &report, busy);
            conversation
                .say(&ToController::Health(HealthMessage { health }))
                .await?;
            conversation.part(None).await
        }
        Err(error) => conversation.part(Some(error.to_string())).await,
    }
}

/// What an agent is to do.
struct Part {
    plan: Plan,
    stations: Vec<u16>,
    target: Target,
}

impl Part {
    fn of(assign: &Assign) -> Result<Part, String> {
        let plan = crate::document::read(&assign.plan)?;
        if let Some(station) = assign.stations.iter().find(|s| usize::from(**s) >= plan.stations.len()) {
            return Err(format!("the plan has no station {station}"));
        }
        let trust = match &assign.target.fingerprint {
            Some(text) => Some(Trust::Fingerprint(
                fingerprint(text).ok_or_else(|| format!("`{text}` is no fingerprint"))?,
            )),
            None => None,
        };
        let target = Target {
            http: plan.server.http,
            tls: trust,
            datagram_port: Some(assign.target.datagram_port),
            ..Target::new(assign.target.address)
        };
        Ok(Part {
            plan,
            stations: assign.stations.clone(),
            target,
        })
    }

    /// Until when idle latency is measured; `None` when it isn't.
    fn until(&self) -> Option<Instant> {
        let baseline = self.plan.baseline;
        (!baseline.is_zero()).then(|| Instant::ZERO - QUIET.min(baseline / 4))
    }

    /// Whose idle latency is measured.
    fn idle(&self) -> Vec<Idle> {
        let idle = self.stations.iter().map(|&station| Idle {
            station,
            target: self.target_of(station),
            datagrams: true,
        });
        idle.collect()
    }

    fn target_of(&self, station: u16) -> Arc<Target> {
        let cc = self.plan.stations[usize::from(station)].cc.as_ref();
        Arc::new(Target {
            cc: cc.map(|cc| cc.name().to_owned()),
            ..self.target.clone()
        })
    }

    /// A state machine for each workload of each station.
    fn loads(&self) -> Vec<Load> {
        let mut loads = Vec::new();
        for &number in &self.stations {
            let station = &self.plan.stations[usize::from(number)];
            let target = self.target_of(number);
            let start = Instant::ZERO + station.start;
            let end = (Instant::ZERO + station.end(self.plan.duration)).max(start);
            // Who leaves early is gone after its own drain: a download under way would go on among the others else.
            let settle = end + self.plan.drain;
            for (planned, workload) in station.workloads.iter().zip(0u16..) {
                // Tells apart the workloads of one run, whichever agent drives them.
                let index = u64::from(number) << 16 | u64::from(workload);
                loads.push(Load {
                    station: number,
                    workload,
                    machine: Workload::new(planned.config.clone(), start, end, settle, self.plan.seed, index),
                    target: Arc::clone(&target),
                });
            }
        }
        loads
    }

    fn health(&self, name: &str, report: &DriveReport, machine_busy: f64) -> netburn_record::Health {
        let stations = self
            .stations
            .iter()
            .map(|s| self.plan.stations[usize::from(*s)].name.clone());
        report.health(name, stations.collect(), machine_busy)
    }
}

/// The mean busy share of the machine from `zero` on, 0 to 1.
fn machine_busy(watch: &Watch, zero: Monotonic) -> f64 {
    let windows = watch.windows();
    let shares = windows.iter().filter(|w| w.end > zero).map(|w| w.machine_busy);
    match shares.clone().count() {
        0 => 0.0,
        count => shares.sum::<f64>() / count as f64,
    }
}

/// 32 bytes in hexadecimal.
fn fingerprint(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ServerAddress;
    use netburn_workload::Wake;

    #[test]
    fn a_station_that_leaves_early_has_only_its_own_drain() {
        let text = "duration = \"60 s\"\ndrain = \"5 s\"\n\
                    [station.early]\nworkload = \"download\"\nstop = \"10 s\"\n\
                    [station.late]\nworkload = \"download\"\n";
        let (plan, _) = netburn_scenario::Document::from_toml("two.toml", text)
            .unwrap()
            .resolve_for(netburn_scenario::Ground::Local)
            .unwrap();
        let part = Part::of(&Assign {
            plan: plan.to_json(),
            stations: vec![0, 1],
            target: ServerAddress {
                address: "127.0.0.1:1".parse().unwrap(),
                datagram_port: 1,
                fingerprint: None,
            },
        })
        .unwrap();
        let settled = part.loads().into_iter().map(|mut load| {
            // Its one object begins, brings something now and then, and never ends.
            load.machine.handle_timeout(Instant::ZERO);
            let Some(netburn_workload::Action::Begin(request)) = load.machine.poll_action() else {
                panic!("nothing begins");
            };
            let mut settled = Instant::ZERO;
            for second in 1..=70 {
                load.machine.handle_bytes(Instant::from_secs(second), request.id, 1);
                match load.machine.poll_timeout() {
                    Some((at, Wake::Settle)) => settled = at,
                    Some(_) => {}
                    None => break,
                }
            }
            settled
        });
        assert_eq!(
            settled.collect::<Vec<_>>(),
            [Instant::from_secs(15), Instant::from_secs(65)]
        );
    }
}
