//! A wired hop in one direction: queue → serialisation → propagation, each with its own counters.
//!
//! Law: delivered = min(offered, rate), for every delay.

mod config;

pub use config::{ETHERNET, HopConfig, HopFraming};

use crate::link_service::Service;
use netburn_units::{BitRate, Duration, Instant, Probability, RandomStream, earlier};
use std::collections::VecDeque;

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
    /// Number of the packet, in the order in which packets were offered.
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
mod tests;
