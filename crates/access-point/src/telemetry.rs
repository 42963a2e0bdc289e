//! From the answers of an access point to rows of the record.

use crate::snapshot::{Radio, Snapshot};
use crate::state::{Backlog, Processor, Softnet, StationState, SurveyState};
use crate::syslog::{LogEvent, LogReader, LogReading};
use netburn_record::{AccessPointEvent, Bssid, EventKind, EventRow, Observable, ObservedRow, Row};
use netburn_units::{Duration, Instant};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

/// Most addresses of stations of the plan.
const MAX_KNOWN: usize = 4096;

/// IP addresses from which the stations of a run connect. The neighbours of an access point show which of its stations has
/// such an address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses(BTreeMap<IpAddr, u16>);

impl Addresses {
    /// Stations by number in the plan. Of several stations with one address, the first counts: they are on one device.
    pub fn new(stations: impl IntoIterator<Item = (IpAddr, u16)>) -> Addresses {
        let mut known = BTreeMap::new();
        for (address, station) in stations {
            known.entry(address.to_canonical()).or_insert(station);
        }
        Addresses(known)
    }

    fn station(&self, address: &IpAddr) -> Option<u16> {
        self.0.get(&address.to_canonical()).copied()
    }
}

/// An observed access point during a run.
///
/// **Call order:** [`handle_description`](Self::handle_description) after each connection, [`handle_sample`](Self::handle_sample)
/// for each sample in order of time, [`handle_log`](Self::handle_log) for each reading of its log,
/// [`handle_radios`](Self::handle_radios) for each further reading of its radios,
/// [`handle_lost`](Self::handle_lost) when the connection fails. After each, drain [`poll_row`](Self::poll_row).
#[derive(Debug)]
pub struct AccessPointTelemetry {
    name: Cow<'static, str>,
    addresses: Addresses,
    /// Stations of the plan by the address of their interface.
    stations: BTreeMap<Bssid, u16>,
    radios: Vec<Radio>,
    /// The settings of the radios become rows with the next sample.
    are_radios_new: bool,
    last: Option<(Instant, Snapshot)>,
    log: LogReader,
    lost: bool,
    described: bool,
    rows: VecDeque<Row>,
}

impl AccessPointTelemetry {
    /// An access point of that name, with the addresses of the stations of the run.
    #[must_use]
    pub fn new(name: &str, addresses: Addresses) -> AccessPointTelemetry {
        AccessPointTelemetry {
            name: Cow::Owned(name.to_owned()),
            addresses,
            stations: BTreeMap::new(),
            radios: Vec::new(),
            are_radios_new: false,
            last: None,
            log: LogReader::default(),
            lost: false,
            described: false,
            rows: VecDeque::new(),
        }
    }

    /// Next row.
    pub fn poll_row(&mut self) -> Option<Row> {
        self.rows.pop_front()
    }

    /// Handles the description of the access point: facts by topic, and its radios.
    pub fn handle_description(&mut self, now: Instant, facts: BTreeMap<String, String>, radios: Vec<Radio>) {
        if std::mem::take(&mut self.lost) && self.described {
            self.event(now, None, AccessPointEvent::Returned { name: self.name() });
        }
        self.handle_radios(now, radios);
        self.are_radios_new = true;
        if !self.described {
            self.described = true;
            self.event(
                now,
                None,
                AccessPointEvent::Described {
                    name: self.name(),
                    facts,
                },
            );
        }
    }

    /// Handles the settings of the radios, which were read again. A change of the channel or its width is an event. They become
    /// rows with the next sample.
    pub fn handle_radios(&mut self, now: Instant, radios: Vec<Radio>) {
        let before = std::mem::replace(&mut self.radios, radios.clone());
        self.are_radios_new |= before != radios;
        for radio in radios {
            let Some(last) = before.iter().find(|last| last.interface == radio.interface) else {
                continue;
            };
            let Some(frequency_mhz) = radio.frequency_mhz else {
                continue;
            };
            let has_changed = |before: Option<u32>, after: Option<u32>| after.is_some() && before != after;
            if last.frequency_mhz.is_some()
                && (has_changed(last.frequency_mhz, radio.frequency_mhz)
                    || has_changed(last.width_mhz, radio.width_mhz))
            {
                let event = AccessPointEvent::ChannelChanged {
                    name: self.name(),
                    interface: radio.interface,
                    frequency_mhz,
                    width_mhz: radio.width_mhz,
                };
                self.event(now, None, event);
            }
        }
    }

