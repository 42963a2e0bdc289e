//! Reports of observed access points during the load.

use crate::row::{AccessPointEvent, Bssid, Detail, EventRow, Logged, Observable, ObservedRow};
use netburn_units::Instant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most radios, stations and queues of an access point. Further ones do not count.
const MAX_PARTS: usize = 1024;
/// Most events of an access point.
const MAX_EVENTS: usize = 200;
/// Most access points.
const MAX_ACCESS_POINTS: usize = 64;

/// An observed access point during the load.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AccessPointSummary {
    /// Name.
    pub name: String,
    /// Description: texts by topic, such as `kernel`.
    pub facts: BTreeMap<String, String>,
    /// Number of samples.
    pub samples: u64,
    /// Number of times at which it was no longer observed.
    pub lost: u64,
    /// Number of times at which it started again.
    pub restarts: u64,
    /// Processor time of the observation itself, as a share of one of its processors.
    pub observer_share: Option<f64>,
    /// Mean and maximum use of its busiest processor.
    pub processor_busy: Option<[f64; 2]>,
    /// Packets that the backlog of a processor dropped.
    pub softnet_dropped: u64,
    /// Radios by interface.
    pub radios: Vec<ObservedRadio>,
    /// Stations, in the plan or not, by interface and address.
    pub stations: Vec<ObservedStation>,
    /// Queues of network interfaces.
    pub queues: Vec<ObservedQueue>,
    /// Events of its system log, and changes of channels, in order of time. The summary of several runs has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ObservedEvent>,
    /// Number of further events.
    #[serde(default)]
    pub more_events: u64,
    /// Time in s before which its system log may be incomplete.
    #[serde(default)]
    pub log_incomplete_before_s: Option<f64>,
}

/// Event of the system log of an observed access point, or change of a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedEvent {
    /// Time in s. The log has it in seconds.
    pub at_s: f64,
    /// The station's name in the plan; `None` if it takes no part in the run, or the event concerns none.
    pub station: Option<String>,
    /// Address of the station.
    pub address: Option<String>,
    /// Interface of the radio.
    pub interface: Option<String>,
    /// The event.
    pub what: Logged,
}

/// A radio of an observed access point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ObservedRadio {
    /// Interface.
    pub interface: String,
    /// Centre of its primary channel, as it was last.
    pub frequency_mhz: Option<i64>,
    /// Width of its channel, as it was last.
    pub width_mhz: Option<i64>,
    /// Mean share of the time in which its channel was busy.
    pub busy_share: Option<f64>,
    /// Share of the time for frames to and from its stations.
    pub airtime_share: Option<f64>,
}

/// A station of an observed access point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ObservedStation {
    /// The station's name in the plan; `None` if it takes no part in the run.
    pub station: Option<String>,
    /// Address.
    pub address: String,
    /// Interface.
    pub interface: String,
    /// The weakest and the strongest signal in dBm.
    pub signal_dbm: Option<[f64; 2]>,
    /// The slowest and the fastest rate to it.
    pub down_mbps: Option<[f64; 2]>,
    /// The slowest and the fastest rate from it.
    pub up_mbps: Option<[f64; 2]>,
    /// Share of the time for frames to and from it.
    pub airtime_share: Option<f64>,
    /// Retransmissions to it.
    pub retries: u64,
    /// Frames to it that were given up.
    pub failed: u64,
    /// Maximum number of packets that waited for it.
    pub max_queued_packets: Option<i64>,
    /// Packets that its queue dropped.
    pub drops: u64,
    /// Packets that its queue marked (ECN CE).
    pub marks: u64,
}

/// A queue of a network interface of an observed access point.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ObservedQueue {
    /// Interface, kind and part: `eth1 cake tin 2`.
    pub name: String,
    /// Mean rate.
    pub mbps: Option<f64>,
    /// Rate of its shaper, as it was last.
    pub shaper_mbps: Option<f64>,
    /// Mean delay of its packets, if the queue reports it: the maximum over the samples.
    pub max_delay_ms: Option<f64>,
    /// Dropped packets.
    pub drops: u64,
    /// Marked packets.
    pub marks: u64,
}

/// Counts for the summaries of all access points.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessPointCounter(BTreeMap<String, Counts>);

