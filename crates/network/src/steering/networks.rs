//! Steering of all networks of a plan.

use super::Steerer;
use netburn_scenario::Plan;
use netburn_scenario::plan::Joins;
use netburn_units::{Duration, Instant};

/// Steering of all networks.
#[derive(Debug)]
pub(crate) struct Steering {
    pub(super) steerers: Vec<Steerer>,
    /// Steerer of each station's network.
    pub(super) steerer_of: Vec<Option<usize>>,
    /// Airtime of each station's data at the last view.
    pub(super) airtimes: Vec<Duration>,
    /// Busy time of each channel at the last view.
    pub(super) busy: Vec<Duration>,
    pub(super) viewed: Instant,
    /// Share of time in which each channel was busy between the last two views.
    pub(super) loads: Vec<f64>,
}

impl Steering {
    /// Steering of a plan's networks.
    pub(crate) fn new(plan: &Plan, begin: Instant, channels: usize) -> Self {
        let mut steerers = Vec::new();
        let mut of_network = Vec::new();
        for network in &plan.networks {
            let steerer = Steerer::new(begin, &network.steering);
            of_network.push(steerer.is_some().then_some(steerers.len()));
            steerers.extend(steerer);
        }
        let steerer_of = plan.stations.iter().map(|station| match &station.air.joins {
            Some(Joins::Network(name)) => {
                let network = plan.networks.iter().position(|network| network.name == *name)?;
                of_network[network]
            }
            _ => None,
        });
        Steering {
            steerer_of: steerer_of.collect(),
            steerers,
            airtimes: vec![Duration::ZERO; plan.stations.len()],
            busy: vec![Duration::ZERO; channels],
            viewed: begin,
            loads: vec![0.0; channels],
        }
    }

    /// True if all stations decide alone.
    pub(crate) fn is_empty(&self) -> bool {
        self.steerers.is_empty()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.steerers.iter().map(Steerer::poll_timeout).min()
    }
}
