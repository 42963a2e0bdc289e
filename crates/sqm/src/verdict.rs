//! Verdict on one direction: where packets wait, the rate at which the queue moves, and what to set.

use crate::capacity::{LIMIT, shaped_rate};
use crate::fit::{Fitted, NoFit, fit, rate_with};
use crate::layer::{Cells, Layer, SAFE};
use crate::measure::{VARYING, VARYING_SERVICE, goodput, largest, transfer};
use crate::samples::{Probes, Samples, Stream, WINDOW, percentile};
use crate::service::Service;
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Direction;
use std::ops::RangeInclusive;

/// Added delay up to which a queue counts as short, beside that of a few packets.
const SHORT: Duration = Duration::from_millis(10);
/// Packets that a small packet waits for in a short queue: one in transmission, and those of a burst.
const PACKETS_BEFORE: u64 = 3;
/// Difference of the rates by TCP and by datagrams above which something else used the line. Short queues cost TCP less.
const RATES_DIFFER: f64 = 0.25;
/// Share of the rate by datagrams that TCP reaches at least if it filled a short queue.
const FULL: f64 = 0.9;
/// Share of probes without an answer up to which a short queue counts as known.
const FEW_UNANSWERED: f64 = 0.05;
/// Share of the line's rate for a shaper before the line.
const UP_SHARE: u64 = 98;
/// Share for a shaper behind the line, which the queue of the provider reaches first.
const DOWN_SHARE: u64 = 96;
/// Divisor of the median rate of a line that varies. Its result is the least useful rate of a shaper.
const MAX_DIVISOR: u64 = 20;
/// Round trip of a line without probes.
const ROUND_TRIP: Duration = Duration::from_millis(40);
/// Time after which a datagram counts as lost.
const TIMEOUT: Duration = Duration::from_millis(1900);
/// Share of processor time of this computer from which on it may be the limit.
const BUSY: f64 = 0.9;
/// Content of a full TCP segment in bits.
const SEGMENT_BITS: u64 = 1448 * 8;

/// Where packets wait under load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// In a long queue between the router and the provider: the modem, the provider's end, or a router without SQM.
    Line,
    /// In a short queue, although TCP fills it: a shaper with a good queue (SQM), or a modem with AQM. The sender of TCP must be
    /// one that fills queues, such as Cubic (RFC 9438). BBR keeps a long queue short by itself.
    Managed,
    /// Nowhere: what exceeds the rate is dropped.
    Policer,
    /// In the Wi-Fi or the cable before the router.
    Near,
    /// The delay does not grow steadily, and nothing shows that TCP filled the line.
    Unseen,
}

/// Reason for which a direction has no settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The measurement ended before this direction was measured.
    NotMeasured,
    /// Nothing was transferred.
    NoTransfer,
    /// The link between this computer and the router is slower than the line. Its added delay, median.
    Near(Duration),
    /// This computer was busy, and the line was not full.
    Busy,
    /// Nothing shows that TCP filled the line.
    NotFull,
    /// The round trip without load changed during the measurement: from, to.
    IdleChanged(Duration, Duration),
    /// No line has these service times: smallest residual.
    Unexplained(f64),
    /// The rate of the line falls so low at times that no useful rate keeps its queue short.
    TooVaried,
    /// TCP and datagrams found different rates of IP packets, in bit/s.
    RatesDiffer(u64, u64),
}

/// Delays of the probes in a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    /// Beyond the median without load, to the router: median.
    pub near: Option<Duration>,
    /// To the first hop beyond the router: median.
    pub line: Option<Duration>,
    /// To the server: median.
    pub server: Option<Duration>,
    /// To the server: 95th percentile.
    pub server_p95: Option<Duration>,
}

/// A direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Direction.
    pub direction: Direction,
    /// Median goodput of TCP.
    pub goodput: Option<BitRate>,
    /// Added delay under the load of TCP.
    pub added: Added,
    /// Where packets wait; `None` if the direction was not measured.
    pub queue: Option<Queue>,
    /// Bytes that the line adds to each packet.
    pub layer: Layer,
    /// False if `layer` is a safe one, because the measurement does not tell it.
    pub is_identified: bool,
    /// True if `layer` is that of the other direction.
    pub is_from_other: bool,
    /// Overheads in bytes that fit, if the layer is known by this direction.
    pub overheads: Option<RangeInclusive<u32>>,
    /// Gross rate at which the queue moves, with `layer`.
    pub line_rate: Option<BitRate>,
    /// Share by which this rate may be wrong.
    pub rate_error: f64,
    /// True if the rate varies. `line_rate` is then the median.
    pub varies: bool,
    /// Rate for the shaper; `None` for the [reasons](Self::reasons).
    pub shaper: Option<BitRate>,
    /// Reasons for which there is no rate for the shaper.
    pub reasons: Vec<Reason>,
    /// Services of the direction, or one by TCP.
    services: Vec<Service>,
    /// True if the services are those of datagrams.
    is_by_datagrams: bool,
}

