//! Reports of observed access points over time.

use netburn_record::aggregate::Buckets;
use netburn_record::{Bssid, Observable, ObservedRow};
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;

/// Most devices, radios and queues. Further ones are omitted.
const MAX_SUBJECTS: usize = 512;

/// Quantity over time of an observed access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObservedKind {
    /// Airtime of frames to and from a device, as a share of the time.
    Airtime,
    /// Share of the time in which a channel was busy.
    ChannelBusy,
    /// Retransmissions to a device in frames/s.
    Retries,
    /// Packets that wait for a device or in a queue; the maximum of each bin.
    Backlog,
    /// Mean delay of the packets of a queue in ms; the maximum of each bin.
    QueueDelay,
    /// Use of the busiest processor as a share of the time.
    Processor,
}

/// One quantity of one device, radio, queue or access point over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedCurve {
    /// Name of the access point.
    pub access_point: String,
    /// Interface or queue; `None` for the whole access point.
    pub part: Option<String>,
    /// Address of the device.
    pub address: Option<Bssid>,
    /// Place of the device in the plan's stations.
    pub station: Option<usize>,
    /// The quantity.
    pub kind: ObservedKind,
    /// Times in s since the load began, with the values.
    pub points: Vec<(f64, f64)>,
}

/// Access point, interface or queue, and device.
type Subject = (String, Option<String>, Option<Bssid>);

/// Sums of the bins.
#[derive(Debug, Default)]
pub(super) struct ObservedGathering {
    curves: BTreeMap<(ObservedKind, Subject), BTreeMap<usize, Sum>>,
    stations: BTreeMap<Bssid, usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    /// Increases, or the sum of values.
    value: f64,
    /// Time that the increases cover in ns, or the number of values.
    weight: f64,
    high: f64,
}

impl ObservedKind {
    fn from_row(row: &ObservedRow) -> Option<ObservedKind> {
        Some(match row.quantity {
            Observable::AirtimeDown | Observable::AirtimeUp => ObservedKind::Airtime,
            Observable::Busy | Observable::OnChannel => ObservedKind::ChannelBusy,
            Observable::RetriesDown => ObservedKind::Retries,
            Observable::QueuedPackets => ObservedKind::Backlog,
            Observable::QueueDelay => ObservedKind::QueueDelay,
            Observable::ProcessorBusy => ObservedKind::Processor,
            _ => return None,
        })
    }

    /// The value of a bin.
    fn value(self, sum: &Sum) -> Option<f64> {
        let ratio = || (sum.weight > 0.0).then(|| sum.value / sum.weight);
        match self {
            ObservedKind::Airtime | ObservedKind::ChannelBusy => ratio(),
            ObservedKind::Retries => ratio().map(|per_ns| per_ns * 1e9),
            ObservedKind::Backlog => Some(sum.high),
            ObservedKind::QueueDelay => Some(sum.high / 1e6),
            ObservedKind::Processor => ratio().map(|millionths| millionths / 1e6),
        }
    }
}

impl ObservedGathering {
    pub(super) fn put(&mut self, row: &ObservedRow, bins: Buckets) {
        let Some(kind) = ObservedKind::from_row(row) else {
            return;
        };
        if let (Some(address), Some(station)) = (row.address, row.station) {
            self.stations.insert(address, station.into());
        }
        // An increase belongs to the time before the sample.
        let at = row.at.checked_sub(row.span / 2).unwrap_or(row.at);
        let Some(bin) = bins.index(at.as_nanos()).filter(|_| at >= Instant::ZERO) else {
            return;
        };
        let subject = (row.access_point.clone().into_owned(), row.part.clone(), row.address);
        let key = (kind, subject);
        if self.curves.len() >= MAX_SUBJECTS && !self.curves.contains_key(&key) {
            return;
        }
        let sum = self.curves.entry(key).or_default().entry(bin).or_default();
        let value = row.value as f64;
        sum.high = sum.high.max(value);
        match row.quantity {
            // The share is of the time on the channel.
            Observable::OnChannel => sum.weight += value,
            Observable::Busy => sum.value += value,
            // Both directions cover the same time.
            Observable::AirtimeUp => sum.value += value,
            _ => {
                sum.value += value;
                sum.weight += if row.span.is_zero() { 1.0 } else { nanos(row.span) };
            }
        }
    }

    /// Curves by quantity, access point, part and address.
    pub(super) fn finish(self, width: f64) -> Vec<ObservedCurve> {
        let stations = self.stations;
        let curves = self.curves.into_iter();
        let curves = curves.map(|((kind, (access_point, part, address)), bins)| ObservedCurve {
            access_point,
            part,
            station: address.and_then(|address| stations.get(&address).copied()),
            address,
            kind,
            points: bins
                .iter()
                .filter_map(|(bin, sum)| Some((*bin as f64 * width, kind.value(sum)?)))
                .collect(),
        });
        curves.collect()
    }
}

fn nanos(span: Duration) -> f64 {
    span.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_that_the_samples_cover() {
        let bins = Buckets::covering(Duration::from_secs(20), Duration::from_secs(2));
        let mut gathering = ObservedGathering::default();
        let phone = Some(Bssid([2, 0, 0, 0, 0, 1]));
        let mut put = |quantity, part: Option<&str>, address: Option<Bssid>, second, value| {
            let row = ObservedRow {
                access_point: "hall".into(),
                at: Instant::from_secs(second),
                span: if quantity == Observable::QueuedPackets {
                    Duration::ZERO
                } else {
                    Duration::from_secs(1)
                },
                part: part.map(str::to_owned),
                station: address.map(|_| 3),
                address,
                quantity,
                value,
            };
            gathering.put(&row, bins);
        };
        let wlan = Some("wlan0");
        for second in 1..=4 {
            put(Observable::AirtimeDown, wlan, phone, second, 200_000_000);
            put(Observable::AirtimeUp, wlan, phone, second, 100_000_000);
            put(Observable::OnChannel, wlan, None, second, 800_000_000);
            put(Observable::Busy, wlan, None, second, 200_000_000 * second);
            put(Observable::RetriesDown, wlan, phone, second, 7);
        }
        put(Observable::QueuedPackets, wlan, phone, 1, 3);
        put(Observable::QueuedPackets, wlan, phone, 1, 9);
        // Before the load.
        put(Observable::QueuedPackets, wlan, phone, -1, 99);
        let curves = gathering.finish(2.0);
        let of = |kind| curves.iter().find(|curve| curve.kind == kind).unwrap();
        assert_eq!(of(ObservedKind::Airtime).station, Some(3));
        let rounded = |kind| -> Vec<(f64, f64)> {
            let round = |(at, value): &(f64, f64)| (*at, (value * 1e3).round() / 1e3);
            of(kind).points.iter().map(round).collect()
        };
        assert_eq!(rounded(ObservedKind::Airtime), [(0.0, 0.3), (2.0, 0.3)]);
        // 0.2 + 0.4 of 1.6 s, and 0.6 + 0.8 of 1.6 s.
        assert_eq!(rounded(ObservedKind::ChannelBusy), [(0.0, 0.375), (2.0, 0.875)]);
        assert_eq!(rounded(ObservedKind::Retries), [(0.0, 7.0), (2.0, 7.0)]);
        assert_eq!(rounded(ObservedKind::Backlog), [(0.0, 9.0)]);
    }
}
