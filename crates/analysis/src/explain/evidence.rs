//! Evidence for the rules, collected from a run's rows.

mod observed;
mod rates;

pub(super) use observed::{ApEvidence, RadioEvidence};
pub(super) use rates::Rates;

use netburn_record::aggregate::{AirSum, Bucketed, Buckets, ByteSum, Counted, Counting};
use netburn_record::self_check::{lab_reasons, standstill_limit};
use netburn_record::{
    AirRow, ConnectionRow, Detail, Environment, EventKind, EventRow, IntervalRow, LinkChange, LinkRow, QualityIssue,
    Row, Side,
};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::kinds::Transport;
use netburn_workload::{Config, Direction};
use std::collections::BTreeMap;

/// Maximum number of time bins of a station.
const BINS: u64 = 300;
/// Minimum bin. Shorter bins would split page loads.
const MIN_BIN: Duration = Duration::from_secs(1);
/// Noticeable round-trip time, for workloads without a goal.
const NOTICED: Duration = Duration::from_millis(100);
/// One-way delay that users notice in a call (ITU-T G.114), also for other streams.
const NOTICED_ONE_WAY: Duration = Duration::from_millis(150);
/// Maximum number of recorded waiting and roaming spans for each station; later ones are only
/// counted.
const MAX_SPANS: usize = 10_000;
/// Maximum number of recorded probes and packets for each station, and for all of them.
const MAX_ARRIVALS: usize = 20_000;
const MAX_ALL_ARRIVALS: usize = 2_000_000;
/// Maximum number of tracked connections. Of further ones only the round-trip times count.
const MAX_CONNECTIONS: usize = 100_000;
/// Content of a full segment over Ethernet with timestamps (RFC 9293, RFC 7323).
const SEGMENT: u64 = 1_448;
/// Minimum number of segments for a loss rate.
pub(super) const MIN_SEGMENTS: u64 = 500;
/// Content rate during airtime as a share of the link rate, with aggregates; the rest is preambles,
/// headers and overhead of frames.
pub(super) const OF_RATE: f64 = 0.7;
/// Maximum number of recorded quality issues.
const MAX_QUALITY_ISSUES: usize = 100;

/// Evidence for the rules, collected from a run's rows in bounded memory.
///
/// **Call order:** [`new`](Self::new), [`row`](Self::row) for every row of the run in any order (of several runs of one plan: all of
/// theirs), then [`likely_causes`](super::likely_causes).
#[derive(Debug, Clone)]
pub struct Evidence {
    pub(super) plan: Plan,
    pub(super) environment: Environment,
    pub(super) buckets: Buckets,
    counting: Counting,
    pub(super) stations: Vec<StationEvidence>,
    /// By station and workload; `None` if no operation can be late.
    limits: Vec<Vec<Option<Limits>>>,
    /// Round-trip times of connections that the server could not assign to a station.
    pub(super) unattributed_rtts: RoundTrips,
    /// Reasons for which no result is reliable, as reported by the component that forwarded the
    /// packets.
    pub(super) quality_issues: Vec<QualityIssue>,
    /// Observed access points, by name.
    pub(super) access_points: BTreeMap<String, ApEvidence>,
    /// Recorded probes and packets of all stations.
    arrivals: usize,
    /// Last counters of each connection, by station, side and port.
    connections: BTreeMap<(u16, Side, u16), Sent>,
}

/// One probe, or one packet that is not answered. Times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    /// Workload, and for packets the direction.
    pub(super) stream: (u16, bool),
    pub(super) due: i64,
    /// `None` if it was lost.
    pub(super) end: Option<i64>,
}

/// Limit of latency, and longest waiting time for an operation without an end.
#[derive(Debug, Clone, Copy)]
struct Limits {
    good: Duration,
    longest: Duration,
}

