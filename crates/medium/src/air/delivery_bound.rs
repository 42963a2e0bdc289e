//! Lower bound on the time of the next delivery, so that a real-time driver can sleep until then.

use super::channel::{Channel, Origin};
use super::sequence::FrameType;
use super::{Air, Event};
use netburn_units::{Duration, Instant};

/// Minimum duration of a PPDU: the preamble and SIGNAL of OFDM (802.11-2020 clause 17.3.3). Later
/// PHYs begin with them, and DSSS takes longer.
const MIN_PPDU: Duration = Duration::from_micros(20);

/// Lower bound of the next delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryBound {
    /// No delivery occurs before this time without a new input.
    pub at: Instant,
    /// Expectation at this time.
    pub what: Expected,
}

/// Expectation at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// A delivery.
    Delivery,
    /// Possibly a delivery, if the next frame is very short: query again then.
    Possible,
    /// Probably no delivery: query again then.
    Unlikely,
}

impl Expected {
    /// Bound at this instant with this expectation.
    #[must_use]
    pub const fn at(self, at: Instant) -> DeliveryBound {
        DeliveryBound { at, what: self }
    }
}

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Lower bound of the next delivery without a new input; `None` if nothing is pending.
    pub fn next_delivery_bound(&mut self) -> Option<DeliveryBound> {
        let now = self.now;
        let backoffs = self
            .channels
            .iter_mut()
            .filter_map(|channel| channel.contention.next_due());
        // A frame that starts after a backoff has a minimum duration.
        let first = backoffs.map(|at| Expected::Possible.at(at.max(now) + MIN_PPDU)).min();
        let events = self
            .events
            .iter()
            .filter_map(|event| self.bound_of_event(event.0.0, event.0.2));
        first.into_iter().chain(events).min()
    }

    /// Earliest delivery of a packet that enters at `at` or later.
    #[must_use]
    pub fn earliest_delivery(&self, at: Instant) -> Instant {
        let free = self.channels.iter().map(Channel::busy_until).min().flatten();
        free.map_or(at, |free| free.max(at)) + MIN_PPDU
    }

    fn bound_of_event(&self, at: Instant, event: Event) -> Option<DeliveryBound> {
        Some(match event {
            Event::End { channel, frame } => match self.channels[channel].origin(frame)? {
                Origin::Exchange { frame, .. } => match frame {
                    FrameType::Data => Expected::Delivery.at(at),
                    // A packet that its sender gives up may release others at the receiver.
                    FrameType::Response => Expected::Unlikely.at(at),
                    FrameType::Rts | FrameType::Cts | FrameType::CtsToSelf => Expected::Possible.at(at + MIN_PPDU),
                },
                Origin::Obss => Expected::Possible.at(at + MIN_PPDU),
            },
            Event::Begin { node } => match self.nodes[node.index()].exchange.as_ref()?.sequence.step().frame {
                FrameType::Cts | FrameType::Response => Expected::Unlikely.at(at + MIN_PPDU),
                FrameType::Rts | FrameType::CtsToSelf | FrameType::Data => Expected::Possible.at(at + MIN_PPDU),
            },
            Event::Up { .. } => Expected::Possible.at(at + MIN_PPDU),
            Event::Timeout { .. } => Expected::Unlikely.at(at),
            Event::Down { .. } => Expected::Delivery.at(at),
            // These only occupy time.
            Event::Obss { .. } => return None,
        })
    }
}