    /// Handles the end of a connection, or that none is possible. The reason is a clause.
    pub fn handle_lost(&mut self, now: Instant, reason: &str) {
        if self.lost {
            return;
        }
        self.lost = true;
        let (name, reason) = (self.name(), reason.to_owned());
        let event = if self.described {
            AccessPointEvent::Lost { name, reason }
        } else {
            AccessPointEvent::Unreachable { name, reason }
        };
        self.event(now, None, event);
    }

    /// Handles a sample that was taken at `now`. `response` is the time from its request to its end.
    pub fn handle_sample(&mut self, now: Instant, snapshot: Snapshot, response: Duration) {
        let known = snapshot.neighbours.iter();
        let known = known.filter_map(|(address, mac)| Some((*mac, self.addresses.station(address)?)));
        // An entry that the access point has forgotten stays, but not more than a run needs.
        for (mac, station) in known {
            if self.stations.len() < MAX_KNOWN || self.stations.contains_key(&mac) {
                self.stations.insert(mac, station);
            }
        }
        for station in &snapshot.stations {
            self.log.place(station.address, &station.interface);
        }
        let mut last = self.last.take();
        let restarted = last
            .as_ref()
            .and_then(|(_, last)| snapshot.uptime_ms.zip(last.uptime_ms))
            .is_some_and(|(now, before)| now < before);
        if restarted {
            self.event(now, None, AccessPointEvent::Restarted { name: self.name() });
            last = None;
        }
        let span = last.as_ref().map_or(Duration::ZERO, |(before, _)| {
            now.checked_since(*before).unwrap_or_default()
        });
        let empty = Snapshot::default();
        let before = last.as_ref().map_or(&empty, |(_, last)| last);
        if last.is_some() {
            self.associations(now, before, &snapshot, span);
        }
        let mut sample = Sample {
            telemetry: self,
            now,
            span,
        };
        sample.stations(before, &snapshot);
        sample.radios(before, &snapshot);
        sample.queues(before, &snapshot);
        sample.host(before, &snapshot);
        // Its span is the time that the sample covers.
        sample.row(None, Observable::ObserverResponse, span, clamped(response.as_nanos()));
        self.last = Some((now, snapshot));
    }

    /// Handles a reading of the system log at `now`.
    pub fn handle_log(&mut self, now: Instant, reading: LogReading) {
        let new = self.log.handle(now, reading);
        if let Some(before) = new.incomplete_before {
            self.event(before, None, AccessPointEvent::LogIncomplete { name: self.name() });
        }
        for event in new.events {
            let LogEvent {
                at,
                interface,
                address,
                what,
            } = event;
            let station = address.and_then(|address| self.stations.get(&address).copied());
            let logged = AccessPointEvent::Logged {
                name: self.name(),
                interface,
                address: address.map(|address| address.to_string()),
                what,
            };
            self.event(at, station, logged);
        }
    }

    /// Stations that joined or left an interface since the previous sample.
    fn associations(&mut self, now: Instant, before: &Snapshot, snapshot: &Snapshot, span: Duration) {
        let known = |snapshot: &Snapshot| -> BTreeMap<(String, Bssid), Option<u64>> {
            let key = |station: &StationState| ((station.interface.clone(), station.address), station.connected_s);
            snapshot.stations.iter().map(key).collect()
        };
        let (was, is) = (known(before), known(snapshot));
        let all: BTreeSet<_> = was.keys().chain(is.keys()).cloned().collect();
        for (interface, address) in all {
            let key = (interface, address);
            let (earlier, later) = (was.get(&key), is.get(&key));
            let again = match (earlier, later) {
                (Some(earlier), Some(later)) => is_new_association(*earlier, *later, span),
                _ => false,
            };
            let (interface, name) = (key.0, self.name());
            let station = self.stations.get(&address).copied();
            let address = address.to_string();
            if later.is_none() || again {
                let (name, interface, address) = (name.clone(), interface.clone(), address.clone());
                let left = AccessPointEvent::Left {
                    name,
                    interface,
                    address,
                };
                self.event(now, station, left);
            }
            if earlier.is_none() || again {
                let joined = AccessPointEvent::Joined {
                    name,
                    interface,
                    address,
                };
                self.event(now, station, joined);
            }
        }
    }

    fn name(&self) -> String {
        self.name.clone().into_owned()
    }

    fn event(&mut self, at: Instant, station: Option<u16>, event: AccessPointEvent) {
        self.rows.push_back(Row::Event(EventRow {
            station,
            workload: None,
            at,
            length: 0,
            kind: EventKind::AccessPoint,
            detail: event.into(),
        }));
    }
}

