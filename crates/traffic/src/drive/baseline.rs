//! Idle latency, before the load: a probe every 50 ms.

use super::load::{CancelToken, DriveReport, Load, Rows};
use super::{drive, own_thread, probe};
use crate::client::{Resource, Target};
use crate::clock::RunClock;
use netburn_record::row::BASELINE;
use netburn_record::{EventKind, EventRow, Row};
use netburn_units::{ByteSize, Instant, Seed};
use netburn_workload::{Config, Kind, Workload};
use std::sync::Arc;
use tokio::task::{JoinSet, LocalSet};

/// How long a server may take to answer the datagrams' handshake.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// A station whose idle latency is wanted.
#[derive(Debug, Clone)]
pub struct Idle {
    /// The station's number in the plan.
    pub station: u16,
    /// Whom it asks.
    pub target: Arc<Target>,
    /// Whether datagrams are tried. Not at a server that hasn't agreed to anything.
    pub datagrams: bool,
}

/// Probes from each of `stations` from now until `until`, as rows of workload [`BASELINE`]. Where datagrams don't come
/// back, tiny requests over a kept HTTP connection take their place (HTTP's and the server's own time are in those),
/// and an event says so.
///
/// # Errors
/// When the driving thread can't be made.
pub async fn baseline(
    stations: Vec<Idle>,
    until: Instant,
    seed: Seed,
    clock: RunClock,
    rows: Rows,
    stop: CancelToken,
) -> std::io::Result<DriveReport> {
    let work = move || async move {
        let mut loads = Vec::with_capacity(stations.len());
        let mut events = Vec::new();
        for (idle, echoes) in echoing(stations, stop.clone()).await {
            let from = clock.now();
            let (config, target) = match echoes {
                true => (Config::probe(), idle.target),
                false => {
                    events.push(fallen_back(&idle, from));
                    (request_every_50_ms(), Arc::new(tiny(&idle.target)))
                }
            };
            // ProgressReporter apart by station: agents that drive one each would all probe in step.
            let index = u64::from(idle.station) << 16 | u64::from(BASELINE);
            loads.push(Load {
                station: idle.station,
                workload: BASELINE,
                machine: Workload::new(config, from, until, until, seed, index),
                target,
            });
        }
        let _ = rows.send(events);
        drive(loads, clock, rows, stop).await
    };
    own_thread(work).await
}

/// Which of the stations get their datagrams back. All are asked at once; a stop ends the asking.
async fn echoing(stations: Vec<Idle>, mut stop: CancelToken) -> Vec<(Idle, bool)> {
    let mut echoes = vec![false; stations.len()];
    let local = LocalSet::new();
    let mut asked = JoinSet::new();
    for (index, idle) in stations.iter().enumerate().filter(|(_, idle)| idle.datagrams) {
        let target = Arc::clone(&idle.target);
        asked.spawn_local_on(async move { (index, probe::answers(&target, PATIENCE).await) }, &local);
    }
    let answers = local.run_until(async {
        while let Some(answer) = asked.join_next().await {
            if let Ok((index, answer)) = answer {
                echoes[index] = answer;
            }
        }
    });
    tokio::select! {
        () = answers => {}
        () = stop.stopped() => {}
    }
    stations.into_iter().zip(echoes).collect()
}

fn fallen_back(idle: &Idle, at: Instant) -> Row {
    Row::Event(EventRow {
        station: Some(idle.station),
        workload: Some(BASELINE),
        at,
        length: 0,
        kind: EventKind::Warning,
        text: match idle.datagrams {
            true => "the server does not echo datagrams: idle latency is that of tiny HTTP requests",
            false => "idle latency is that of tiny HTTP requests",
        }
        .to_owned(),
    })
}

/// The rhythm of `probe` with requests of one byte.
fn request_every_50_ms() -> Config {
    Config {
        kind: Kind::Calls,
        object_size: ByteSize::from_bytes(1),
        outstanding: 8,
        ..Config::probe()
    }
}

/// The smallest thing to ask of a target: one byte, or a head where it isn't ours.
fn tiny(target: &Target) -> Target {
    let resource = match &target.resource {
        Resource::Netburn => Resource::Netburn,
        Resource::Get(path) | Resource::Head(path) | Resource::Post(path, _) => Resource::Head(path.clone()),
    };
    Target {
        resource,
        ..target.clone()
    }
}