/// State of this computer during the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// Processor time of the thread that measured during the transfers, as a share of the time, 0 to 1.
    pub cpu: f64,
}

/// The verdicts of both directions, down first.
#[must_use]
pub fn verdicts(samples: &Samples, health: Health) -> [Verdict; 2] {
    let mut down = Verdict::new(samples, Direction::Down, health);
    let mut up = Verdict::new(samples, Direction::Up, health);
    // The directions of a line have one framing nearly always. The slower one shows it better.
    if up.is_identified && !down.is_identified {
        down.adopt(up.layer, samples);
    } else if down.is_identified && !up.is_identified {
        up.adopt(down.layer, samples);
    } else if down.may_be(&up) {
        down.narrow(&up, samples);
    } else if up.may_be(&down) {
        up.narrow(&down, samples);
    }
    [down, up]
}

impl Verdict {
    fn new(samples: &Samples, direction: Direction, health: Health) -> Self {
        let mut own = Verdict {
            direction,
            goodput: None,
            added: Added::default(),
            queue: None,
            layer: SAFE,
            is_identified: false,
            is_from_other: false,
            overheads: None,
            line_rate: None,
            rate_error: 0.0,
            varies: false,
            shaper: None,
            reasons: Vec::new(),
            services: Vec::new(),
            is_by_datagrams: false,
        };
        let Some(transfer) = transfer(samples, direction) else {
            own.reasons.push(Reason::NotMeasured);
            return own;
        };
        let Some((rate, spread)) = goodput(transfer) else {
            own.reasons.push(Reason::NoTransfer);
            return own;
        };
        own.goodput = Some(rate);
        own.added = Added::new(&quietest(samples), &transfer.probes);
        let streams = samples.streams.iter().filter(|stream| stream.direction == direction);
        let services: Vec<Service> = streams
            .filter_map(Service::from_stream)
            .filter(|own| own.is_saturated)
            .collect();
        // Datagrams that are slower than TCP on a line that varies did not fill it: their rate is limited.
        let fills = |stream: &Service| spread <= VARYING || own.ratio(rate, stream) <= 1.0 + RATES_DIFFER;
        let stream = largest(samples, direction).filter(|stream| stream.is_saturated && fills(stream));
        own.queue = Some(own.place(rate, stream.as_ref(), &transfer.probes));
        own.is_by_datagrams = stream.is_some();
        own.services = if stream.is_some() {
            services
        } else {
            vec![by_tcp(rate, spread)]
        };
        own.varies = stream.map_or(spread > VARYING, |own| own.spread > VARYING_SERVICE);
        own.fit();
        own.check(samples, stream.as_ref(), health);
        own.set_rates(samples);
        own
    }

    /// Where packets wait.
    fn place(&self, goodput: BitRate, stream: Option<&Service>, probes: &Probes) -> Queue {
        let packet = Duration::from_nanos(SEGMENT_BITS * 1_000_000_000 / goodput.as_bps().max(1));
        let short = SHORT + packet * PACKETS_BEFORE;
        let server = self.added.server.unwrap_or_default();
        if self.added.near.is_some_and(|near| near > SHORT && near > server / 2) {
            return Queue::Near;
        }
        if server > short {
            return Queue::Line;
        }
        match stream {
            Some(own) if own.is_policed => Queue::Policer,
            Some(own) if self.is_managed(goodput, own, probes, packet) => Queue::Managed,
            _ => Queue::Unseen,
        }
    }

    /// True if TCP filled the queue, and probes passed it quickly nevertheless. Without both, a short delay says nothing.
    fn is_managed(&self, goodput: BitRate, stream: &Service, probes: &Probes, packet: Duration) -> bool {
        let all = probes.server.len() as f64 + probes.unanswered as f64;
        let is_bounded = self
            .added
            .server_p95
            .is_some_and(|p95| p95 <= LIMIT + packet * PACKETS_BEFORE);
        is_bounded && probes.unanswered as f64 <= all * FEW_UNANSWERED && self.ratio(goodput, stream) >= FULL
    }

    /// Rates by TCP and by datagrams in bit/s, both in packets of the same length, so that the framing has no effect.
    fn rates(&self, goodput: BitRate, stream: &Service) -> (u64, u64) {
        let with = |rate: u64, content: u32, packet: u32| {
            let bits = u128::from(rate) * u128::from(self.layer.bytes(packet)) / u128::from(content.max(1));
            u64::try_from(bits).unwrap_or(u64::MAX)
        };
        (
            with(goodput.as_bps(), 1448, 1500),
            with(stream.ip_rate(), stream.size, stream.size),
        )
    }

