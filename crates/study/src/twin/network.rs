//! Workloads of a run on the network of a model.

use netburn_scenario::plan::Server;
use netburn_scenario::{Plan, Station};

/// Reason for which a model is not one of the network of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotThisNetwork {
    /// The model lacks a station of the run.
    #[error("the run has a station `{station}`, which the model lacks; its stations are {}", .known.join(", "))]
    Station {
        /// Name of the station.
        station: String,
        /// Names of the model's stations.
        known: Vec<String>,
    },
}

/// Returns the model's network with the workloads, the times and the TCP settings of the run. Stations that did not take part have no
/// workloads. Changes during a run of the model do not apply.
///
/// # Errors
/// The model lacks a station of the run.
pub fn on_model(run: &Plan, model: &Plan) -> Result<Plan, NotThisNetwork> {
    let missing = run
        .stations
        .iter()
        .find(|station| model.station(&station.name).is_none());
    if let Some(station) = missing {
        return Err(NotThisNetwork::Station {
            station: station.name.clone(),
            known: model.stations.iter().map(|known| known.name.clone()).collect(),
        });
    }
    let station = |modelled: &Station| match run.station(&modelled.name) {
        Some(measured) => Station {
            workloads: measured.workloads.clone(),
            start: measured.start,
            stop: measured.stop,
            cc: measured.cc.clone().or_else(|| modelled.cc.clone()),
            ecn: measured.ecn,
            tsq: measured.tsq.or(modelled.tsq),
            ..modelled.clone()
        },
        None => Station {
            workloads: Vec::new(),
            ..modelled.clone()
        },
    };
    Ok(Plan {
        stations: model.stations.iter().map(station).collect(),
        server: Server {
            http: run.server.http,
            tls: run.server.tls,
            cc: run.server.cc.clone().or_else(|| model.server.cc.clone()),
            ecn: run.server.ecn,
            ..model.server.clone()
        },
        duration: run.duration,
        warmup: run.warmup,
        baseline: run.baseline,
        drain: run.drain,
        seed: run.seed,
        repeat: run.repeat,
        changes: Vec::new(),
        name: run.name.clone(),
        title: run.title.clone(),
        question: run.question.clone(),
        ..model.clone()
    })
}
