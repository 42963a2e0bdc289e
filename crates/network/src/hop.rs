//! A wired hop in one direction: queue → serialisation → propagation, each with its own counters.
//!
//! Law: delivered = min(offered, rate), for every delay.

use crate::link_service::Service;
use netburn_scenario::plan::{DEFAULT_QUEUE_TIME, Framing, MIN_DEFAULT_QUEUE};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Probability, RandomStream, earlier};
use std::collections::VecDeque;

/// Settings of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopConfig {
    /// Rate; `None`: serialisation takes no time, and the queue is always empty.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Loss probability of a packet during propagation.
    pub loss: Probability,
    /// Maximum number of queued bytes, without the packet in serialisation.
    pub queue: ByteSize,
    /// Bytes on the wire of a packet.
    pub framing: HopFraming,
    /// Minimum time between two interrupts of the receiving card. Packets that arrive in between
    /// are delivered with the next interrupt.
    pub interrupt_interval: Duration,
}

/// Framing of an Ethernet packet: header, FCS, preamble and gap (IEEE 802.3 clause 3; 14 + 4 + 8 +
/// 12 bytes).
pub const ETHERNET: u32 = 38;

/// Bytes on the wire of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopFraming {
    /// Its length and this number of bytes.
    Fixed(u32),
    /// The framing of a line.
    Line(Framing),
}

impl HopFraming {
    /// Bytes on the wire of a packet of `length` bytes.
    #[must_use]
    pub const fn bytes(self, length: u32) -> u32 {
        match self {
            HopFraming::Fixed(bytes) => length.saturating_add(bytes),
            HopFraming::Line(framing) => framing.bytes(length),
        }
    }
}

impl HopConfig {
    /// Default queue of a hop: [`DEFAULT_QUEUE_TIME`] at its rate, at least [`MIN_DEFAULT_QUEUE`].
    #[must_use]
    pub fn default_queue(rate: Option<BitRate>) -> ByteSize {
        let bits =
            |rate: BitRate| u128::from(rate.as_bps()) * u128::from(DEFAULT_QUEUE_TIME.as_nanos()) / 1_000_000_000;
        let bytes = u64::try_from(rate.map_or(0, bits) / 8).unwrap_or(u64::MAX);
        ByteSize::from_bytes(bytes).max(MIN_DEFAULT_QUEUE)
    }

    /// The same hop with an Ethernet card at its end, with this minimum time between two
    /// interrupts.
    #[must_use]
    pub fn with_interrupt_interval(self, interrupt_interval: Duration) -> Self {
        HopConfig {
            interrupt_interval,
            ..self
        }
    }

    /// Returns true if packets pass the hop without any delay.
    #[must_use]
    pub fn is_passthrough(&self) -> bool {
        self.rate.is_none() && self.delay.is_zero() && self.loss == Probability::ZERO
    }
}

impl Default for HopConfig {
    fn default() -> Self {
        HopConfig {
            rate: None,
            delay: Duration::ZERO,
            loss: Probability::ZERO,
            queue: HopConfig::default_queue(None),
            framing: HopFraming::Fixed(ETHERNET),
            interrupt_interval: Duration::ZERO,
        }
    }
}

/// Counters of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HopCount {
    /// Packets offered to the hop.
    pub offered: u64,
    /// Packets dropped because the queue was full.
    pub dropped: u64,
    /// Packets lost during propagation.
    pub lost: u64,
    /// Packets delivered at the other end.
    pub delivered: u64,
    /// Bytes of the delivered packets.
    pub delivered_bytes: u64,
}

/// One direction of a wired hop.
///
/// The serialisation of a packet is planned when the packet is offered, so its only event is its arrival or its loss.
///
/// **Call order:** after every `handle_*`, drain [`poll_event`](Self::poll_event), then wait for a
/// packet or for [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Hop<T> {
    config: HopConfig,
    /// Packets that will arrive, in order.
    arrivals: VecDeque<Planned<T>>,
    /// Packets that will be lost, in order. Their events are the ends of their serialisations.
    losses: VecDeque<Planned<T>>,
    /// Begin of serialisation and length of the packets that may wait for it: some may have left the queue already.
    queued: VecDeque<(Instant, u32)>,
    queued_bytes: u64,
    /// End of the last serialisation, in bits × 10⁹ ÷ rate with the remainder kept.
    idle_at: Instant,
    remainder: u64,
    /// Last interrupt of the receiving card.
    interrupt: Option<Instant>,
    /// Last arrival that was an event.
    arrived_at: Option<Instant>,
    /// Outages, and a trace of the capacity, if the hop has them.
    service: Option<Box<Service>>,
    /// True if the end of the last serialisation is an event: a queue discipline waits for it.
    reports_idle: bool,
    /// End of the last serialisation, until the event.
    idle_event: Option<Instant>,
    /// Planned ends of serialisation that were not reported yet, if they are reported.
    sent: Option<VecDeque<Instant>>,
    loss_rng: RandomStream,
    /// Number of the last planned packet.
    planned: u64,
    count: HopCount,
}