#[derive(Debug, Clone, Default)]
struct Counts {
    facts: BTreeMap<String, String>,
    lost: u64,
    restarts: u64,
    host: Values,
    parts: BTreeMap<(String, Option<Bssid>), Values>,
    /// Names of stations of the plan, by address.
    names: BTreeMap<Bssid, u16>,
    events: Vec<Event>,
    more_events: u64,
    log_incomplete_before: Option<Instant>,
}

/// An event of the system log, with the number of its station in the plan.
#[derive(Debug, Clone)]
struct Event {
    at: Instant,
    station: Option<u16>,
    interface: Option<String>,
    address: Option<String>,
    what: Logged,
}

/// Values of one subject.
#[derive(Debug, Clone, Default)]
struct Values(BTreeMap<Observable, Range>);

#[derive(Debug, Clone, Copy)]
struct Range {
    count: u64,
    sum: i128,
    low: i64,
    high: i64,
    last: i64,
    /// Sum of the times that the values cover, in ns.
    span: u128,
}

impl AccessPointCounter {
    pub(crate) fn row(&mut self, row: &ObservedRow, end: Instant) {
        // An increase belongs to the time before the sample.
        let at = row.at.checked_sub(row.span / 2).unwrap_or(row.at);
        if at < Instant::ZERO || at > end {
            return;
        }
        let Some(counts) = self.counts(&row.access_point) else {
            return;
        };
        if let (Some(address), Some(station)) = (row.address, row.station) {
            counts.names.insert(address, station);
        }
        let values = match &row.part {
            None => &mut counts.host,
            Some(part) => {
                let key = (part.clone(), row.address);
                if counts.parts.len() >= MAX_PARTS && !counts.parts.contains_key(&key) {
                    return;
                }
                counts.parts.entry(key).or_default()
            }
        };
        values.add(row);
    }

    pub(crate) fn event(&mut self, row: &EventRow, end: Instant) {
        let Detail::AccessPoint(event) = &row.detail else {
            return;
        };
        let Some(counts) = self.counts(event.name()) else {
            return;
        };
        match &**event {
            AccessPointEvent::Described { facts, .. } => counts.facts.clone_from(facts),
            AccessPointEvent::Lost { .. } if (Instant::ZERO..=end).contains(&row.at) => counts.lost += 1,
            AccessPointEvent::Lost { .. } => {}
            AccessPointEvent::Restarted { .. } => counts.restarts += 1,
            AccessPointEvent::Logged {
                interface,
                address,
                what,
                ..
            } if (Instant::ZERO..=end).contains(&row.at) => counts.add_event(Event {
                at: row.at,
                station: row.station,
                interface: interface.clone(),
                address: address.clone(),
                what: what.clone(),
            }),
            AccessPointEvent::ChannelChanged {
                interface,
                frequency_mhz,
                ..
            } if (Instant::ZERO..=end).contains(&row.at) => counts.add_event(Event {
                at: row.at,
                station: None,
                interface: Some(interface.clone()),
                address: None,
                what: Logged::ChannelChanged {
                    frequency_mhz: *frequency_mhz,
                },
            }),
            AccessPointEvent::ChannelChanged { .. } => {}
            AccessPointEvent::LogIncomplete { .. } if row.at > Instant::ZERO => {
                counts.log_incomplete_before = Some(row.at.min(end));
            }
            AccessPointEvent::Logged { .. } | AccessPointEvent::LogIncomplete { .. } => {}
            AccessPointEvent::Unreachable { .. }
            | AccessPointEvent::Joined { .. }
            | AccessPointEvent::Left { .. }
            | AccessPointEvent::Returned { .. } => {}
        }
    }

    fn counts(&mut self, name: &str) -> Option<&mut Counts> {
        if self.0.len() >= MAX_ACCESS_POINTS && !self.0.contains_key(name) {
            return None;
        }
        Some(self.0.entry(name.to_owned()).or_default())
    }

    /// Pools what another run counted.
    pub(crate) fn add(&mut self, other: AccessPointCounter) {
        for (name, counts) in other.0 {
            let Some(own) = self.counts(&name) else { continue };
            own.facts.extend(counts.facts);
            own.lost += counts.lost;
            own.restarts += counts.restarts;
            own.host.pool(&counts.host);
            own.names.extend(counts.names);
            for (key, values) in counts.parts {
                own.parts.entry(key).or_default().pool(&values);
            }
        }
    }