/// Evidence about one station.
#[derive(Debug, Clone)]
pub(super) struct StationEvidence {
    pub(super) bins: Bucketed<Bin>,
    /// Round trips of its uploads, as it saw them.
    pub(super) sending: RoundTrips,
    /// Round trips of its downloads, as measured by the server.
    pub(super) receiving: RoundTrips,
    /// TCP data sent to it, as counted by the server, and data that it sent.
    pub(super) to: Sent,
    pub(super) from: Sent,
    /// Its probes and packets that are not answered, until there are [`MAX_ARRIVALS`].
    pub(super) arrivals: Vec<Arrival>,
    /// Due time of the first one that was not recorded, in ns.
    missed_from: Option<i64>,
    /// Spans in which one of its operations missed its goal, in ns.
    pub(super) waits: Vec<(i64, i64)>,
    /// Roams: start and duration of the interruption, in ns.
    pub(super) roams: Vec<(i64, u64)>,
    /// Scans: start and duration with the returns, in ns.
    pub(super) scans: Vec<(i64, u64)>,
    pub(super) link: Link,
    pub(super) transitions: Transitions,
    /// Rates and signals in time, as its driver reports them, and as observed access points do.
    pub(super) rates: Rates,
    pub(super) observed_rates: Rates,
    /// True if its rows contain the airtime of networks that are not modelled.
    pub(super) knows_others: bool,
}

/// Values of a station in one bin, summed over all runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    pub(super) air: AirSum,
    pub(super) bytes: ByteSum,
    /// Number of operations that missed their goal, or stalls, it was part of.
    pub(super) waits: u64,
}

/// Evidence about a Wi-Fi link.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    /// Rates of the last frames, in bit/s.
    pub(super) down: Mean,
    pub(super) up: Mean,
    /// Share of the time in which the channel was busy, in millionths: before the load and during it.
    pub(super) busy_before: Mean,
    pub(super) busy: Mean,
    pub(super) frequency_mhz: Option<u32>,
    /// Received signal, in hundredths of a dBm: sum over the samples, and number of samples.
    signal: (i64, u32),
}

/// Answers of a station to BSS transition requests (802.11v), and disassociations by its access points.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transitions {
    pub(super) accepted: u64,
    pub(super) rejected: u64,
    pub(super) disassociated: u64,
}

impl Transitions {
    /// True if it rejects requests, and access points disassociate it then.
    pub(super) const fn is_forced(&self) -> bool {
        self.rejected > self.accepted && self.disassociated > 0
    }
}

/// Segments of TCP connections.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    /// Bytes that were acknowledged.
    pub(super) bytes: u64,
    /// Retransmitted segments.
    pub(super) retransmitted: u64,
}

/// A sum and a count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    sum: u128,
    pub(super) count: u64,
}

/// Distribution of round-trip times: counts by sixteenths of an octave.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundTrips {
    counts: Vec<u64>,
    pub(super) count: u64,
}

