//! Networks that both programs run for the comparison of their processor time.

use super::home::{Place, Target};
use super::plan::{CrosscheckPlan, CrosscheckStation, PlanQueue, STATION_FIFO_LIMIT, Transport};
use netburn_medium::config::{Band, Guard, Standard, Width};
use netburn_units::Duration;

impl CrosscheckPlan {
    /// Returns the networks of `netburn-dev speed` with their names.
    #[must_use]
    pub fn for_speed() -> Vec<(&'static str, CrosscheckPlan)> {
        let fast_and_slow = [station(7, false), station(7, false), station(0, false)];
        let dense = |stations: usize| CrosscheckPlan {
            standard: Standard::Ac,
            width: Width::Mhz80,
            measured: Duration::from_secs(10),
            ..network(vec![station(9, false); stations], Transport::Cubic)
        };
        vec![
            ("anomaly", network(fast_and_slow.to_vec(), Transport::Cubic)),
            ("dense-10", dense(10)),
            ("dense-30", dense(30)),
            (
                "saturated-5",
                CrosscheckPlan {
                    standard: Standard::A,
                    guard: Guard::Ns800,
                    streams: 1,
                    measured: Duration::from_secs(10),
                    ..network(vec![station(7, true); 5], Transport::Udp { kbps: 12_000 })
                },
            ),
            (
                "behind-one-fifo",
                network(fast_and_slow.to_vec(), Transport::Udp { kbps: 100_000 }),
            ),
        ]
    }
}

/// 802.11n, 20 MHz, two streams, at FIFOs; one second of load, then 30 measured seconds.
fn network(stations: Vec<CrosscheckStation>, transport: Transport) -> CrosscheckPlan {
    CrosscheckPlan {
        number: 0,
        standard: Standard::N,
        band: Band::Ghz5,
        width: Width::Mhz20,
        guard: Guard::Ns400,
        streams: 2,
        stations,
        home: None,
        transport,
        ap: PlanQueue {
            fq_codel: false,
            limit: 1_000,
            frames: 128,
        },
        station: PlanQueue {
            fq_codel: false,
            limit: STATION_FIFO_LIMIT,
            frames: 128,
        },
        round_trip: Duration::from_millis(2),
        probe_period: Duration::from_millis(100),
        warmup: Duration::from_secs(1),
        measured: Duration::from_secs(30),
    }
}

fn station(mcs: u8, up: bool) -> CrosscheckStation {
    CrosscheckStation {
        mcs,
        up,
        place: Place::Ap(0),
        target: Target::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Environment;

    #[test]
    fn every_network_resolves() {
        for (name, plan) in CrosscheckPlan::for_speed() {
            if let Err(why) = plan.resolved(1, Environment::Simulate) {
                panic!("{name}: {}", why.render(false));
            }
        }
    }
}