/// A packet whose serialisation is planned.
#[derive(Debug)]
struct Planned<T> {
    /// Number of the packet: they keep their order.
    number: u64,
    /// Begin and end of its serialisation.
    begin: Instant,
    end: Instant,
    /// Its event.
    at: Instant,
    length: u32,
    packet: T,
}

/// Event of a packet on a hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HopEvent<T> {
    /// The oldest accepted packet has been serialised: its sender may free it.
    Sent,
    /// The packet arrived at the other end.
    Arrived(T),
    /// The packet was lost during propagation.
    Lost(T),
    /// The queue discipline before the hop dropped the packet.
    Dropped(T),
}

impl<T> Hop<T> {
    /// Creates a hop that draws its losses from `loss_rng`.
    #[must_use]
    pub fn new(config: HopConfig, loss_rng: RandomStream) -> Self {
        Hop {
            config,
            arrivals: VecDeque::new(),
            losses: VecDeque::new(),
            queued: VecDeque::new(),
            queued_bytes: 0,
            idle_at: Instant::MIN,
            remainder: 0,
            interrupt: None,
            arrived_at: None,
            service: None,
            reports_idle: false,
            idle_event: None,
            sent: None,
            loss_rng,
            planned: 0,
            count: HopCount::default(),
        }
    }

    /// Enables or disables [`HopEvent::Sent`].
    pub fn report_sent(&mut self, enabled: bool) {
        self.sent = enabled.then(VecDeque::new);
    }

    /// Makes the end of the last serialisation an event of [`poll_timeout`](Self::poll_timeout).
    pub fn report_idle(&mut self) {
        self.reports_idle = true;
    }

    /// Sets outages and a trace of the capacity, which replaces the rate.
    pub fn set_service(&mut self, service: Service) {
        self.service = Some(Box::new(service));
    }

    /// Counters so far.
    #[must_use]
    pub fn count(&self) -> HopCount {
        self.count
    }

    /// Queued bytes at `now`.
    #[must_use]
    pub fn backlog(&mut self, now: Instant) -> u64 {
        while let Some((_, length)) = pop_if(&mut self.queued, |(begin, _)| *begin <= now) {
            self.queued_bytes -= u64::from(length);
        }
        self.queued_bytes
    }

    /// Returns true if no packet is in serialisation at `now`, after which another one may follow at once.
    #[must_use]
    #[inline]
    pub fn is_idle(&self, now: Instant) -> bool {
        self.idle_at <= now && self.idle_event.is_none()
    }

    /// Returns true if packets pass the hop without any delay.
    #[must_use]
    #[inline]
    pub fn is_passthrough(&self) -> bool {
        self.config.is_passthrough() && self.arrivals.is_empty() && self.losses.is_empty() && self.service.is_none()
    }

    /// Replaces the settings from `now` on. Packets whose serialisation began before are not affected. If the loss changes,
    /// it is drawn again for the packets that wait. A trace keeps their times of serialisation.
    pub fn set_config(&mut self, now: Instant, config: HopConfig) {
        let draws_again = config.loss != self.config.loss;
        self.config = config;
        self.remainder = 0;
        let Some(first) = self.queued.iter().map(|(begin, _)| *begin).find(|begin| *begin >= now) else {
            return;
        };
        let mut waiting: Vec<_> = split(&mut self.arrivals, first).map(|packet| (packet, false)).collect();
        waiting.extend(split(&mut self.losses, first).map(|packet| (packet, true)));
        waiting.sort_by_key(|(packet, _)| packet.number);
        self.interrupt = self.arrivals.back().map(|packet| packet.at).or(self.arrived_at);
        if self.service.as_ref().is_some_and(|service| service.has_trace()) {
            for (packet, is_lost) in waiting {
                self.send(packet, Some(is_lost).filter(|_| !draws_again));
            }
            return;
        }
        self.idle_at = first;
        self.queued.retain(|(begin, _)| *begin < first);
        self.queued_bytes = self.queued.iter().map(|(_, length)| u64::from(*length)).sum();
        if let Some(sent) = &mut self.sent {
            sent.truncate(sent.len().saturating_sub(waiting.len()));
        }
        for (packet, is_lost) in waiting {
            self.plan(
                now,
                packet.length,
                packet.packet,
                Some(is_lost).filter(|_| !draws_again),
            );
        }
    }