    /// Rate by TCP as a share of that by datagrams.
    fn ratio(&self, goodput: BitRate, stream: &Service) -> f64 {
        let (tcp, datagrams) = self.rates(goodput, stream);
        tcp as f64 / datagrams.max(1) as f64
    }

    /// Finds the layer from the services.
    fn fit(&mut self) {
        if self.varies || !self.is_by_datagrams || self.services.len() < 2 {
            return;
        }
        match fit(&self.services) {
            Ok(Fitted {
                layer,
                overheads,
                is_identified,
                ..
            }) => {
                self.layer = layer;
                self.is_identified = is_identified;
                self.overheads = is_identified.then_some(overheads);
            }
            // A late sender leaves a policer idle, so that the times of small packets are less exact. The rate follows from
            // the largest ones.
            Err(NoFit::Unexplained(_)) if self.queue == Some(Queue::Policer) => {}
            Err(NoFit::Unexplained(residual)) => self.reasons.push(Reason::Unexplained(residual)),
            Err(NoFit::NoService) => {}
        }
    }

    /// Checks that the line was what limited the transfers.
    fn check(&mut self, samples: &Samples, stream: Option<&Service>, health: Health) {
        if self.queue == Some(Queue::Near) {
            self.reasons.push(Reason::Near(self.added.near.unwrap_or_default()));
        }
        if self.queue == Some(Queue::Unseen) {
            let is_busy = health.cpu > BUSY;
            self.reasons.push(if is_busy { Reason::Busy } else { Reason::NotFull });
        }
        let medians: Vec<Duration> = samples
            .idle
            .iter()
            .filter_map(|own| percentile(&own.server, 50))
            .collect();
        if let (Some(first), Some(last)) = (medians.first(), medians.last())
            && first.saturating_sub(*last).max(last.saturating_sub(*first)) > SHORT.max(*first.min(last) / 3)
        {
            self.reasons.push(Reason::IdleChanged(*first, *last));
        }
        if let (Some(stream), Some(goodput)) = (stream, self.goodput) {
            let ratio = self.ratio(goodput, stream);
            let differ = match self.queue {
                Some(Queue::Line | Queue::Managed) => !self.varies && (ratio - 1.0).abs() > RATES_DIFFER,
                // TCP reaches less than the rate of a policer, but not more. Then the loss has another cause.
                Some(Queue::Policer) => ratio - 1.0 > RATES_DIFFER,
                Some(Queue::Near | Queue::Unseen) | None => false,
            };
            if differ {
                let (tcp, datagrams) = self.rates(goodput, stream);
                self.reasons.push(Reason::RatesDiffer(tcp, datagrams));
            }
        }
    }

    /// True if the other direction tells the layer more exactly, and this direction does not contradict it.
    fn may_be(&self, other: &Verdict) -> bool {
        let (Some(own), Some(exact)) = (&self.overheads, &other.overheads) else {
            return false;
        };
        let is_narrower = exact.end() - exact.start() < own.end() - own.start();
        self.layer.cells == other.layer.cells && is_narrower && own.contains(&other.layer.overhead)
    }

    /// Uses the layer of the other direction, which is one of those that fit here.
    fn narrow(&mut self, other: &Verdict, samples: &Samples) {
        self.layer = other.layer;
        self.set_rates(samples);
    }

    /// Uses the layer of the other direction, if that does not contradict what this direction shows.
    fn adopt(&mut self, layer: Layer, samples: &Samples) {
        if self.queue.is_none() {
            return;
        }
        self.layer = layer;
        self.is_from_other = true;
        self.set_rates(samples);
    }

