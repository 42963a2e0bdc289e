//! Link rates far below what the signal permits.

use super::{Direction, RunFacts};
use crate::explain::evidence::Rates;
use netburn_network::{LinkRates, PlannedNetwork};
use netburn_scenario::Environment;
use netburn_units::Dbm;

/// Ratio of the rate that the signal permits to the used one, from which this one is far too low. A rate control that samples,
/// and one that lowers the rate after collisions, stay within two or three MCS.
pub(in crate::explain) const FAR: f64 = 4.0;
/// The permitted rate is that of a signal which is this much weaker, in dB: the other end may receive less, and receivers differ
/// from the model.
pub(in crate::explain) const MARGIN_DB: i32 = 10;
/// Number of bins with a rate, a signal and data, and share of them with such a rate.
pub(in crate::explain) const MIN_BINS: usize = 5;
pub(in crate::explain) const SLOW_SHARE: f64 = 0.8;
/// Content of a bin in one direction from which its rate counts, in bytes for each second. An idle station sends management
/// frames, and one that receives sends acknowledgements.
const MIN_BYTES: f64 = 10_000.0;

/// A link rate far below what the signal permits.
#[derive(Debug, Clone, Copy)]
pub(in crate::explain) struct SlowRate {
    /// Mean rate, and permitted rate at the weakest signal less [`MARGIN_DB`], in bit/s.
    pub(in crate::explain) used: f64,
    pub(in crate::explain) permitted: f64,
    /// The weakest signal.
    pub(in crate::explain) signal: Dbm,
    /// True if observed access points reported it.
    pub(in crate::explain) is_observed: bool,
}

impl RunFacts<'_> {
    /// The station's link rate in one direction, if it is far below what its signal permits; otherwise `None`.
    pub(in crate::explain) fn slow_rate(&self, station: usize, direction: Direction) -> Option<SlowRate> {
        let seen = &self.evidence.stations[station];
        let own = match self.environment {
            Environment::Simulate | Environment::Lab => {
                let air = &self.plan.stations[station].air;
                // The rates are those of the radio that it joined first.
                let moves = air.roaming.is_some() || air.path.len() > 1 || !air.signals.is_empty();
                let network = PlannedNetwork::new(self.plan).ok().filter(|_| !moves);
                network.and_then(|network| *network.rates.get(station)?)
            }
            Environment::Fleet => seen.rates.supported(),
            Environment::Local | Environment::Imported => None,
        };
        let by_station = own.and_then(|rates| self.slower(station, &seen.rates, rates, direction));
        by_station.or_else(|| {
            let mut observed = seen.observed_rates.clone();
            observed.frequency_mhz = self.group_of(station)?.mhz;
            let slow = self.slower(station, &observed, observed.supported()?, direction)?;
            Some(SlowRate {
                is_observed: true,
                ..slow
            })
        })
    }

    fn slower(&self, station: usize, seen: &Rates, supported: LinkRates, direction: Direction) -> Option<SlowRate> {
        let moved = &self.evidence.stations[station].bins;
        let needed = MIN_BYTES * self.evidence.buckets.width().as_secs_f64();
        let used = (0..self.evidence.buckets.count()).filter_map(|index| {
            let bytes = moved.get(index)?.bytes;
            let bytes = match direction {
                Direction::Down => bytes.down,
                Direction::Up => bytes.up,
            };
            let bin = seen.bin(index).filter(|_| bytes as f64 >= needed)?;
            Some((bin.rate(direction)?, bin.weakest?))
        });
        let used: Vec<(f64, i32)> = used.collect();
        let weakest = used.iter().map(|(_, signal)| *signal).min()?;
        let permitted = supported.at(Dbm::from_hundredths(weakest - MARGIN_DB * 100)).as_bps() as f64;
        let slow = used.iter().filter(|(rate, _)| rate * FAR <= permitted).count();
        let is_slow = used.len() >= MIN_BINS && slow as f64 >= SLOW_SHARE * used.len() as f64;
        is_slow.then(|| SlowRate {
            used: used.iter().map(|(rate, _)| rate).sum::<f64>() / used.len() as f64,
            permitted,
            signal: Dbm::from_hundredths(weakest),
            is_observed: false,
        })
    }
}
