//! Reports of observed access points.

use super::{Evidence, OF_RATE};
use netburn_record::aggregate::{Bucketed, Buckets};
use netburn_record::{Bssid, Observable, ObservedRow};
use std::collections::BTreeMap;

/// Maximum number of devices of a radio, and of radios and queues. Further ones are ignored.
const MAX_DEVICES: usize = 512;
const MAX_PARTS: usize = 256;

/// Evidence about an observed access point.
#[derive(Debug, Clone)]
pub(in crate::explain) struct ApEvidence {
    /// Radios by interface.
    pub(in crate::explain) radios: BTreeMap<String, RadioEvidence>,
    /// Queues by name.
    pub(in crate::explain) queues: BTreeMap<String, QueueEvidence>,
    pub(in crate::explain) host: Bucketed<HostBin>,
    /// Time in ns that samples cover.
    covered: Bucketed<u64>,
}

/// Time that a value covers, in ns. A value that is no increase covers none.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: i64,
    to: i64,
}

impl Span {
    fn of_row(row: &ObservedRow) -> Span {
        let to = row.at.as_nanos();
        let length = i64::try_from(row.span.as_nanos()).unwrap_or(i64::MAX);
        Span {
            from: to.saturating_sub(length),
            to,
        }
    }

    /// Adds an increase to the bins that the span covers, to each its part.
    fn spread<T: Clone + Default>(
        self,
        bins: &mut Bucketed<T>,
        buckets: Buckets,
        value: u64,
        mut put: impl FnMut(&mut T, u64),
    ) {
        let width = i64::try_from(buckets.width().as_nanos()).unwrap_or(i64::MAX).max(1);
        let end = width.saturating_mul(i64::try_from(buckets.count()).unwrap_or(i64::MAX));
        let length = self.to.saturating_sub(self.from);
        if length <= 0 {
            if let Some(bin) = bins.bucket(self.to) {
                put(bin, value);
            }
            return;
        }
        let mut at = self.from.max(0);
        while at < self.to.min(end) {
            let next = ((at / width + 1).saturating_mul(width)).min(self.to);
            let part = u128::from(value) * (next - at) as u128 / length as u128;
            if let Some(bin) = bins.bucket(at) {
                put(bin, u64::try_from(part).unwrap_or(u64::MAX));
            }
            at = next;
        }
    }
}

/// Adds to a sum.
fn add(sum: &mut u64, value: u64) {
    *sum = sum.saturating_add(value);
}

/// Evidence about a radio.
#[derive(Debug, Clone)]
pub(in crate::explain) struct RadioEvidence {
    pub(in crate::explain) frequency_mhz: Option<u32>,
    /// True for each direction, down and up, in which its driver reports airtime. Otherwise it is estimated from bytes and
    /// rates.
    has_airtime: [bool; 2],
    /// Use of its channel.
    pub(in crate::explain) survey: Bucketed<SurveyBin>,
    /// Devices on it, by address.
    pub(in crate::explain) devices: BTreeMap<Bssid, DeviceEvidence>,
}

/// Use of a radio's channel in one bin, in ns.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::explain) struct SurveyBin {
    on_channel: u64,
    busy: u64,
}

/// Evidence about a device on a radio.
#[derive(Debug, Clone)]
pub(in crate::explain) struct DeviceEvidence {
    /// Its number in the plan; `None` if it takes no part in the run.
    pub(in crate::explain) station: Option<usize>,
    /// Rates of the last frames to and from it, in bit/s.
    rates: [Option<u64>; 2],
    bins: Bucketed<DeviceBin>,
    /// Bytes in both directions.
    pub(in crate::explain) bytes: u64,
}

/// Airtime to and from a device in one bin, in ns.
#[derive(Debug, Clone, Copy, Default)]
struct DeviceBin {
    reported: [u64; 2],
    estimated: [u64; 2],
}

/// Evidence about a queue.
#[derive(Debug, Clone)]
pub(in crate::explain) struct QueueEvidence {
    /// Rate of its shaper in bit/s.
    pub(in crate::explain) rate: Option<u64>,
    bins: Bucketed<QueueBin>,
}

