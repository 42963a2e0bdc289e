//! Steering of all networks of a plan.

use super::Steerer;
use netburn_scenario::Plan;
use netburn_scenario::plan::Joins;
use netburn_units::{Duration, Instant};

/// Steering of all networks.
#[derive(Debug)]
pub(crate) struct Steering {
    pub(crate) steerers: Vec<Steerer>,
    /// Busy time of each channel at the last view.
    pub(crate) busy: Vec<Duration>,
    pub(crate) viewed: Instant,
    /// Share of time in which each channel was busy between the last two views.
    pub(crate) loads: Vec<f64>,
}

impl Steering {
    /// Steering of a plan's networks, and of each station the number of its steerer.
    pub(crate) fn new(plan: &Plan, begin: Instant, channels: usize) -> (Self, Vec<Option<usize>>) {
        let mut steerers = Vec::new();
        let mut of_network = Vec::new();
        for network in &plan.networks {
            let steerer = Steerer::new(begin, &network.steering);
            of_network.push(steerer.is_some().then_some(steerers.len()));
            steerers.extend(steerer);
        }
        let of_station = plan.stations.iter().map(|station| match &station.air.joins {
            Some(Joins::Network(name)) => {
                let network = plan.networks.iter().position(|network| network.name == *name)?;
                of_network[network]
            }
            _ => None,
        });
        let of_station = of_station.collect();
        let steering = Steering {
            steerers,
            busy: vec![Duration::ZERO; channels],
            viewed: begin,
            loads: vec![0.0; channels],
        };
        (steering, of_station)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.steerers.iter().map(Steerer::poll_timeout).min()
    }
}