impl Evidence {
    /// Evidence of a run of that plan in that environment.
    #[must_use]
    pub fn new(plan: &Plan, environment: Environment) -> Self {
        let width = MIN_BIN.max(Duration::from_nanos(plan.duration.as_nanos().div_ceil(BINS)));
        let buckets = Buckets::covering(plan.duration, width);
        Evidence {
            buckets,
            counting: Counting::new(plan),
            stations: vec![StationEvidence::new(buckets); plan.stations.len()],
            limits: plan
                .stations
                .iter()
                .map(|station| {
                    station
                        .workloads
                        .iter()
                        .map(|w| Limits::from_config(&w.config))
                        .collect()
                })
                .collect(),
            plan: plan.clone(),
            environment,
            unattributed_rtts: RoundTrips::default(),
            quality_issues: Vec::new(),
            access_points: BTreeMap::new(),
            arrivals: 0,
            connections: BTreeMap::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, row: &Row) {
        match row {
            Row::Operation(row) => {
                if let Some(counted) = self.counting.operation(row) {
                    self.operation(&counted);
                }
            }
            Row::Interval(row) => self.interval(row),
            Row::Air(row) => self.air(row),
            Row::Connection(row) => {
                self.connection(row);
            }
            Row::Link(row) => self.link(row),
            Row::Observed(row) => self.observed(row),
            Row::Event(row) => self.event(row),
        }
    }

    /// Rules by which rows count.
    pub(crate) fn counting(&self) -> &Counting {
        &self.counting
    }

    /// Adds an operation that counts.
    pub(crate) fn operation(&mut self, counted: &Counted<'_>) {
        self.arrival(counted);
        let limits = counted
            .workload
            .and_then(|workload| self.limits[counted.station][workload]);
        let Some(Limits { good, longest }) = limits else { return };
        if counted.exceeds(good) {
            let due = counted.operation.due;
            let last = due.checked_add(longest).unwrap_or(due);
            let end = counted.operation.finished.unwrap_or(last);
            let is_lost = counted.latency.is_none();
            self.wait(counted.station, due, if is_lost { end.min(last) } else { end });
        }
    }

    /// Records a probe or a packet during the load.
    fn arrival(&mut self, counted: &Counted<'_>) {
        let Some(workload) = counted.workload else { return };
        let operation = counted.operation;
        let config = &self.plan.stations[counted.station].workloads[workload].config;
        let is_down = match config.kind().transport {
            Transport::Http => return,
            Transport::Echo => false,
            // Frames of a video end when their last packet arrives.
            Transport::OneWay if config.video().is_some() => return,
            Transport::OneWay => operation.sequence % 2 == 1,
        };
        if operation.due < Instant::ZERO {
            return;
        }
        let seen = &mut self.stations[counted.station];
        if seen.arrivals.len() >= MAX_ARRIVALS || self.arrivals >= MAX_ALL_ARRIVALS {
            let first = seen.missed_from.unwrap_or(i64::MAX);
            seen.missed_from = Some(first.min(operation.due.as_nanos()));
        } else {
            self.arrivals += 1;
            seen.arrivals.push(Arrival {
                stream: (workload as u16, is_down),
                due: operation.due.as_nanos(),
                end: counted
                    .latency
                    .and_then(|latency| operation.due.as_nanos().checked_add_unsigned(latency.as_nanos())),
            });
        }
    }

    /// Records that a station waited for an operation.
    fn wait(&mut self, station: usize, from: Instant, to: Instant) {
        let end = Instant::ZERO + self.plan.duration;
        let (from, to) = (from.max(Instant::ZERO), to.min(end));
        if to < from {
            return;
        }
        let Some(seen) = self.stations.get_mut(station) else {
            return;
        };
        let width = self.buckets.width().as_nanos() as i64;
        let (first, last) = (from.as_nanos() / width, to.as_nanos() / width);
        for bin in first..=last {
            if let Some(bin) = seen.bins.bucket(bin * width) {
                bin.waits += 1;
            }
        }
        if seen.waits.len() < MAX_SPANS {
            seen.waits.push((from.as_nanos(), to.as_nanos()));
        }
    }

    fn interval(&mut self, row: &IntervalRow) {
        if let Some(seen) = self.stations.get_mut(usize::from(row.station))
            && let Some(bin) = seen.bins.bucket(row.at.as_nanos())
        {
            bin.bytes.put(row);
        }
    }

    fn air(&mut self, row: &AirRow) {
        let Some(seen) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        seen.knows_others |= row.others.is_some();
        if let Some(bin) = seen.bins.bucket(row.at.as_nanos()) {
            bin.air.put(row);
        }
    }

    /// Adds a sample of a connection. Returns true if its round-trip time was measured since the previous sample.
    ///
    /// A sender measures the round trip from acknowledgements of new data (RFC 6298, section 3). At the receiving end the
    /// value does not change while data arrive.
    pub(crate) fn connection(&mut self, row: &ConnectionRow) -> bool {
        // A connection without a round-trip time yet reports 0.
        if !self.sent(row) || row.rtt_us == 0 {
            return false;
        }
        if row.at < Instant::ZERO {
            return true;
        }
        let planned = self.plan.stations.get(usize::from(row.station));
        let config = planned.and_then(|s| Some(&s.workloads.get(usize::from(row.workload))?.config));
        let uploads = config.is_some_and(|config| config.direction() == Direction::Up);
        match (self.stations.get_mut(usize::from(row.station)), row.side) {
            (Some(seen), Side::Station) if uploads => seen.sending.add(row.rtt_us.into()),
            (Some(seen), Side::Server) if !uploads => seen.receiving.add(row.rtt_us.into()),
            (None, Side::Server) => self.unattributed_rtts.add(row.rtt_us.into()),
            _ => {}
        }
        true
    }

    /// Adds the data that a connection sent since its previous sample. Decreasing counters mean
    /// that another connection uses the port. Returns true if new data were acknowledged.
    fn sent(&mut self, row: &ConnectionRow) -> bool {
        let key = (row.station, row.side, row.port);
        if self.connections.len() >= MAX_CONNECTIONS && !self.connections.contains_key(&key) {
            return true;
        }
        let now = Sent {
            bytes: row.bytes_acked,
            retransmitted: row.retransmits.into(),
        };
        let before = self.connections.insert(key, now).unwrap_or_default();
        let before = if now.bytes < before.bytes || now.retransmitted < before.retransmitted {
            Sent::default()
        } else {
            before
        };
        if let Some(seen) = self.stations.get_mut(usize::from(row.station)) {
            let sum = match row.side {
                Side::Server => &mut seen.to,
                Side::Station => &mut seen.from,
            };
            sum.bytes = sum.bytes.saturating_add(now.bytes - before.bytes);
            sum.retransmitted = sum
                .retransmitted
                .saturating_add(now.retransmitted - before.retransmitted);
        }
        now.bytes > before.bytes
    }

    fn transition(&mut self, row: &EventRow) {
        let seen = row
            .station
            .and_then(|station| self.stations.get_mut(usize::from(station)));
        let (Some(seen), Detail::Link(event)) = (seen, &row.detail) else {
            return;
        };
        match event.change {
            LinkChange::TransitionAnswered { accepted: true } => seen.transitions.accepted += 1,
            LinkChange::TransitionAnswered { accepted: false } => seen.transitions.rejected += 1,
            LinkChange::Disassociated { .. } => seen.transitions.disassociated += 1,
            _ => {}
        }
    }

    fn link(&mut self, row: &LinkRow) {
        let before = row.at < Instant::ZERO;
        let Some(seen) = self.stations.get_mut(usize::from(row.station)) else {
            return;
        };
        let link = &mut seen.link;
        link.frequency_mhz = row.frequency_mhz.or(link.frequency_mhz);
        let busy = if before { &mut link.busy_before } else { &mut link.busy };
        busy.add(row.busy_ppm.map(u64::from));
        if !before {
            seen.rates.link(row);
            link.down.add(row.rx_rate_bps);
            link.up.add(row.tx_rate_bps);
            if let Some(signal) = row.signal {
                link.signal.0 += i64::from(signal);
                link.signal.1 += 1;
            }
        }
    }

    fn event(&mut self, row: &EventRow) {
        self.transition(row);
        match (row.kind, row.station) {
            (EventKind::Roam, Some(station)) => {
                if let Some(seen) = self.stations.get_mut(usize::from(station))
                    && seen.roams.len() < MAX_SPANS
                {
                    seen.roams.push((row.at.as_nanos(), row.length));
                }
            }
            (EventKind::Scan, Some(station)) => {
                if let Some(seen) = self.stations.get_mut(usize::from(station))
                    && seen.scans.len() < MAX_SPANS
                {
                    seen.scans.push((row.at.as_nanos(), row.length));
                }
            }
            (EventKind::Stall, Some(station)) => {
                let end = row.at.checked_add(Duration::from_nanos(row.length)).unwrap_or(row.at);
                self.wait(station.into(), row.at, end);
            }
            _ => {}
        }
        match &row.detail {
            Detail::Issue(issue) if row.kind == EventKind::QualityIssue => self.add_quality_issue(issue.clone()),
            Detail::Lab(lab) => {
                let reasons = lab_reasons(lab, standstill_limit(&self.plan));
                reasons.into_iter().for_each(|reason| self.add_quality_issue(reason));
            }
            _ => {}
        }
    }

    fn add_quality_issue(&mut self, reason: QualityIssue) {
        if self.quality_issues.len() < MAX_QUALITY_ISSUES && !self.quality_issues.contains(&reason) {
            self.quality_issues.push(reason);
        }
    }
}

impl StationEvidence {
    /// Returns true if its probes and packets of that time, in ns, were recorded.
    pub(super) fn observes(&self, at: i64) -> bool {
        self.missed_from.is_none_or(|from| at < from)
    }

