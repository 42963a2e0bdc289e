//! Lower bound of the next delivery of a network, so that a real-time driver can sleep until then.

use super::{Feature, Network};
use crate::output::Payload;
use crate::wires::backhaul::HopId;
use netburn_medium::air::{DeliveryBound, Expected};
use netburn_units::Instant;

impl<P: Payload> Network<P> {
    /// Lower bound of the time of the next delivery if no packet arrives and no setting is changed
    /// by [`set`](Self::set); `None` if nothing is pending. A real-time driver can process all
    /// events before that time together.
    pub fn next_delivery_bound(&mut self) -> Option<DeliveryBound> {
        let air = self.wlan.air.next_delivery_bound();
        let hops = self.backhaul.next_deliveries().map(|(wire, at)| match wire {
            HopId::LinkUp => Expected::Delivery.at(at),
            // These packets go to the air.
            HopId::LinkDown | HopId::WanDown(_) | HopId::ShaperDown(_) => {
                Expected::Possible.at(self.earliest_delivery(at))
            }
            _ => Expected::Possible.at(at),
        });
        let stations = self.wired.poll_timeout().map(|at| Expected::Possible.at(at));
        let change = self.changes.next().map(|at| Expected::Unlikely.at(at));
        let first = hops.chain(air).chain(stations).chain(change).min();
        let air = &self.wlan.air;
        let timers = self.features.timeouts().filter_map(|(feature, at)| match feature {
            // These packets go to the air.
            Feature::Relay => Some(Expected::Possible.at(air.earliest_delivery(at?))),
            _ => Some(Expected::Unlikely.at(at?)),
        });
        timers.chain(first).min()
    }

    /// Earliest time at which a packet can be delivered that enters the network at `at` or later.
    #[must_use]
    pub fn earliest_delivery(&self, at: Instant) -> Instant {
        if self.wired.is_empty() {
            self.wlan.air.earliest_delivery(at)
        } else {
            at
        }
    }
}
