//! Baseline: idle latency before the load, with a probe every 50 ms.

use super::load::{CancelToken, Load, Rows};
use super::shared::probe;
use super::{drive, own_thread};
use crate::client::{Resource, Target};
use crate::clock::RunClock;
use netburn_driver::DriveReport;
use netburn_record::row::{self, BASELINE};
use netburn_record::{EventKind, EventRow, Row};
use netburn_units::{ByteSize, Instant, Seed};
use netburn_workload::kinds::{Periodic, Probe};
use netburn_workload::{Config, ProbeTarget, Workload};
use std::sync::Arc;
use tokio::task::{JoinSet, LocalSet};

/// Timeout of the datagram handshake.
const HANDSHAKE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(1);

/// A station whose idle latency is measured.
#[derive(Debug, Clone)]
pub struct Idle {
    /// Number of the station in the plan.
    pub station: u16,
    /// Server of the station.
    pub target: Arc<Target>,
    /// Hosts whose idle latency is measured.
    pub targets: Vec<ProbeTarget>,
    /// True if datagrams are tried. Not with a server that has given no consent.
    pub datagrams: bool,
}

/// Sends probes from each of `stations` until `until`. Returns rows of the workloads [`row::baseline`]. Without an echo of
/// datagrams, small requests over a reused HTTP connection are measured instead, which include the server's processing
/// time; an event reports this.
///
/// # Errors
/// An I/O error when the driving thread cannot be started.
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
            for &to in &idle.targets {
                let (config, target) = match to {
                    ProbeTarget::Near | ProbeTarget::Line => (
                        Config::with(|probe: &mut Probe| probe.target = to),
                        Arc::clone(&idle.target),
                    ),
                    ProbeTarget::Server if echoes => (Config::probe(), Arc::clone(&idle.target)),
                    ProbeTarget::Server => {
                        events.push(fallen_back(&idle, from));
                        (request_every_50_ms(), Arc::new(tiny(&idle.target)))
                    }
                };
                // Different phases by station: agents that play one station each would otherwise send simultaneously.
                let workload = row::baseline(to);
                let index = u64::from(idle.station) << 16 | u64::from(workload);
                loads.push(Load {
                    station: idle.station,
                    workload,
                    machine: Workload::new(config, from, until, until, seed, index),
                    target,
                });
            }
        }
        let _ = rows.send(events);
        drive(loads, clock, rows, stop).await
    };
    own_thread(work).await
}

/// Returns which stations' datagrams are echoed. All handshakes run in parallel; a cancellation ends them.
async fn echoing(stations: Vec<Idle>, mut stop: CancelToken) -> Vec<(Idle, bool)> {
    let mut echoes = vec![false; stations.len()];
    let local = LocalSet::new();
    let mut asked = JoinSet::new();
    for (index, idle) in stations.iter().enumerate().filter(|(_, idle)| idle.datagrams) {
        let target = Arc::clone(&idle.target);
        asked.spawn_local_on(
            async move { (index, probe::answers(&target, HANDSHAKE_TIMEOUT).await) },
            &local,
        );
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
        detail: if idle.datagrams {
            "the server does not echo datagrams: idle latency is measured with small HTTP requests"
        } else {
            "idle latency is measured with small HTTP requests"
        }
        .into(),
    })
}

/// Returns the schedule of `probe` with requests of one byte.
fn request_every_50_ms() -> Config {
    let config = Config::with(|calls: &mut Periodic| {
        calls.requests.object_size = ByteSize::from_bytes(1);
        calls.grid = Probe::default().grid;
    });
    Config {
        goals: Vec::new(),
        timeout: Config::probe().timeout,
        ..config
    }
}

/// Returns the smallest request to a target: one byte, or a head from servers other than netburn.
fn tiny(target: &Target) -> Target {
    let resource = match &target.resource {
        resource @ (Resource::Netburn | Resource::Responsiveness(_)) => resource.clone(),
        Resource::Get(path) | Resource::Head(path) | Resource::Post(path, _) => Resource::Head(path.clone()),
    };
    Target {
        resource,
        ..target.clone()
    }
}