    /// The summaries. `name` returns the name of a station of the plan.
    pub(crate) fn summaries(self, name: &dyn Fn(u16) -> Option<String>) -> Vec<AccessPointSummary> {
        let counts = self.0.into_iter();
        counts.map(|(of, counts)| counts.summary(of, name)).collect()
    }
}

impl Counts {
    fn add_event(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.more_events += 1;
        } else {
            self.events.push(event);
        }
    }

    fn summary(self, of: String, name: &dyn Fn(u16) -> Option<String>) -> AccessPointSummary {
        use Observable as Q;
        let mut summary = AccessPointSummary {
            name: of,
            facts: self.facts,
            samples: self.host.count(Q::ObserverResponse),
            lost: self.lost,
            restarts: self.restarts,
            observer_share: self.host.share(&[Q::ObserverProcessor]),
            processor_busy: self.host.mean_and_high(Q::ProcessorBusy),
            softnet_dropped: self.host.total(Q::SoftnetDropped),
            more_events: self.more_events,
            log_incomplete_before_s: self.log_incomplete_before.map(seconds),
            ..AccessPointSummary::default()
        };
        let mut events = self.events;
        events.sort_by_key(|event| event.at);
        let known = events.into_iter().map(|event| ObservedEvent {
            at_s: seconds(event.at),
            station: event.station.and_then(name),
            address: event.address,
            interface: event.interface,
            what: event.what,
        });
        summary.events = known.collect();
        let mut own: BTreeMap<&str, f64> = BTreeMap::new();
        for ((part, address), values) in &self.parts {
            if address.is_some()
                && let Some(share) = values.share(&[Q::AirtimeDown, Q::AirtimeUp])
            {
                *own.entry(part).or_default() += share;
            }
        }
        for ((part, address), values) in &self.parts {
            match address {
                Some(address) => summary.stations.push(ObservedStation {
                    station: self.names.get(address).and_then(|station| name(*station)),
                    address: address.to_string(),
                    interface: part.clone(),
                    signal_dbm: values.ends(Q::Signal, 100.0),
                    down_mbps: values.ends(Q::RateDown, 1e6),
                    up_mbps: values.ends(Q::RateUp, 1e6),
                    airtime_share: values.share(&[Q::AirtimeDown, Q::AirtimeUp]),
                    retries: values.total(Q::RetriesDown),
                    failed: values.total(Q::FailedDown),
                    max_queued_packets: values.get(Q::QueuedPackets).map(|range| range.high),
                    drops: values.total(Q::QueueDrops),
                    marks: values.total(Q::QueueMarks),
                }),
                None if values.get(Q::QueueSent).is_some() || values.get(Q::QueuedBytes).is_some() => {
                    summary.queues.push(ObservedQueue {
                        name: part.clone(),
                        mbps: values.share(&[Q::QueueSent]).map(|bytes_per_ns| bytes_per_ns * 8e3),
                        shaper_mbps: values.get(Q::ShaperRate).map(|range| range.last as f64 / 1e6),
                        max_delay_ms: values.get(Q::QueueDelay).map(|range| range.high as f64 / 1e6),
                        drops: values.total(Q::QueueDrops),
                        marks: values.total(Q::QueueMarks),
                    });
                }
                None => {
                    let on_channel = values.total(Q::OnChannel);
                    summary.radios.push(ObservedRadio {
                        interface: part.clone(),
                        frequency_mhz: values.get(Q::Frequency).map(|range| range.last),
                        width_mhz: values.get(Q::Width).map(|range| range.last),
                        busy_share: (on_channel > 0).then(|| values.total(Q::Busy) as f64 / on_channel as f64),
                        airtime_share: own.get(part.as_str()).copied(),
                    });
                }
            }
        }
        summary
    }
}

fn seconds(at: Instant) -> f64 {
    at.as_nanos() as f64 / 1e9
}

impl Values {
    fn add(&mut self, row: &ObservedRow) {
        let one = Range {
            count: 1,
            sum: row.value.into(),
            low: row.value,
            high: row.value,
            last: row.value,
            span: row.span.as_nanos().into(),
        };
        self.pool_one(row.quantity, &one);
    }

    fn pool(&mut self, other: &Values) {
        for (quantity, range) in &other.0 {
            self.pool_one(*quantity, range);
        }
    }