    /// Packets whose serialisation ends after `now`, in order, each with this time.
    pub(crate) fn planned(&self, now: Instant) -> Vec<(Instant, &T)> {
        let planned = self.arrivals.iter().chain(&self.losses);
        let planned = planned.map(|packet| (packet.end, &packet.packet));
        let mut planned: Vec<_> = planned.filter(|(end, _)| *end > now).collect();
        planned.sort_by_key(|(end, _)| *end);
        planned
    }

    /// Settings.
    #[must_use]
    #[inline]
    pub fn config(&self) -> HopConfig {
        self.config
    }

    /// Offers a packet of `length` bytes. Returns the planned end of its serialisation.
    ///
    /// # Errors
    /// Returns the packet if the queue is full.
    #[inline]
    pub fn handle_packet(&mut self, now: Instant, length: u32, packet: T) -> Result<Instant, T> {
        self.count.offered += 1;
        let limit = self.config.queue.as_bytes();
        let full = |queued: u64| queued + u64::from(length) > limit;
        if !self.is_idle(now) && full(self.queued_bytes) && full(self.backlog(now)) {
            self.count.dropped += 1;
            return Err(packet);
        }
        Ok(self.plan(now, length, packet, None))
    }

    /// Ends the wait for the end of the last serialisation, if it is due.
    #[inline]
    pub fn handle_timeout(&mut self, now: Instant) {
        self.idle_event.take_if(|at| *at <= now);
    }

    /// Next event up to `now`, with its time.
    #[inline]
    pub fn poll_event(&mut self, now: Instant) -> Option<(Instant, HopEvent<T>)> {
        if let Some(sent) = &mut self.sent
            && let Some(at) = pop_if(sent, |at| *at <= now)
        {
            return Some((at, HopEvent::Sent));
        }
        if let Some(lost) = pop_if(&mut self.losses, |packet| packet.at <= now) {
            self.count.lost += 1;
            return Some((lost.at, HopEvent::Lost(lost.packet)));
        }
        let arrived = pop_if(&mut self.arrivals, |packet| packet.at <= now)?;
        self.arrived_at = Some(arrived.at);
        self.count.delivered += 1;
        self.count.delivered_bytes += u64::from(arrived.length);
        Some((arrived.at, HopEvent::Arrived(arrived.packet)))
    }