/// Work of a queue in one bin.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::explain) struct QueueBin {
    /// Bytes that it sent, and the time that they cover, in ns.
    pub(in crate::explain) sent: u64,
    pub(in crate::explain) span: u64,
    pub(in crate::explain) drops: u64,
    pub(in crate::explain) marks: u64,
}

/// Use of the processors of an access point in one bin: the sum of the shares in millionths, and the number of samples.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::explain) struct HostBin {
    pub(in crate::explain) busy: (u64, u64),
    pub(in crate::explain) softnet_dropped: u64,
}

impl ApEvidence {
    fn new(buckets: Buckets) -> ApEvidence {
        ApEvidence {
            radios: BTreeMap::new(),
            queues: BTreeMap::new(),
            host: Bucketed::new(buckets),
            covered: Bucketed::new(buckets),
        }
    }

    /// Time in ns in the bins of a mask that samples cover.
    pub(in crate::explain) fn covered(&self, mask: &[bool]) -> u64 {
        let wanted = self.covered.values().iter().zip(mask).filter(|(_, wanted)| **wanted);
        wanted.fold(0, |sum, (covered, _)| sum.saturating_add(*covered))
    }

    fn add(&mut self, row: &ObservedRow, station: Option<usize>, buckets: Buckets) {
        let span = Span::of_row(row);
        let value = u64::try_from(row.value).unwrap_or(0);
        match (&row.part, row.address, row.quantity) {
            (None, _, Observable::ObserverResponse) => {
                let length = row.span.as_nanos();
                span.spread(&mut self.covered, buckets, length, add);
            }
            (None, _, Observable::ProcessorBusy) => {
                if let Some(bin) = self.host.bucket(row.at.as_nanos()) {
                    bin.busy = (bin.busy.0.saturating_add(value), bin.busy.1 + 1);
                }
            }
            (None, _, Observable::SoftnetDropped) => {
                span.spread(&mut self.host, buckets, value, |bin, part| {
                    add(&mut bin.softnet_dropped, part)
                });
            }
            (Some(part), Some(address), quantity) => {
                let direction = match quantity {
                    Observable::AirtimeDown => Some(0),
                    Observable::AirtimeUp => Some(1),
                    _ => None,
                };
                if let Some(device) = self.device(part, address, station, buckets) {
                    device.add(quantity, span, value, buckets);
                }
                if let (Some(direction), Some(radio)) = (direction, self.radios.get_mut(part)) {
                    radio.has_airtime[direction] |= value > 0;
                }
            }
            (Some(part), None, Observable::Frequency | Observable::OnChannel | Observable::Busy) => {
                if let Some(radio) = self.radio(part, buckets) {
                    radio.add(row.quantity, span, value, buckets);
                }
            }
            (
                Some(part),
                None,
                Observable::QueueSent | Observable::ShaperRate | Observable::QueueDrops | Observable::QueueMarks,
            ) => {
                if let Some(queue) = self.queue(part, buckets) {
                    queue.add(row, span, value, buckets);
                }
            }
            _ => {}
        }
    }

    fn queue(&mut self, part: &str, buckets: Buckets) -> Option<&mut QueueEvidence> {
        if self.queues.len() >= MAX_PARTS && !self.queues.contains_key(part) {
            return None;
        }
        let queue = self.queues.entry(part.to_owned());
        Some(queue.or_insert_with(|| QueueEvidence {
            rate: None,
            bins: Bucketed::new(buckets),
        }))
    }

    fn radio(&mut self, part: &str, buckets: Buckets) -> Option<&mut RadioEvidence> {
        if self.radios.len() >= MAX_PARTS && !self.radios.contains_key(part) {
            return None;
        }
        let radio = self.radios.entry(part.to_owned());
        Some(radio.or_insert_with(|| RadioEvidence {
            frequency_mhz: None,
            has_airtime: [false; 2],
            survey: Bucketed::new(buckets),
            devices: BTreeMap::new(),
        }))
    }

    fn device(
        &mut self,
        part: &str,
        address: Bssid,
        station: Option<usize>,
        buckets: Buckets,
    ) -> Option<&mut DeviceEvidence> {
        let radio = self.radio(part, buckets)?;
        if radio.devices.len() >= MAX_DEVICES && !radio.devices.contains_key(&address) {
            return None;
        }
        let device = radio.devices.entry(address).or_insert_with(|| DeviceEvidence {
            station,
            rates: [None; 2],
            bins: Bucketed::new(buckets),
            bytes: 0,
        });
        // The access point may learn the address of a station after the first samples.
        device.station = station.or(device.station);
        Some(device)
    }

