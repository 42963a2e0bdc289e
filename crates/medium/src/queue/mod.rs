//! Transmit queues: what waits at an access point or a station, and who is served next.
//!
//! Every discipline is a type of its own behind [`TransmitQueue`]. Those that Linux keeps above the driver, and that don't
//! know stations ([`fifo`], [`pfifo_fast`], [`fq_codel`]), sit on the driver's own lists ([`driver`]); [`station_rr`], [`fq_mac`]
//! and [`airtime`] keep a queue per station themselves. [`codel`] and [`fq`] are what they share.

pub mod airtime;
pub mod codel;
pub mod driver;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod fq_mac;
pub mod pfifo_fast;
pub mod station_rr;
pub(crate) mod tins;
mod turns;

use crate::edca::AccessCategory;
use crate::packet::{DropReason, NodeId, Queued};
use crate::queue::codel::CodelParameters;
use netburn_units::{Duration, Instant};

/// A station and traffic identifier: what one aggregate is for, and one BlockAck agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tin {
    /// The receiver.
    pub to: NodeId,
    /// 0 to 7.
    pub tid: u8,
}

impl Tin {
    /// The access category of its TID.
    #[must_use]
    pub const fn category(self) -> AccessCategory {
        AccessCategory::of_tid(self.tid)
    }
}

/// Whether an aggregate for a tin can be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Now.
    Now,
    /// Only a short one: a full one when an aggregate of the same tin, which the hardware holds, has ended. Leaving the
    /// hardware's place empty until then costs no time on the air.
    Soon,
    /// Not now.
    Later,
}

/// What the air holds for a tin above the queue: taken from it, and not on its way yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// Nothing.
    Nothing,
    /// Packets that did not fit into the last aggregate. They keep their place in the order of arrival.
    LeftOver {
        /// [`Queued::arrival`] of the first of them.
        arrival: u64,
    },
    /// MPDUs that failed and are due for retransmission. They go before every new packet.
    Retransmission,
}

impl Unsent {
    /// Whether there is anything.
    #[must_use]
    pub const fn is_some(self) -> bool {
        !matches!(self, Unsent::Nothing)
    }
}

/// What a queue threw away, for the air to report.
pub type Drops<P> = Vec<(Queued<P>, DropReason)>;

/// A transmit queue.
///
/// **Call order:** [`enqueue`](Self::enqueue) at any time; to fill the hardware, [`next`](Self::next), then
/// [`dequeue`](Self::dequeue) of that tin until the aggregate is full or nothing is left.
pub trait TransmitQueue<P>: std::fmt::Debug + Send {
    /// Takes a packet. What is dropped for it, itself or another, goes to `drops`.
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>);

    /// The tin that the next aggregate of this category is for, among those that `may` be served. `None` when there is none, and
    /// when the place is for one that will be ready soon.
    fn next(&mut self, now: Instant, category: AccessCategory, may: &mut dyn FnMut(Tin) -> Readiness) -> Option<Tin>;

    /// The next packet for `tin`. CoDel's drops go to `drops`, its marks into the packet.
    fn dequeue(&mut self, now: Instant, tin: Tin, drops: &mut Drops<P>) -> Option<Queued<P>>;

    /// What the air itself holds for `tin` from now on. It counts as backlog.
    fn set_unsent(&mut self, now: Instant, tin: Tin, unsent: Unsent);

    /// An aggregate that will take `airtime` went to the hardware.
    fn handed(&mut self, tin: Tin, airtime: Duration) {
        let _ = (tin, airtime);
    }

    /// An aggregate that was [`handed`](Self::handed) over with `airtime` has left the hardware.
    fn finished(&mut self, tin: Tin, airtime: Duration) {
        let _ = (tin, airtime);
    }

    /// `tin` was on the air for `airtime`, as sender or as receiver.
    fn charge(&mut self, tin: Tin, airtime: Duration);

    /// A station's weight from now on, where the discipline has weights.
    fn set_weight(&mut self, station: NodeId, weight: u32) {
        let _ = (station, weight);
    }

    /// The CoDel parameters of one station's tin from now on, where the discipline has such.
    fn set_codel(&mut self, tin: Tin, codel: CodelParameters) {
        let _ = (tin, codel);
    }

    /// Drops all that waits: another queue takes its place.
    fn clear(&mut self, drops: &mut Drops<P>);

    /// Packets that wait.
    fn packets(&self) -> usize;

    /// Their bytes.
    fn bytes(&self) -> u64;
}
