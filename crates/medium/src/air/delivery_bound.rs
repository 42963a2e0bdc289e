//! Before when nothing is delivered: for a driver in real time, who can sleep until then.

use super::channel::{Channel, Kind};
use super::{Air, Event, Step};
use netburn_units::{Duration, Instant};

/// No PPDU is shorter: the preamble and SIGNAL of OFDM (802.11-2020 clause 17.3.3). What is newer begins with them, DSSS takes
/// longer.
const SHORTEST: Duration = Duration::from_micros(20);

/// When something may come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryBound {
    /// Nothing is delivered before, unless something comes in.
    pub at: Instant,
    /// What is expected then.
    pub what: Expected,
}

/// What is expected at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// A delivery.
    Delivery,
    /// Possible a delivery, if what is sent first is very short: it is when to ask again.
    Possible,
    /// Unlikely a delivery: it is when to ask again.
    Unlikely,
}

impl Expected {
    /// It is expected at this instant, and nothing before.
    #[must_use]
    pub const fn at(self, at: Instant) -> DeliveryBound {
        DeliveryBound { at, what: self }
    }
}

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Before when nothing is delivered unless something comes in; `None` when nothing will be.
    pub fn next_delivery_bound(&mut self) -> Option<DeliveryBound> {
        let now = self.now;
        let backoffs = self
            .channels
            .iter_mut()
            .filter_map(|channel| channel.contention.next_due());
        // What is sent when a backoff is done takes its time.
        let first = backoffs.map(|at| Expected::Possible.at(at.max(now) + SHORTEST)).min();
        let events = self
            .events
            .iter()
            .filter_map(|event| self.foresee_event(event.0.0, event.0.2));
        first.into_iter().chain(events).min()
    }

    /// Before when a packet isn't delivered that comes in at `at` or later.
    #[must_use]
    pub fn earliest_delivery(&self, at: Instant) -> Instant {
        let free = self.channels.iter().map(Channel::busy_until).min().flatten();
        free.map_or(at, |free| free.max(at)) + SHORTEST
    }

    fn foresee_event(&self, at: Instant, event: Event) -> Option<DeliveryBound> {
        Some(match event {
            Event::End { channel, flight } => match self.channels[channel].kind(flight) {
                Some(Kind::Data) => Expected::Delivery.at(at),
                // What its sender gives up may be what others wait for at the receiver.
                Some(Kind::Response) | None => Expected::Unlikely.at(at),
                Some(Kind::Rts | Kind::Cts | Kind::Others) => Expected::Possible.at(at + SHORTEST),
            },
            Event::Begin {
                step: Step::Cts | Step::Response,
                ..
            } => Expected::Unlikely.at(at + SHORTEST),
            Event::Begin { step: Step::Data, .. } | Event::Up { .. } => Expected::Possible.at(at + SHORTEST),
            Event::TimeOut { .. } => Expected::Unlikely.at(at),
            Event::Down { .. } => Expected::Delivery.at(at),
            // They only take time.
            Event::Others { .. } => return None,
        })
    }
}