    /// Mean use of the processors in the bins of a mask, 0 to 1, and packets that they dropped; `None` if unknown.
    pub(in crate::explain) fn processors(&self, mask: &[bool]) -> Option<(f64, u64)> {
        let wanted = self.host.values().iter().zip(mask).filter(|(_, wanted)| **wanted);
        let (mut sum, mut count, mut dropped) = (0_u64, 0_u64, 0_u64);
        for (bin, _) in wanted {
            sum = sum.saturating_add(bin.busy.0);
            count = count.saturating_add(bin.busy.1);
            dropped = dropped.saturating_add(bin.softnet_dropped);
        }
        (count > 0).then(|| (sum as f64 / count as f64 / 1e6, dropped))
    }
}

impl RadioEvidence {
    /// Returns true if its driver reports airtime in both directions.
    pub(in crate::explain) fn reports_airtime(&self) -> bool {
        self.has_airtime == [true; 2]
    }

    fn add(&mut self, quantity: Observable, span: Span, value: u64, buckets: Buckets) {
        match quantity {
            Observable::Frequency => self.frequency_mhz = u32::try_from(value).ok(),
            Observable::OnChannel => {
                span.spread(&mut self.survey, buckets, value, |bin, part| {
                    add(&mut bin.on_channel, part)
                });
            }
            _ => span.spread(&mut self.survey, buckets, value, |bin, part| add(&mut bin.busy, part)),
        }
    }

    /// Share of the time in the bins of a mask in which the channel was busy; `None` if the driver has no survey.
    pub(in crate::explain) fn busy(&self, mask: &[bool]) -> Option<f64> {
        let wanted = self.survey.values().iter().zip(mask).filter(|(_, wanted)| **wanted);
        let (busy, all) = wanted.fold((0_u64, 0_u64), |(busy, all), (bin, _)| {
            (busy.saturating_add(bin.busy), all.saturating_add(bin.on_channel))
        });
        (all > 0).then(|| busy as f64 / all as f64)
    }

    /// Airtime in ns to and from a device in the bins of a mask: reported, or else estimated.
    pub(in crate::explain) fn airtime(&self, device: &DeviceEvidence, mask: &[bool]) -> [u64; 2] {
        let mut sum = [0_u64; 2];
        for (bin, _) in device.bins.values().iter().zip(mask).filter(|(_, wanted)| **wanted) {
            for (direction, sum) in sum.iter_mut().enumerate() {
                let reported = self.has_airtime[direction];
                let of = if reported { bin.reported } else { bin.estimated };
                add(sum, of[direction]);
            }
        }
        sum
    }

    /// Returns true if one of its devices is that station.
    pub(in crate::explain) fn has(&self, station: usize) -> bool {
        self.devices.values().any(|device| device.station == Some(station))
    }

    /// Airtime in ns of all devices in the bins of a mask.
    pub(in crate::explain) fn all_airtime(&self, mask: &[bool]) -> u64 {
        let devices = self.devices.values().flat_map(|device| self.airtime(device, mask));
        devices.fold(0, u64::saturating_add)
    }
}

impl DeviceEvidence {
    fn add(&mut self, quantity: Observable, span: Span, value: u64, buckets: Buckets) {
        let (down, up) = (0, 1);
        match quantity {
            Observable::RateDown => self.rates[down] = Some(value),
            Observable::RateUp => self.rates[up] = Some(value),
            Observable::AirtimeDown => self.reported(span, down, value, buckets),
            Observable::AirtimeUp => self.reported(span, up, value, buckets),
            Observable::BytesDown => self.estimated(span, down, value, buckets),
            Observable::BytesUp => self.estimated(span, up, value, buckets),
            _ => {}
        }
    }

    fn reported(&mut self, span: Span, direction: usize, value: u64, buckets: Buckets) {
        span.spread(&mut self.bins, buckets, value, |bin, part| {
            add(&mut bin.reported[direction], part)
        });
    }