    /// Time of the next event.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let arrives = self.arrivals.front().map(|packet| packet.at);
        let lost = self.losses.front().map(|packet| packet.at);
        let sent = self.sent.as_ref().and_then(|sent| sent.front().copied());
        earlier(earlier(arrives, lost), earlier(self.idle_event, sent))
    }

    /// Lower bound of the next delivery if no packet is offered; `None` if nothing is pending.
    #[must_use]
    pub(crate) fn next_delivery(&self) -> Option<Instant> {
        let arrival = self.arrivals.front().map(|packet| packet.at);
        // A queue discipline may have another packet for the idle link.
        arrival.or_else(|| self.idle_event.map(|end| end + self.config.delay))
    }

    /// Plans the serialisation of a packet, and returns its end. Draws whether the packet is lost, unless that is known.
    fn plan(&mut self, now: Instant, length: u32, packet: T, is_lost: Option<bool>) -> Instant {
        let begin = now.max(self.idle_at);
        let end = self.end_of_serialisation(begin, length);
        if begin > now {
            // Two at a time, so that few remain that wait no longer.
            for _ in 0..2 {
                let Some((_, begun)) = pop_if(&mut self.queued, |(begin, _)| *begin <= now) else {
                    break;
                };
                self.queued_bytes -= u64::from(begun);
            }
            self.queued.push_back((begin, length));
            self.queued_bytes += u64::from(length);
        }
        self.idle_at = end;
        if self.reports_idle {
            self.idle_event = Some(end);
        }
        if let Some(sent) = &mut self.sent {
            sent.push_back(end);
        }
        self.planned += 1;
        let packet = Planned {
            number: self.planned,
            begin,
            end,
            at: end,
            length,
            packet,
        };
        self.send(packet, is_lost);
        end
    }

    /// Sends a packet on its way whose serialisation is planned. Draws whether it is lost, unless that is known.
    #[inline]
    fn send(&mut self, mut packet: Planned<T>, is_lost: Option<bool>) {
        packet.at = packet.end;
        let loss = self.config.loss;
        if is_lost.unwrap_or_else(|| loss > Probability::ZERO && self.loss_rng.happens(loss)) {
            self.losses.push_back(packet);
            return;
        }
        // A shorter delay must not reorder packets.
        let at = packet.end + self.config.delay;
        let at = self.arrivals.back().map_or(at, |last| at.max(last.at));
        packet.at = self.next_interrupt(at);
        self.interrupt = Some(packet.at);
        self.arrivals.push_back(packet);
    }

    /// End of a serialisation that begins at `now`.
    #[inline]
    fn end_of_serialisation(&mut self, now: Instant, length: u32) -> Instant {
        let mut start = now;
        if let Some(service) = &mut self.service {
            start = service.available(now);
            if let Some(end) = service.finish(start, self.config.framing.bytes(length)) {
                return end;
            }
        }
        let Some(rate) = self.config.rate.map(BitRate::as_bps).filter(|rate| *rate > 0) else {
            return start;
        };
        let bits = u64::from(self.config.framing.bytes(length)) * 8;
        // 64 bits suffice for packets below 2 GB.
        let (nanos, remainder) = match bits
            .checked_mul(1_000_000_000)
            .and_then(|work| work.checked_add(self.remainder))
        {
            Some(work) => (work / rate, work % rate),
            None => {
                let work = u128::from(bits) * 1_000_000_000 + u128::from(self.remainder);
                ((work / u128::from(rate)) as u64, (work % u128::from(rate)) as u64)
            }
        };
        self.remainder = remainder;
        start + Duration::from_nanos(nanos)
    }

    /// Time of the receiving card's interrupt for a packet that arrives at `at`.
    fn next_interrupt(&self, at: Instant) -> Instant {
        match self.interrupt {
            Some(last) if at <= last => last,
            Some(last) => at.max(last + self.config.interrupt_interval),
            None => at,
        }
    }
}

/// Removes the first entry if it meets a condition.
#[inline]
fn pop_if<T>(entries: &mut VecDeque<T>, is_met: impl FnOnce(&T) -> bool) -> Option<T> {
    if entries.front().is_some_and(is_met) {
        entries.pop_front()
    } else {
        None
    }
}

