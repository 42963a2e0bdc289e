//! Closed forms: Bianchi's model of saturation, and the shares of stations with given aggregates.

use super::phy::Phy;
use super::{FixedMetrics, Kind, Metric, Metrics};
use crate::validate::quantity::{Dimension, parsed};
use netburn_medium::edca::Timing;
use netburn_medium::phy::response;
use netburn_units::Duration;
use serde::Deserialize;

/// Saturated stations (Bianchi, IEEE JSAC 18(3), 2000).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Bianchi {
    stations: u32,
    /// Number of slots of the first backoff: CWmin + 1.
    window: u32,
    /// Number of doublings of the window.
    stages: u32,
    #[serde(deserialize_with = "parsed")]
    slot: Duration,
    /// Duration of a successful transmission, including its overhead.
    #[serde(deserialize_with = "parsed")]
    success: Duration,
    /// Duration of a collision.
    #[serde(deserialize_with = "parsed")]
    collided: Duration,
    /// Duration of the payload.
    #[serde(deserialize_with = "parsed")]
    payload: Duration,
    /// Bits of payload, for the throughput.
    #[serde(default)]
    bits: u32,
    /// A winner can send again at once with probability 1 / window (Bianchi and Tinnirello 2005), and a slot follows each success.
    #[serde(default)]
    winner_keeps: bool,
    /// A slot follows each success.
    #[serde(default)]
    slot_after: bool,
}

/// Downlink to stations with given mean aggregates (Høiland-Jørgensen and others 2017, equations 1 to 5, with the durations of
/// the standard). Metrics: `total`, and by station `alone NAME`, `share NAME` (of airtime) and `rate NAME`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Shares {
    turns: Fairness,
    station: Vec<StationShare>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fairness {
    /// Equal number of transmissions.
    EqualTransmissions,
    /// Equal airtime.
    EqualAirtime,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct StationShare {
    name: String,
    phy: Phy,
    /// Mean bytes of packets in an aggregate.
    aggregate: f64,
}

/// Solution of Bianchi's model.
pub(super) struct Saturation {
    /// Mbit/s.
    throughput: f64,
    /// Share of time with payload on the air.
    normalised: f64,
    /// Probability that a station sends in a slot.
    tau: f64,
    /// Probability that a transmission collides.
    collision: f64,
}

impl FixedMetrics for Bianchi {
    type Result = Saturation;
    const METRICS: &'static [Metric<Saturation>] = &[
        Metric("throughput", Dimension::Rate, |found| found.throughput),
        Metric("normalised", Dimension::Share, |found| found.normalised),
        Metric("tau", Dimension::Share, |found| found.tau),
        Metric("collision", Dimension::Share, |found| found.collision),
    ];

    fn result(&self) -> Saturation {
        let (tau, collision) = self.fixed_point();
        let successes = self.successes(tau);
        Saturation {
            throughput: f64::from(self.bits) * successes / 1e6,
            normalised: self.payload.as_secs_f64() * successes,
            tau,
            collision,
        }
    }
}

impl Bianchi {
    /// Solves for τ and p. τ decreases with p, and p increases with τ, so there is one solution.
    fn fixed_point(&self) -> (f64, f64) {
        let others = f64::from(self.stations.max(1) - 1);
        let collision = |tau: f64| 1.0 - libm::pow(1.0 - tau, others);
        let window = f64::from(self.window);
        let tau = |p: f64| {
            let sum: f64 = (0..self.stages).map(|stage| libm::pow(2.0 * p, f64::from(stage))).sum();
            2.0 / (1.0 + window + p * window * sum)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if tau(collision(middle)) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low, collision(low))
    }

    /// Packets delivered per second.
    fn successes(&self, tau: f64) -> f64 {
        let stations = f64::from(self.stations);
        let any = 1.0 - libm::pow(1.0 - tau, stations);
        let one = stations * tau * libm::pow(1.0 - tau, stations - 1.0);
        let slot = self.slot.as_secs_f64();
        let again = if self.winner_keeps {
            1.0 / f64::from(self.window)
        } else {
            0.0
        };
        let after = if self.winner_keeps || self.slot_after {
            slot
        } else {
            0.0
        };
        let success = self.success.as_secs_f64() / (1.0 - again) + after;
        let mean = (1.0 - any) * slot + one * success + (any - one) * self.collided.as_secs_f64();
        one / (1.0 - again) / mean
    }
}