/// Returns true if a station was connected for less time than has passed since it was connected for `before` seconds.
fn is_new_association(before: Option<u64>, after: Option<u64>, span: Duration) -> bool {
    /// The kernel rounds to seconds, at both samples.
    const ROUNDING: u64 = 2;
    let span = span.as_nanos() / 1_000_000_000;
    before
        .zip(after)
        .is_some_and(|(before, after)| after.saturating_add(ROUNDING) < before.saturating_add(span))
}

/// A sample while its rows are made.
struct Sample<'a> {
    telemetry: &'a mut AccessPointTelemetry,
    now: Instant,
    span: Duration,
}

impl Sample<'_> {
    fn stations(&mut self, before: &Snapshot, snapshot: &Snapshot) {
        for station in &snapshot.stations {
            let same = |known: &&StationState| known.address == station.address && known.interface == station.interface;
            // After a new association its counters begin again.
            let last = before
                .stations
                .iter()
                .find(same)
                .filter(|last| !is_new_association(last.connected_s, station.connected_s, self.span));
            let subject = Some((station.interface.as_str(), Some(station.address)));
            self.value(subject, Observable::Signal, station.signal);
            self.value(subject, Observable::RateDown, station.rate_down.map(clamped));
            self.value(subject, Observable::RateUp, station.rate_up.map(clamped));
            self.value(subject, Observable::AirtimePending, station.pending_us.map(nanos));
            type Counter = (Observable, fn(&StationState) -> Option<u64>, u64);
            const COUNTERS: [Counter; 6] = [
                (Observable::BytesDown, |s| s.bytes_down, 1),
                (Observable::BytesUp, |s| s.bytes_up, 1),
                (Observable::RetriesDown, |s| s.retries, 1),
                (Observable::FailedDown, |s| s.failed, 1),
                (Observable::AirtimeDown, |s| s.airtime_down_us, NANOS_PER_MICRO),
                (Observable::AirtimeUp, |s| s.airtime_up_us, NANOS_PER_MICRO),
            ];
            for (quantity, of, scale) in COUNTERS {
                self.increase(subject, quantity, last.and_then(of), of(station), scale);
            }
            if let Some(backlog) = &station.backlog {
                self.backlog(subject, last.and_then(|last| last.backlog).as_ref(), backlog);
            }
        }
    }

    fn backlog(&mut self, subject: Subject<'_>, before: Option<&Backlog>, backlog: &Backlog) {
        self.value(subject, Observable::QueuedBytes, Some(clamped(backlog.bytes)));
        self.value(subject, Observable::QueuedPackets, Some(clamped(backlog.packets)));
        let drops = before.map(|before| before.drops);
        self.increase(subject, Observable::QueueDrops, drops, Some(backlog.drops), 1);
        let marks = before.map(|before| before.marks);
        self.increase(subject, Observable::QueueMarks, marks, Some(backlog.marks), 1);
    }

    fn radios(&mut self, before: &Snapshot, snapshot: &Snapshot) {
        let is_new = std::mem::take(&mut self.telemetry.are_radios_new);
        let radios = if is_new {
            self.telemetry.radios.clone()
        } else {
            Vec::new()
        };
        for radio in radios {
            let subject = Some((radio.interface.as_str(), None));
            self.value(subject, Observable::Frequency, radio.frequency_mhz.map(i64::from));
            self.value(subject, Observable::Width, radio.width_mhz.map(i64::from));
            self.value(subject, Observable::Power, radio.power);
        }
        for survey in &snapshot.surveys {
            let subject = Some((survey.interface.as_str(), None));
            self.value(subject, Observable::Noise, survey.noise);
            self.value(subject, Observable::Frequency, Some(survey.frequency_mhz.into()));
            let last = before
                .surveys
                .iter()
                .find(|last| last.interface == survey.interface && last.frequency_mhz == survey.frequency_mhz);
            // Some drivers clear their counters when they are read. Then none of them has an increase.
            let increase = |of: fn(&SurveyState) -> Option<u64>| of(survey)?.checked_sub(last.and_then(of)?);
            let all = [
                (Observable::OnChannel, increase(|survey| survey.on_channel_ms)),
                (Observable::Busy, increase(|survey| survey.busy_ms)),
                (Observable::Receiving, increase(|survey| survey.receiving_ms)),
                (Observable::Sending, increase(|survey| survey.sending_ms)),
            ];
            let [(_, on_channel), (_, busy), ..] = all;
            if on_channel
                .zip(busy)
                .is_some_and(|(on_channel, busy)| busy <= on_channel)
            {
                let span = self.span;
                for (quantity, gain) in all {
                    if let Some(gain) = gain {
                        self.row(subject, quantity, span, clamped(gain.saturating_mul(NANOS_PER_MILLI)));
                    }
                }
            }
        }
    }

    fn queues(&mut self, before: &Snapshot, snapshot: &Snapshot) {
        for queue in &snapshot.queues {
            let last = before.queues.iter().find(|last| last.name == queue.name);
            // A queue that sent nothing so far is not in use.
            if queue.sent_bytes == 0 {
                continue;
            }
            let subject = Some((queue.name.as_str(), None));
            let sent = last.map(|last| last.sent_bytes);
            self.increase(subject, Observable::QueueSent, sent, Some(queue.sent_bytes), 1);
            self.value(subject, Observable::QueuedBytes, Some(clamped(queue.bytes)));
            self.value(subject, Observable::QueuedPackets, queue.packets.map(clamped));
            self.increase(
                subject,
                Observable::QueueDrops,
                last.map(|last| last.drops),
                Some(queue.drops),
                1,
            );
            let marks = last.and_then(|last| last.marks);
            self.increase(subject, Observable::QueueMarks, marks, queue.marks, 1);
            self.value(subject, Observable::QueueDelay, queue.delay_us.map(nanos));
            self.value(subject, Observable::ShaperRate, queue.rate.map(clamped));
        }
    }

    fn host(&mut self, before: &Snapshot, snapshot: &Snapshot) {
        let processors = || before.processors.iter().zip(&snapshot.processors);
        let share = |of: fn(&Processor) -> u64, (last, now): (&Processor, &Processor)| {
            let total = now.total.checked_sub(last.total).filter(|total| *total > 0)?;
            let gain = of(now).checked_sub(of(last))?.min(total);
            i64::try_from(u128::from(gain) * 1_000_000 / u128::from(total)).ok()
        };
        let most = |of| processors().filter_map(|pair| share(of, pair)).max();
        self.value(None, Observable::ProcessorBusy, most(|processor| processor.busy));
        self.value(None, Observable::ProcessorSoftirq, most(|processor| processor.softirq));
        let (last, now) = (before.softnet, snapshot.softnet);
        let dropped = |softnet: Softnet| softnet.dropped;
        let squeezed = |softnet: Softnet| softnet.squeezed;
        self.increase(None, Observable::SoftnetDropped, last.map(dropped), now.map(dropped), 1);
        self.increase(
            None,
            Observable::SoftnetSqueezed,
            last.map(squeezed),
            now.map(squeezed),
            1,
        );
        self.value(
            None,
            Observable::MemoryAvailable,
            snapshot.memory_available.map(clamped),
        );
        self.increase(None, Observable::ObserverProcessor, before.cost_ns, snapshot.cost_ns, 1);
    }

    /// Adds the increase of a counter, if both values are known and it did not begin again.
    fn increase(
        &mut self,
        subject: Subject<'_>,
        quantity: Observable,
        before: Option<u64>,
        after: Option<u64>,
        scale: u64,
    ) {
        let Some(gain) = before.zip(after).and_then(|(before, after)| after.checked_sub(before)) else {
            return;
        };
        let (span, value) = (self.span, clamped(gain.saturating_mul(scale)));
        self.row(subject, quantity, span, value);
    }

    /// Adds a value that is no increase.
    fn value(&mut self, subject: Subject<'_>, quantity: Observable, value: Option<i64>) {
        if let Some(value) = value {
            self.row(subject, quantity, Duration::ZERO, value);
        }
    }

    fn row(&mut self, subject: Subject<'_>, quantity: Observable, span: Duration, value: i64) {
        let (part, address) = subject.map_or((None, None), |(part, address)| (Some(part.to_owned()), address));
        let station = address.and_then(|address| self.telemetry.stations.get(&address).copied());
        let row = ObservedRow {
            access_point: self.telemetry.name.clone(),
            at: self.now,
            span,
            part,
            station,
            address,
            quantity,
            value,
        };
        self.telemetry.rows.push_back(Row::Observed(row));
    }
}

/// Subject of a value: an interface or queue, with the address of a station; `None` for the whole device.
type Subject<'a> = Option<(&'a str, Option<Bssid>)>;

const NANOS_PER_MICRO: u64 = 1_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

fn clamped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn nanos(micros: u64) -> i64 {
    clamped(micros.saturating_mul(NANOS_PER_MICRO))
}
