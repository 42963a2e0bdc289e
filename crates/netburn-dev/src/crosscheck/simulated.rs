//! A plan in netburn's simulator.

use super::collect::{Collector, median_ms};
use super::home::Target;
use super::plan::{CrosscheckPlan, Transport};
use super::results::Values;
use super::scenario::PROBE_LENGTH;
use crate::datagrams::{Driver, Flow, Load};
use netburn_network::{Endpoint, Network};
use netburn_scenario::{Environment, Plan, ScenarioError};
use netburn_simulate::SimulateError;
use netburn_units::{BitRate, Instant};
use std::ops::ControlFlow;

/// Error in the simulation of a plan. A test shows that generated plans cause none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The scenario is invalid.
    #[error("{}", .0.render(false))]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects the plan.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

impl CrosscheckPlan {
    /// Runs the plan with this seed.
    ///
    /// # Errors
    /// netburn cannot simulate the plan.
    pub fn simulate(&self, seed: u64) -> Result<Values, PlanError> {
        let plan = self.resolved(seed, Environment::Simulate)?;
        match self.transport {
            Transport::Udp { kbps } => self.datagrams(&plan, BitRate::from_bps(kbps * 1_000)),
            Transport::Cubic | Transport::Reno => self.connections(&plan),
        }
    }

    fn datagrams(&self, plan: &Plan, rate: BitRate) -> Result<Values, PlanError> {
        let station = |number: usize| Endpoint::Station(number as u16);
        let mut flows: Vec<Flow<Endpoint>> = Vec::new();
        for (number, config) in self.stations.iter().enumerate() {
            let other = match config.target {
                Target::Server => Endpoint::Server,
                Target::Nas => station(self.stations.len()),
            };
            let (from, to) = if config.up {
                (station(number), other)
            } else {
                (other, station(number))
            };
            flows.push(Flow {
                load: Load::Constant { rate, jitter: true },
                ..Flow::saturating(from, to, 0)
            });
        }
        for number in 0..self.stations.len() {
            flows.push(Flow {
                load: Load::Probe {
                    every: self.probe_period,
                },
                length: PROBE_LENGTH,
                content: PROBE_LENGTH - 28,
                ..Flow::saturating(station(number), Endpoint::Server, 0)
            });
        }
        let mut network = Network::new(plan).map_err(SimulateError::from)?;
        let mut driver = Driver::new(&flows, plan.seed);
        driver.run(&mut network, Instant::ZERO + self.warmup);
        driver.begin();
        driver.run(&mut network, Instant::ZERO + self.warmup + self.measured);
        let stations = self.stations.len();
        Ok(Values {
            seed: plan.seed.0,
            goodput: (0..stations)
                .map(|flow| driver.report(flow).goodput().as_mbps_f64())
                .collect(),
            round_trip: (stations..2 * stations)
                .map(|flow| median_ms(&driver.report(flow).answered))
                .collect(),
        })
    }

    fn connections(&self, plan: &Plan) -> Result<Values, PlanError> {
        let mut collector = Collector::new(self);
        netburn_simulate::run(plan, |_, rows| {
            rows.iter().for_each(|row| collector.add(row));
            ControlFlow::Continue(())
        })?;
        Ok(collector.values(plan.seed.0))
    }
}