/// Removes the packets whose serialisation begins at `begin` or later.
fn split<T>(planned: &mut VecDeque<Planned<T>>, begin: Instant) -> std::collections::vec_deque::IntoIter<Planned<T>> {
    let first = planned.partition_point(|packet| packet.begin < begin);
    planned.split_off(first).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::plan::Outage;
    use netburn_units::Seed;
    use proptest::prelude::*;

    fn hop(rate: Option<u64>, delay_ms: u64, queue: u64) -> Hop<u32> {
        let config = HopConfig {
            rate: rate.map(BitRate::from_bps),
            delay: Duration::from_millis(delay_ms),
            loss: Probability::ZERO,
            queue: ByteSize::from_bytes(queue),
            framing: HopFraming::Fixed(ETHERNET),
            interrupt_interval: Duration::ZERO,
        };
        Hop::new(config, Seed(1).stream("loss", 0))
    }

    /// 1500 bytes and 38 of framing at 100 Mbit/s: 123.04 µs each, then 5 ms of propagation.
    #[test]
    fn by_hand() {
        let mut hop = hop(Some(100_000_000), 5, 10_000);
        assert!(hop.handle_packet(Instant::ZERO, 1_500, 1).is_ok());
        assert!(hop.handle_packet(Instant::ZERO, 1_500, 2).is_ok());
        assert_eq!(hop.backlog(Instant::from_nanos(123_039)), 1_500);
        assert_eq!(hop.backlog(Instant::from_nanos(123_040)), 0);
        let first = Instant::from_nanos(5_123_040);
        assert_eq!(hop.poll_timeout(), Some(first));
        assert_eq!(hop.poll_event(Instant::from_millis(5)), None);
        assert_eq!(hop.poll_event(first), Some((first, HopEvent::Arrived(1))));
        let second = Instant::from_nanos(5_246_080);
        assert_eq!(hop.poll_event(second), Some((second, HopEvent::Arrived(2))));
    }

    #[test]
    fn a_full_queue_returns_the_packet() {
        let mut hop = hop(Some(1_000_000), 0, 3_000);
        for packet in 0..3 {
            assert!(hop.handle_packet(Instant::ZERO, 1_500, packet).is_ok());
        }
        assert_eq!(hop.handle_packet(Instant::ZERO, 1_500, 3), Err(3));
        assert_eq!(hop.count().dropped, 1);
    }

    /// At 1 Gbit/s a packet of 1500 bytes takes 12.304 µs. The first one causes an interrupt
    /// immediately. Those that arrive within the next 50 µs share one interrupt at the end of the
    /// 50 µs. After a pause the next one causes an interrupt immediately again.
    #[test]
    fn a_card_coalesces_packets_between_interrupts() {
        let mut hop = hop(Some(1_000_000_000), 0, 100_000);
        hop.set_config(
            Instant::ZERO,
            hop.config().with_interrupt_interval(Duration::from_micros(50)),
        );
        for packet in 0..8 {
            assert!(hop.handle_packet(Instant::ZERO, 1_500, packet).is_ok());
        }
        let mut arrived = Vec::new();
        while let Some(at) = hop.poll_timeout() {
            hop.handle_timeout(at);
            while let Some((at, left)) = hop.poll_event(at) {
                arrived.push((at.as_nanos(), left));
            }
        }
        let expected = [12_304, 62_304, 62_304, 62_304, 62_304, 112_304, 112_304, 112_304];
        let expected = expected.into_iter().zip((0..8).map(HopEvent::Arrived));
        assert_eq!(arrived, expected.collect::<Vec<_>>());
        let later = Instant::from_micros(500);
        assert!(hop.handle_packet(later, 1_500, 8).is_ok());
        hop.handle_timeout(Instant::from_nanos(512_304));
        let arrived = hop.poll_event(Instant::from_nanos(512_304));
        assert_eq!(arrived, Some((Instant::from_nanos(512_304), HopEvent::Arrived(8))));
    }

    proptest! {
        /// Interrupt moderation keeps the order. A packet is delivered at its arrival time at the
        /// earliest, and at most one interval later. Two interrupts are at least one interval
        /// apart.
        #[test]
        fn interrupts_are_an_interval_apart(
            rate in prop::option::of(1_000_000_u64..10_000_000_000),
            interval in 1_u64..500_000,
            packets in prop::collection::vec((0_u64..300_000, 20_u32..1_600), 1..60),
        ) {
            let arrivals = |interval: Duration| {
                let mut hop = hop(rate, 1, 1_000_000);
                hop.set_config(Instant::ZERO, hop.config().with_interrupt_interval(interval));
                let (mut now, mut arrived) = (Instant::ZERO, Vec::new());
                let mut take = |hop: &mut Hop<u32>, until: Instant| {
                    while let Some(at) = hop.poll_timeout().filter(|at| *at <= until) {
                        hop.handle_timeout(at);
                        while let Some((when, left)) = hop.poll_event(at) {
                            arrived.push((when, left));
                        }
                    }
                };
                for (number, (gap, length)) in (0_u32..).zip(&packets) {
                    now += Duration::from_nanos(*gap);
                    take(&mut hop, now);
                    assert!(hop.handle_packet(now, *length, number).is_ok());
                }
                take(&mut hop, Instant::from_secs(1_000));
                arrived
            };
            let interval = Duration::from_nanos(interval);
            let (without, with) = (arrivals(Duration::ZERO), arrivals(interval));
            prop_assert_eq!((without.len(), with.len()), (packets.len(), packets.len()));
            for ((early, one), (late, other)) in without.iter().zip(&with) {
                prop_assert_eq!(one, other);
                prop_assert!(early <= late && *late <= *early + interval, "{early:?} and {late:?}");
            }
            for pair in with.windows(2) {
                prop_assert!(pair[0].0 == pair[1].0 || pair[0].0 + interval <= pair[1].0, "{pair:?}");
            }
        }

        /// Delivered = min(offered, rate) at every delay: over a second, within one or two packets.
        #[test]
        fn delivered_is_the_lesser(rate in 1_000_000_u64..200_000_000, offered in 1_000_000_u64..200_000_000, delay in 0_u64..500) {
            let mut hop = hop(Some(rate), delay, 15_000);
            let gap = (1_500 + u64::from(ETHERNET)) * 8 * 1_000_000_000 / offered;
            let mut at = 0;
            while at < 1_000_000_000 {
                let _ = hop.handle_packet(Instant::from_nanos(at as i64), 1_500, 0);
                at += gap;
            }
            hop.handle_timeout(Instant::from_secs(1));
            let mut out = 0_u64;
            while hop.poll_event(Instant::from_secs(1) + Duration::from_millis(delay)).is_some() {
                out += (1_500 + u64::from(ETHERNET)) * 8;
            }
            let expected = rate.min(offered);
            prop_assert!(out.abs_diff(expected) <= 3 * (1_500 + u64::from(ETHERNET)) * 8, "{out} of {expected}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Comparison with a queue in plain arithmetic. Serialisation starts when the packet comes
        /// or when the previous one ends, and takes bits ÷ rate; the packet arrives a delay later.
        /// A packet that doesn't fit is returned. Every accepted packet is lost or delivered; every
        /// one that was not dropped was serialised; none is delivered before its bound.
        #[test]
        fn a_hop_is_a_queue_a_rate_and_a_delay(
            rate in prop::option::of(100_000_u64..1_000_000_000),
            delay in 0_u64..20,
            queue in 0_u64..20_000,
            loss in prop::sample::select(vec![0_u32, 100_000_000, 1_000_000_000]),
            packets in prop::collection::vec((0_u64..3_000_000, 20_u32..1_600), 1..60),
        ) {
            let mut hop = hop(rate, delay, queue);
            hop.set_config(Instant::ZERO, HopConfig { loss: Probability::from_ppb(loss).unwrap(), ..hop.config() });
            hop.report_sent(true);
            let (mut now, mut waiting) = (0, VecDeque::new());
            // Accepted packets by number: end of serialisation and arrival.
            let (mut sent, mut expected, mut free) = (VecDeque::new(), Vec::new(), 0);
            let (mut reported, mut arrived, mut lost) = (0, Vec::new(), Vec::new());
            let mut take = |hop: &mut Hop<u32>, until: i64| {
                while let Some(at) = hop.poll_timeout().filter(|at| at.as_nanos() <= until) {
                    let bound = hop.next_delivery();
                    hop.handle_timeout(at);
                    while let Some((when, left)) = hop.poll_event(at) {
                        match left {
                            HopEvent::Sent => reported += 1,
                            HopEvent::Lost(number) => lost.push((number, when.as_nanos())),
                            HopEvent::Dropped(number) => panic!("{number}: a hop has no discipline"),
                            HopEvent::Arrived(number) => {
                                assert!(bound.is_some_and(|bound| bound <= when));
                                arrived.push((number, when.as_nanos()));
                            }
                        }
                    }
                }
                (reported, arrived.clone(), lost.clone())
            };
            for (number, (gap, length)) in (0_u32..).zip(&packets) {
                now += *gap as i64;
                take(&mut hop, now);
                while sent.front().is_some_and(|end: &i64| *end <= now) {
                    sent.pop_front();
                    waiting.pop_front();
                }
                // All but the first of these are queued.
                let backlog: u64 = waiting.iter().skip(1).map(|length: &u32| u64::from(*length)).sum();
                // Asking for the backlog must change nothing.
                if number % 2 == 0 {
                    prop_assert_eq!(hop.backlog(Instant::from_nanos(now)), backlog);
                }
                let fits = sent.is_empty() || backlog + u64::from(*length) <= queue;
                let taken = hop.handle_packet(Instant::from_nanos(now), *length, number);
                prop_assert_eq!(taken.err(), (!fits).then_some(number));
                if fits {
                    let span = rate.map_or(0, |rate| u64::from(length + ETHERNET) * 8_000_000_000 / rate) as i64;
                    free = now.max(free) + span;
                    expected.push((number, free));
                    if rate.is_some() {
                        sent.push_back(free);
                        waiting.push_back(*length);
                    }
                }
            }
            let (reported, arrived, lost) = take(&mut hop, i64::MAX);
            let count = hop.count();
            prop_assert_eq!(reported, expected.len());
            prop_assert_eq!(count.offered, packets.len() as u64);
            prop_assert_eq!(count.dropped, (packets.len() - expected.len()) as u64);
            prop_assert_eq!((count.lost, count.delivered), (lost.len() as u64, arrived.len() as u64));
            prop_assert_eq!(arrived.len() + lost.len(), expected.len());
            let bytes: u64 = arrived.iter().map(|(number, _)| u64::from(packets[*number as usize].1)).sum();
            prop_assert_eq!(count.delivered_bytes, bytes);
            prop_assert!(arrived.is_empty() || loss < 1_000_000_000);
            prop_assert!(lost.is_empty() || loss > 0);
            prop_assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for (number, at) in arrived {
                let (_, end) = expected.iter().find(|(of, _)| *of == number).unwrap();
                // The rounding errors of earlier packets are compensated.
                let late = at - end - delay as i64 * 1_000_000;
                prop_assert!((0..=expected.len() as i64).contains(&late), "{late} ns");
            }
        }
    }

    proptest! {
        /// The planned ends of serialisation are the times of the reports.
        #[test]
        fn planned_ends_are_reported(
            rate in 5_000_000_u64..1_000_000_000,
            delay in 0_u64..20,
            loss in 0_u32..500_000_000,
            packets in prop::collection::vec((0_i64..200_000, 20_u32..1_600), 1..60),
        ) {
            let mut hop = hop(Some(rate), delay, 20_000);
            hop.set_config(Instant::ZERO, HopConfig { loss: Probability::from_ppb(loss).unwrap(), ..hop.config() });
            hop.report_sent(true);
            let (mut planned, mut reports, mut nanos) = (Vec::new(), Vec::new(), 0);
            let mut advance = |hop: &mut Hop<u32>, until| {
                while let Some(now) = hop.poll_timeout().filter(|at| *at <= until) {
                    hop.handle_timeout(now);
                    while let Some((at, event)) = hop.poll_event(now) {
                        assert_eq!(at, now);
                        reports.extend((event == HopEvent::Sent).then_some(at));
                    }
                }
            };
            for (gap, length) in packets {
                nanos += gap;
                let now = Instant::from_nanos(nanos);
                advance(&mut hop, now);
                planned.extend(hop.handle_packet(now, length, 0));
                let later = planned.iter().filter(|at| **at > now);
                prop_assert!(hop.planned(now).iter().map(|(at, _)| at).eq(later));
            }
            advance(&mut hop, Instant::from_secs(100));
            prop_assert_eq!(reports, planned);
        }

        /// A new rate applies from the next packet on that begins its serialisation. Each packet is compared with its begin
        /// and end by hand.
        #[test]
        fn a_new_rate_applies_to_the_packets_that_wait(
            rates in prop::array::uniform2(5_000_000_u64..1_000_000_000),
            changed in 0_i64..5_000_000,
            packets in prop::collection::vec((0_i64..200_000, 20_u32..1_600), 1..60),
        ) {
            let mut hop = hop(Some(rates[0]), 7, 1_000_000);
            hop.report_sent(true);
            let changed = Instant::from_nanos(changed);
            let (mut expected, mut nanos, mut idle, mut has_changed) = (Vec::new(), 0, 0, false);
            for (number, (gap, length)) in packets.iter().enumerate() {
                nanos += gap;
                let now = Instant::from_nanos(nanos);
                if !has_changed && now >= changed {
                    hop.set_config(changed, HopConfig { rate: Some(BitRate::from_bps(rates[1])), ..hop.config() });
                    has_changed = true;
                }
                prop_assert!(hop.handle_packet(now, *length, number as u32).is_ok());
                let begin = idle.max(nanos);
                let rate = rates[usize::from(begin >= changed.as_nanos())];
                idle = begin + ((u64::from(*length) + 38) * 8 * 1_000_000_000 / rate) as i64;
                expected.push(idle);
            }
            if !has_changed {
                hop.set_config(changed, HopConfig { rate: Some(BitRate::from_bps(rates[1])), ..hop.config() });
            }
            let (mut sent, mut arrived) = (Vec::new(), Vec::new());
            while let Some((at, event)) = hop.poll_event(Instant::from_secs(100)) {
                match event {
                    HopEvent::Sent => sent.push(at),
                    HopEvent::Arrived(number) => arrived.push((number, at)),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            prop_assert_eq!(sent.len(), expected.len());
            for (number, (sent, expected)) in sent.iter().zip(expected).enumerate() {
                // The rounding errors of earlier packets are compensated.
                prop_assert!((0..=packets.len() as i64).contains(&(sent.as_nanos() - expected)));
                prop_assert_eq!(arrived[number], (number as u32, *sent + Duration::from_millis(7)));
            }
        }
    }

    /// The list of packets that may wait is as long as those that do, also without a limit of the queue.
    #[test]
    fn packets_that_have_left_the_queue_are_forgotten() {
        let mut hop = hop(Some(12_304_000), 0, u64::MAX);
        // 1 ms for each packet, of which four wait.
        for number in 0..10_000 {
            let now = Instant::from_millis((number - 4_i64).max(0));
            assert!(hop.handle_packet(now, 1_500, number as u32).is_ok());
            while hop.poll_event(now).is_some() {}
            assert!(hop.queued.len() <= 8, "{}", hop.queued.len());
        }
        assert_eq!(hop.backlog(Instant::from_millis(9_995)), 4 * 1_500);
    }

    /// After an outage of a link without a rate, all packets that waited begin at one instant. A new loss keeps their order.
    #[test]
    fn packets_that_begin_together_keep_their_order() {
        let mut hop = hop(None, 10, 1_000_000);
        let outage = Outage {
            start: Duration::from_millis(2_000),
            length: Duration::from_millis(1_000),
        };
        hop.set_service(Service::new(&[outage], None).unwrap());
        let config = hop.config();
        let lossy = |ppb| HopConfig {
            loss: Probability::from_ppb(ppb).unwrap(),
            ..config
        };
        hop.set_config(Instant::ZERO, lossy(500_000_000));
        for number in 0..100 {
            assert!(hop.handle_packet(Instant::from_millis(2_100), 1_500, number).is_ok());
        }
        hop.set_config(Instant::from_millis(2_500), lossy(0));
        let mut arrived = Vec::new();
        while let Some((at, event)) = hop.poll_event(Instant::from_secs(100)) {
            match event {
                HopEvent::Arrived(number) if at == Instant::from_millis(3_010) => arrived.push(number),
                // The first one began its serialisation when it was offered.
                HopEvent::Lost(0) => arrived.push(0),
                other => panic!("{other:?} at {at:?}"),
            }
        }
        assert!(arrived.iter().copied().eq(0..100), "{arrived:?}");
    }

    /// A queue discipline may hold more packets for a link whose packet will be lost.
    #[test]
    fn a_lost_packet_bounds_the_next_delivery() {
        let mut hop = hop(Some(12_304_000), 5, 1_000_000);
        hop.report_idle();
        let config = HopConfig {
            loss: Probability::from_ppb(1_000_000_000).unwrap(),
            ..hop.config()
        };
        hop.set_config(Instant::ZERO, config);
        assert!(hop.handle_packet(Instant::ZERO, 1_500, 1).is_ok());
        assert_eq!(hop.next_delivery(), Some(Instant::from_millis(6)));
        assert!(!hop.is_idle(Instant::from_millis(1)), "until the event is processed");
        hop.handle_timeout(Instant::from_millis(1));
        assert!(hop.is_idle(Instant::from_millis(1)));
    }

    /// A shorter delay doesn't reorder packets.
    #[test]
    fn the_order_is_kept_when_the_delay_changes() {
        let mut hop = hop(None, 10, 1_000);
        assert!(!hop.is_passthrough());
        hop.handle_packet(Instant::ZERO, 100, 1).unwrap();
        let none = HopConfig {
            delay: Duration::ZERO,
            ..hop.config()
        };
        hop.set_config(Instant::ZERO, none);
        assert!(
            none.is_passthrough() && !hop.is_passthrough(),
            "one packet is still in flight"
        );
        hop.handle_packet(Instant::from_millis(1), 100, 2).unwrap();
        let at = Instant::from_millis(10);
        assert_eq!((hop.poll_timeout(), hop.next_delivery()), (Some(at), Some(at)));
        assert_eq!(hop.poll_event(Instant::from_millis(9)), None);
        assert_eq!(hop.poll_event(at), Some((at, HopEvent::Arrived(1))));
        assert_eq!(hop.poll_event(at), Some((at, HopEvent::Arrived(2))));
        assert!(hop.is_passthrough() && hop.poll_timeout().is_none());
        for config in [
            HopConfig {
                rate: Some(BitRate::from_mbps(1)),
                ..none
            },
            HopConfig {
                delay: Duration::from_nanos(1),
                ..none
            },
            HopConfig {
                loss: Probability::from_ppb(1).unwrap(),
                ..none
            },
        ] {
            assert!(!config.is_passthrough());
        }
    }

    /// 100 ms at the rate: 1.25 MB for 100 Mbit/s; 64 KiB below 5.24 Mbit/s.
    #[test]
    fn default_queues() {
        let usual = |rate: Option<u64>| HopConfig::default_queue(rate.map(BitRate::from_bps)).as_bytes();
        assert_eq!(usual(Some(100_000_000)), 1_250_000);
        assert_eq!(usual(Some(5_000_000)), 65_536);
        assert_eq!(usual(None), 65_536);
    }
}