    fn pool_one(&mut self, quantity: Observable, other: &Range) {
        self.0
            .entry(quantity)
            .and_modify(|range| {
                range.count = range.count.saturating_add(other.count);
                range.sum = range.sum.saturating_add(other.sum);
                range.low = range.low.min(other.low);
                range.high = range.high.max(other.high);
                range.last = other.last;
                range.span = range.span.saturating_add(other.span);
            })
            .or_insert(*other);
    }

    fn get(&self, quantity: Observable) -> Option<&Range> {
        self.0.get(&quantity)
    }

    fn count(&self, quantity: Observable) -> u64 {
        self.get(quantity).map_or(0, |range| range.count)
    }

    /// Sum of increases.
    fn total(&self, quantity: Observable) -> u64 {
        self.get(quantity)
            .map_or(0, |range| u64::try_from(range.sum).unwrap_or(0))
    }

    /// Sum of the increases of some quantities over the time that they cover; `None` if none is known.
    fn share(&self, quantities: &[Observable]) -> Option<f64> {
        let known: Vec<&Range> = quantities.iter().filter_map(|quantity| self.get(*quantity)).collect();
        let span = known.iter().map(|range| range.span).max().filter(|span| *span > 0)?;
        Some(known.iter().map(|range| range.sum as f64).sum::<f64>() / span as f64)
    }

    /// Lowest and highest value, in a larger unit.
    fn ends(&self, quantity: Observable, scale: f64) -> Option<[f64; 2]> {
        self.get(quantity)
            .map(|range| [range.low as f64 / scale, range.high as f64 / scale])
    }

    /// Mean and maximum of a share in millionths.
    fn mean_and_high(&self, quantity: Observable) -> Option<[f64; 2]> {
        self.get(quantity)
            .map(|range| [range.sum as f64 / range.count as f64 / 1e6, range.high as f64 / 1e6])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    fn row(part: Option<&str>, address: Option<Bssid>, quantity: Observable, value: i64, second: i64) -> ObservedRow {
        ObservedRow {
            access_point: "hall".into(),
            at: Instant::from_secs(second),
            span: Duration::from_secs(1),
            part: part.map(str::to_owned),
            station: address.filter(|address| address.0[5] == 1).map(|_| 0),
            address,
            quantity,
            value,
        }
    }

    #[test]
    fn shares_are_sums_over_the_time_that_they_cover() {
        let (phone, tv) = (Some(Bssid([2, 0, 0, 0, 0, 1])), Some(Bssid([2, 0, 0, 0, 0, 2])));
        let mut counter = AccessPointCounter::default();
        let end = Instant::from_secs(10);
        for second in 1..=4 {
            for (address, airtime) in [(phone, 100_000_000), (tv, 400_000_000)] {
                counter.row(
                    &row(Some("wlan0"), address, Observable::AirtimeDown, airtime, second),
                    end,
                );
                counter.row(&row(Some("wlan0"), address, Observable::AirtimeUp, 0, second), end);
            }
            counter.row(
                &row(Some("wlan0"), None, Observable::OnChannel, 1_000_000_000, second),
                end,
            );
            counter.row(&row(Some("wlan0"), None, Observable::Busy, 750_000_000, second), end);
            counter.row(
                &row(Some("eth0 cake"), None, Observable::QueueSent, 1_250_000, second),
                end,
            );
            counter.row(&row(None, None, Observable::ObserverProcessor, 15_000_000, second), end);
        }
        // Rows before and after the load do not count.
        counter.row(
            &row(Some("wlan0"), phone, Observable::AirtimeDown, 1_000_000_000, -1),
            end,
        );
        counter.row(
            &row(Some("wlan0"), phone, Observable::AirtimeDown, 1_000_000_000, 11),
            end,
        );
        let summaries = counter.summaries(&|station| Some(format!("station{station}")));
        let [hall] = summaries.as_slice() else {
            panic!("{summaries:?}")
        };
        let shares: Vec<_> = hall
            .stations
            .iter()
            .map(|s| (s.station.as_deref(), s.airtime_share))
            .collect();
        assert_eq!(shares, [(Some("station0"), Some(0.1)), (None, Some(0.4))]);
        assert_eq!(hall.radios[0].busy_share, Some(0.75));
        assert_eq!(hall.radios[0].airtime_share, Some(0.5));
        assert_eq!(hall.queues[0].mbps, Some(10.0));
        assert_eq!(hall.observer_share, Some(0.015));
    }
}
