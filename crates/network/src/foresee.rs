//! Before when nothing comes out of a network: for drivers in real time, who can sleep until then.

use crate::machine::Network;
use crate::wires::Wire;
use netburn_medium::air::{Expected, Foresight};
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send + 'static> Network<P> {
    /// Before when nothing is delivered unless something comes in or a setting is changed by hand; `None` when nothing will be. For drivers
    /// in real time: what happens before that can be looked at then.
    pub fn foresee(&mut self) -> Option<Foresight> {
        let air = self.air.foresee();
        let wires = self.wires.foresee().map(|(wire, at)| match wire {
            Wire::LinkUp => Expected::Delivery.at(at),
            // On the way to the air only.
            Wire::LinkDown | Wire::WanDown(_) => Expected::Perhaps.at(self.soonest(at)),
            _ => Expected::Perhaps.at(at),
        });
        let wired = self.wired.poll_timeout().map(|at| Expected::Perhaps.at(at));
        let change = self.changes.next().map(|at| Expected::Hardly.at(at));
        wires.chain(air).chain(wired).chain(change).min()
    }

    /// Before when a packet isn't delivered that comes in at `at` or later.
    #[must_use]
    pub fn soonest(&self, at: Instant) -> Instant {
        match self.wired.is_empty() {
            true => self.air.soonest(at),
            false => at,
        }
    }
}
