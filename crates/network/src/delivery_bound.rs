//! Lower bound of the next delivery of a network, so that a real-time driver can sleep until then.

use crate::backhaul::HopId;
use crate::machine::Network;
use netburn_medium::air::{DeliveryBound, Expected};
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Lower bound of the time of the next delivery if no packet arrives and no setting is changed
    /// by [`set`](Self::set); `None` if nothing is pending. A real-time driver can process all
    /// events before that time together.
    pub fn next_delivery_bound(&mut self) -> Option<DeliveryBound> {
        let air = self.air.next_delivery_bound();
        let presence = self.power_saves.poll_timeout().map(|at| Expected::Unlikely.at(at));
        let hops = self.backhaul.next_deliveries().map(|(wire, at)| match wire {
            HopId::LinkUp => Expected::Delivery.at(at),
            // These packets go to the air.
            HopId::LinkDown | HopId::WanDown(_) | HopId::ShaperDown(_) => {
                Expected::Possible.at(self.earliest_delivery(at))
            }
            _ => Expected::Possible.at(at),
        });
        let stations = self.wired.poll_timeout().map(|at| Expected::Possible.at(at));
        let relays = self.relays.poll_timeout();
        let relays = relays.map(|at| Expected::Possible.at(self.air.earliest_delivery(at)));
        let broadcasts = self.broadcasts.poll_timeout().map(|at| Expected::Unlikely.at(at));
        let meshes = self.meshes.poll_timeout().map(|at| Expected::Unlikely.at(at));
        let change = self.changes.next().map(|at| Expected::Unlikely.at(at));
        let roaming = self.roaming.poll_timeout().map(|at| Expected::Unlikely.at(at));
        let timers = roaming.into_iter().chain(presence).chain(meshes).chain(broadcasts);
        hops.chain(air)
            .chain(stations)
            .chain(relays)
            .chain(change)
            .chain(timers)
            .min()
    }

    /// Earliest time at which a packet can be delivered that enters the network at `at` or later.
    #[must_use]
    pub fn earliest_delivery(&self, at: Instant) -> Instant {
        if self.wired.is_empty() {
            self.air.earliest_delivery(at)
        } else {
            at
        }
    }
}