    /// The rates with the layer.
    fn set_rates(&mut self, samples: &Samples) {
        self.line_rate = rate_with(self.layer, &self.services);
        let largest = self.services.iter().max_by_key(|own| own.size);
        self.rate_error = largest.map_or(0.0, |own| 3.0 * own.error);
        let Some(rate) = self.line_rate.filter(|_| self.reasons.is_empty()) else {
            self.shaper = None;
            return;
        };
        let share = match (self.queue, self.direction) {
            // The rate is that of a shaper which is below the line's.
            (Some(Queue::Managed), _) => 100,
            // The rate is one that leaves a short queue already.
            _ if self.varies => 100,
            (_, Direction::Up) => UP_SHARE,
            (_, Direction::Down) => DOWN_SHARE,
        };
        let highest = if self.varies {
            self.for_varying(samples)
        } else {
            Some(rate)
        };
        if highest.is_none() {
            self.reasons.push(Reason::TooVaried);
        }
        let shaped = highest.map(|highest| u128::from(highest.as_bps()) * u128::from(share) / 100);
        self.shaper = shaped.map(|bits| BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX)));
    }

    /// The highest rate for a line whose rate varies.
    fn for_varying(&self, samples: &Samples) -> Option<BitRate> {
        let mut own = samples.streams.iter().filter(|own| own.direction == self.direction);
        let size = own.clone().map(|own| own.size).max();
        let is_full = |own: &Stream| Service::from_stream(own).is_some_and(|own| own.is_saturated);
        let stream = own.rfind(|own| self.is_by_datagrams && Some(own.size) == size && is_full(own));
        let transfer = transfer(samples, self.direction);
        let segment = u64::from(self.layer.bytes(1500));
        let by_tcp = || {
            let windows = transfer.iter().flat_map(|own| &own.windows);
            windows.map(|bytes| bytes.saturating_mul(8 * segment) / 1448).collect()
        };
        let capacity: Vec<u64> = stream.map_or_else(by_tcp, |own| capacity_of(own, self.layer));
        let idle = percentile(&quietest(samples).server, 50);
        let rate = shaped_rate(
            &capacity,
            WINDOW,
            self.layer.bytes(1500),
            self.direction,
            idle.unwrap_or(ROUND_TRIP),
        )?;
        let median = self.line_rate.map_or(0, BitRate::as_bps);
        (rate.as_bps() >= median / MAX_DIVISOR).then_some(rate)
    }

    /// The same rates for another layer, which counts full packets as this one does.
    #[must_use]
    pub fn shaper_with(&self, layer: Layer) -> Option<BitRate> {
        let own = self.shaper?.as_bps();
        let bits = u128::from(own) * u128::from(layer.bytes(1500)) / u128::from(self.layer.bytes(1500).max(1));
        Some(BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX)))
    }

    /// Rate of IP packets of 1500 bytes at the rate of the shaper, in bit/s.
    #[must_use]
    pub fn shaped_ip_rate(&self) -> Option<u64> {
        let rate = self.shaper_with(Layer::cells(Cells::None, 0))?;
        Some(rate.as_bps())
    }

    /// True if the direction is shaped well already.
    #[must_use]
    pub fn is_shaped(&self) -> bool {
        self.queue == Some(Queue::Managed)
    }
}

impl Added {
    fn new(idle: &Probes, loaded: &Probes) -> Self {
        let added = |idle: &[Duration], loaded: &[Duration], percent: usize| {
            let (idle, loaded) = (percentile(idle, 50)?, percentile(loaded, percent)?);
            Some(loaded.saturating_sub(idle))
        };
        Added {
            near: added(&idle.near, &loaded.near, 50),
            line: added(&idle.line, &loaded.line, 50),
            server: added(&idle.server, &loaded.server, 50),
            server_p95: added(&idle.server, &loaded.server, 95),
        }
    }
}

/// The idle phase with the shortest round trip to the server. In the others, another device perhaps used the line.
fn quietest(samples: &Samples) -> Probes {
    let answered = samples.idle.iter().filter(|own| !own.server.is_empty());
    let least = answered.min_by_key(|own| percentile(&own.server, 50));
    least.or(samples.idle.first()).cloned().unwrap_or_default()
}

/// Service of full packets by the goodput of TCP.
fn by_tcp(goodput: BitRate, spread: f64) -> Service {
    Service {
        size: 1500,
        time_ps: SEGMENT_BITS * 1_000_000_000_000 / goodput.as_bps().max(1),
        error: spread / 3.0,
        spread,
        lost: 0.0,
        added: (Duration::ZERO, Duration::ZERO),
        is_saturated: true,
        is_policed: false,
    }
}

/// Bits with the layer that arrived in each window of a stream.
fn capacity_of(stream: &Stream, layer: Layer) -> Vec<u64> {
    let begin = stream.start + stream.length / 8;
    let count = (stream.length - stream.length / 8).as_nanos() / WINDOW.as_nanos();
    let mut windows = vec![0; usize::try_from(count).unwrap_or(0)];
    let begin = Instant::ZERO + begin.since(Instant::ZERO);
    let mut longest = Duration::ZERO;
    for (at, due) in &stream.arrivals {
        longest = longest.max(at.checked_since(*due).unwrap_or_default());
        let Some(since) = at.checked_since(begin) else { continue };
        let window = usize::try_from(since.as_nanos() / WINDOW.as_nanos()).unwrap_or(usize::MAX);
        if let Some(bits) = windows.get_mut(window) {
            *bits += u64::from(layer.bytes(stream.size)) * 8;
        }
    }
    // Packets that waited longer count as lost, so that the capacity of a window without arrivals is unknown.
    windows.retain(|bits| *bits > 0 || longest < TIMEOUT);
    windows
}
