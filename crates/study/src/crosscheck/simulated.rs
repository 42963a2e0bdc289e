//! A plan in netburn's simulator.

use super::plan::{CrosscheckPlan, Transport};
use super::results::Values;
use super::scenario::PROBE_LENGTH;
use netburn_network::{Endpoint, Network};
use netburn_record::Row;
use netburn_scenario::{Plan, ScenarioError};
use netburn_simulate::SimulateError;
use netburn_simulate::datagrams::{Driver, Flow, Load};
use netburn_stats::{Distribution, P50};
use netburn_units::{BitRate, Instant};
use std::ops::ControlFlow;

/// Why a plan cannot be simulated. A test rules both out for generated plans.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The scenario is wrong.
    #[error("{}", .0.render(false))]
    Scenario(#[from] ScenarioError),
    /// The simulator rejects it.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

impl CrosscheckPlan {
    /// Runs the plan with this seed.
    ///
    /// # Errors
    /// The plan is none that netburn can simulate.
    pub fn simulate(&self, seed: u64) -> Result<Values, PlanError> {
        let plan = self.resolved(seed)?;
        match self.transport {
            Transport::Udp { kbps } => self.datagrams(&plan, BitRate::from_bps(kbps * 1_000)),
            Transport::Cubic | Transport::Reno => self.connections(&plan),
        }
    }

    fn datagrams(&self, plan: &Plan, rate: BitRate) -> Result<Values, PlanError> {
        let station = |number: usize| Endpoint::Station(number as u16);
        let mut flows: Vec<Flow<Endpoint>> = Vec::new();
        for (number, of) in self.stations.iter().enumerate() {
            let (from, to) = match of.up {
                true => (station(number), Endpoint::Server),
                false => (Endpoint::Server, station(number)),
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
        let measured = (Instant::ZERO + self.warmup)..(Instant::ZERO + self.warmup + self.measured);
        let mut bytes = vec![0_u64; self.stations.len()];
        let mut round_trips: Vec<Vec<u64>> = vec![Vec::new(); self.stations.len()];
        netburn_simulate::run(plan, |_, rows| {
            for row in rows {
                match row {
                    Row::Interval(row) if row.workload == 0 && measured.contains(&row.at) => {
                        bytes[usize::from(row.station)] += row.bytes_down + row.bytes_up;
                    }
                    Row::Operation(row) if row.workload == 1 && measured.contains(&row.operation.due) => {
                        let in_time = row.operation.finished.is_some_and(|at| at <= measured.end);
                        if let Some(latency) = row.operation.latency().filter(|_| in_time) {
                            round_trips[usize::from(row.station)].push(latency.as_nanos());
                        }
                    }
                    _ => {}
                }
            }
            ControlFlow::Continue(())
        })?;
        let seconds = self.measured.as_secs_f64();
        Ok(Values {
            seed: plan.seed.0,
            goodput: bytes.iter().map(|bytes| *bytes as f64 * 8e-6 / seconds).collect(),
            round_trip: round_trips
                .into_iter()
                .map(|of| median_ms(&Distribution::from_samples(of, 0)))
                .collect(),
        })
    }
}

fn median_ms(of: &Distribution) -> Option<f64> {
    of.percentile(P50).value().map(|nanos| nanos as f64 / 1e6)
}