    /// Evidence without rows.
    fn new(buckets: Buckets) -> Self {
        StationEvidence {
            bins: Bucketed::new(buckets),
            sending: RoundTrips::default(),
            receiving: RoundTrips::default(),
            to: Sent::default(),
            from: Sent::default(),
            arrivals: Vec::new(),
            missed_from: None,
            waits: Vec::new(),
            roams: Vec::new(),
            scans: Vec::new(),
            link: Link::default(),
            transitions: Transitions::default(),
            rates: Rates::new(buckets),
            observed_rates: Rates::new(buckets),
            knows_others: false,
        }
    }
}

impl Limits {
    /// Limits of a workload. A probe and a stream without a goal of time have a noticeable time as the limit.
    fn from_config(config: &Config) -> Option<Limits> {
        let noticed = match config.kind().transport {
            Transport::Echo => Some(NOTICED),
            Transport::OneWay => Some(NOTICED_ONE_WAY),
            Transport::Http => None,
        };
        let good = config.latency_limit().or(noticed)?;
        Some(Limits {
            good,
            longest: match config.kind().transport {
                Transport::Http => config.timeout.max(good),
                // A lost packet has no end, so it takes no time.
                Transport::Echo | Transport::OneWay => Duration::ZERO,
            },
        })
    }
}

impl Link {
    /// The faster of its two mean rates, in Mbit/s.
    pub(super) fn fastest(&self) -> Option<f64> {
        let rates = [self.down, self.up].into_iter().filter_map(|mean| mean.value());
        rates.reduce(f64::max).map(|rate| rate / 1e6)
    }