impl Kind for Shares {
    fn metrics(&self) -> Metrics {
        let mut metrics = vec![("total".to_owned(), Dimension::Rate)];
        for StationShare { name, .. } in &self.station {
            metrics.push((format!("alone {name}"), Dimension::Rate));
            metrics.push((format!("share {name}"), Dimension::Share));
            metrics.push((format!("rate {name}"), Dimension::Rate));
        }
        metrics
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        wanted.iter().map(|metric| self.value(metric)).collect()
    }
}

impl Shares {
    fn value(&self, metric: &str) -> f64 {
        let all: f64 = self.station.iter().map(StationShare::data).sum();
        let share = |station: &StationShare| match self.turns {
            Fairness::EqualTransmissions => station.data() / all,
            Fairness::EqualAirtime => 1.0 / self.station.len() as f64,
        };
        let Some((what, name)) = metric.split_once(' ') else {
            return self
                .station
                .iter()
                .map(|station| share(station) * station.alone())
                .sum();
        };
        let Some(station) = self.station.iter().find(|station| station.name == name) else {
            return f64::NAN;
        };
        match what {
            "alone" => station.alone(),
            "share" => share(station),
            _ => share(station) * station.alone(),
        }
    }
}

/// Bytes of an IP packet, without and with LLC, MAC header, FCS, delimiter and padding.
const PACKET: f64 = 1_500.0;
const IN_AGGREGATE: f64 = 1_544.0;
/// AIFSN and mean backoff of the source: DIFS and half of CWmin.
const AIFSN: u32 = 2;
const CW_MIN: u64 = 15;
const WINDOW: u32 = 64;

impl StationShare {
    /// Duration of the data PPDU in seconds.
    fn data(&self) -> f64 {
        let bytes = self.aggregate * IN_AGGREGATE / PACKET;
        self.phy
            .0
            .ppdu(bytes as u64)
            .map_or(f64::NAN, |time| time.total().as_secs_f64())
    }

    /// Goodput without other stations in Mbit/s.
    fn alone(&self) -> f64 {
        let timing = Timing::OFDM;
        let answer = response::duration(&response::vector_for(&self.phy.0), response::block_ack(WINDOW));
        let overhead = timing.aifs(AIFSN) + timing.sifs + answer + timing.slot * CW_MIN / 2;
        self.aggregate * 8.0 / (self.data() + overhead.as_secs_f64()) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(stations: u32) -> Bianchi {
        Bianchi {
            stations,
            window: 16,
            stages: 6,
            slot: Duration::from_micros(9),
            success: Duration::from_micros(326),
            collided: Duration::from_micros(282),
            payload: Duration::from_micros(222),
            bits: 12_000,
            winner_keeps: false,
            slot_after: false,
        }
    }

    /// One station has no collisions: τ = 2 / (W + 1), and a packet takes the mean backoff of 7.5 slots and one exchange.
    #[test]
    fn one_station_by_hand() {
        let alone = model(1);
        assert!((alone.result().tau - 2.0 / 17.0).abs() < 1e-9);
        assert_eq!(alone.result().collision, 0.0);
        assert!((alone.result().throughput - 12_000.0 / (7.5 * 9.0 + 326.0)).abs() < 1e-6);
    }

    /// τ from p, and p from τ.
    #[test]
    fn the_fixed_point_satisfies_both_equations() {
        for stations in [2, 5, 20, 200] {
            let (tau, p) = model(stations).fixed_point();
            let sum: f64 = (0..6).map(|stage| (2.0 * p).powi(stage)).sum();
            assert!((tau - 2.0 / (17.0 + 16.0 * p * sum)).abs() < 1e-9);
            assert!((p - (1.0 - (1.0 - tau).powi(stations as i32 - 1))).abs() < 1e-12);
        }
    }
}