    /// Estimates the airtime of bytes from the rate of the last frame.
    fn estimated(&mut self, span: Span, direction: usize, bytes: u64, buckets: Buckets) {
        add(&mut self.bytes, bytes);
        let Some(rate) = self.rates[direction].filter(|rate| *rate > 0) else {
            return;
        };
        let took = (bytes as f64 * 8e9 / (rate as f64 * OF_RATE)) as u64;
        span.spread(&mut self.bins, buckets, took, |bin, part| {
            add(&mut bin.estimated[direction], part)
        });
    }
}

impl QueueEvidence {
    fn add(&mut self, row: &ObservedRow, span: Span, value: u64, buckets: Buckets) {
        match row.quantity {
            Observable::ShaperRate => self.rate = Some(value),
            Observable::QueueSent => {
                span.spread(&mut self.bins, buckets, value, |bin, part| add(&mut bin.sent, part));
                let length = row.span.as_nanos();
                span.spread(&mut self.bins, buckets, length, |bin, part| add(&mut bin.span, part));
            }
            Observable::QueueDrops => {
                span.spread(&mut self.bins, buckets, value, |bin, part| add(&mut bin.drops, part));
            }
            _ => span.spread(&mut self.bins, buckets, value, |bin, part| add(&mut bin.marks, part)),
        }
    }

    /// The bins of a mask in which the queue sent `share` of its rate or more, and the number of those in which it sent
    /// something.
    pub(in crate::explain) fn full(&self, mask: &[bool], share: f64) -> (Vec<bool>, usize) {
        let rate = self.rate.unwrap_or(u64::MAX) as f64;
        let bins = || self.bins.values().iter().zip(mask);
        let is_full = |(bin, wanted): (&QueueBin, &bool)| *wanted && bin.sent > 0 && bin.bps() >= share * rate;
        let used = bins().filter(|(bin, wanted)| **wanted && bin.sent > 0).count();
        (bins().map(is_full).collect(), used)
    }

    /// Work of the queue in the bins of a mask.
    pub(in crate::explain) fn sum(&self, mask: &[bool]) -> QueueBin {
        let mut sum = QueueBin::default();
        for (bin, _) in self.bins.values().iter().zip(mask).filter(|(_, wanted)| **wanted) {
            sum.sent = sum.sent.saturating_add(bin.sent);
            sum.span = sum.span.saturating_add(bin.span);
            sum.drops = sum.drops.saturating_add(bin.drops);
            sum.marks = sum.marks.saturating_add(bin.marks);
        }
        sum
    }
}

impl QueueBin {
    /// Mean rate in bit/s; 0 if unknown.
    pub(in crate::explain) fn bps(&self) -> f64 {
        self.sent as f64 * 8e9 / self.span.max(1) as f64
    }
}

/// Maximum number of access points. Further ones are ignored.
const MAX_ACCESS_POINTS: usize = 64;

impl Evidence {
    /// Adds a value of an observed access point.
    pub(super) fn observed(&mut self, row: &ObservedRow) {
        let name = &*row.access_point;
        if self.access_points.len() >= MAX_ACCESS_POINTS && !self.access_points.contains_key(name) {
            return;
        }
        let buckets = self.buckets;
        let station = row
            .station
            .map(usize::from)
            .filter(|station| *station < self.stations.len());
        if let Some(seen) = station.and_then(|station| self.stations.get_mut(station)) {
            seen.observed_rates.observed(row);
        }
        let access_point = self.access_points.entry(name.to_owned());
        access_point
            .or_insert_with(|| ApEvidence::new(buckets))
            .add(row, station, buckets);
    }

    /// All radios of observed access points, each with its access point.
    pub(in crate::explain) fn observed_radios(&self) -> impl Iterator<Item = (&ApEvidence, &RadioEvidence)> {
        let access_points = self.access_points.values();
        access_points.flat_map(|access_point| access_point.radios.values().map(move |radio| (access_point, radio)))
    }

    /// Returns true if an observed access point has a device with the station's address.
    pub(in crate::explain) fn is_recognised(&self, station: usize) -> bool {
        self.observed_radios().any(|(_, radio)| radio.has(station))
    }
}