    /// Mean received signal, in dBm.
    pub(super) fn signal_dbm(&self) -> Option<f64> {
        let (sum, count) = self.signal;
        (count > 0).then(|| sum as f64 / f64::from(count) / 100.0)
    }
}

impl Sent {
    /// Share of retransmitted segments; `None` with too few segments.
    pub(super) fn lost(&self) -> Option<f64> {
        let segments = self.bytes / SEGMENT + self.retransmitted;
        (segments >= MIN_SEGMENTS).then(|| self.retransmitted as f64 / segments as f64)
    }
}

impl Bin {
    pub(super) fn add(&mut self, other: &Bin) {
        self.air.add(&other.air);
        self.bytes.add(&other.bytes);
        self.waits = self.waits.saturating_add(other.waits);
    }
}

impl Mean {
    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.sum += u128::from(value);
            self.count += 1;
        }
    }

    /// `None` without values.
    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

impl RoundTrips {
    fn add(&mut self, micros: u64) {
        let micros = micros.max(1);
        let octave = micros.ilog2();
        let within = ((u128::from(micros) << 4) >> octave) as usize & 15;
        let index = octave as usize * 16 + within;
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.count += 1;
    }

    /// The median in ms, accurate to a sixteenth of an octave (4 %). `None` with fewer than six values,
    /// which do not support a median.
    pub(super) fn median_ms(&self) -> Option<f64> {
        if self.count < 6 {
            return None;
        }
        let mut before = 0;
        let index = self.counts.iter().position(|count| {
            before += count;
            before * 2 >= self.count
        })?;
        let low = (1_u64 << (index / 16)) as f64 * (1.0 + (index % 16) as f64 / 16.0);
        Some(low / 1e3)
    }
}
