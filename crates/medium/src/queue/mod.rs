//! Transmit queues: waiting packets of an access point or a station, and their order.
//!
//! Every discipline is a type in a file of its own. Those that Linux has above the driver, without
//! station queues ([`fifo`], [`pfifo_fast`], [`fq_codel`]), implement [`driver::Discipline`]. Above
//! a radio they use the driver's lists ([`driver`]). [`station_rr`], [`fq_mac`] and [`airtime`]
//! have a queue per station, and implement [`TransmitQueue`]. [`codel`] and [`fq`] are their common
//! parts. [`QueueKind`] lists all disciplines, and [`QueueConfig`] builds one of them.

pub mod airtime;
mod cake;
pub mod codel;
mod config;
pub mod driver;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod fq_mac;
pub mod pfifo_fast;
mod properties;
mod round_robin;
pub mod station_rr;
pub(crate) mod tins;

use config::Mount;
pub use config::QueueConfig;
pub use properties::{Place, Properties, Sharing};

use crate::config::QueueLimit;
use crate::edca::AccessCategory;
use crate::packet::{DropReason, NodeId, Queued};
use crate::queue::codel::CodelParameters;
use netburn_units::{Duration, Instant};

/// Registers the disciplines in the order in which messages and the manual list them. Each file
/// has its `PROPERTIES` and its constructor `build`.
macro_rules! disciplines {
    ($($(#[$default:meta])? $kind:ident => $file:ident,)+) => {
        /// Queue discipline of an access point, a station or a WAN link.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum QueueKind {
            $(
                $(#[$default])?
                #[doc = concat!("See [`", stringify!($file), "`].")]
                $kind,
            )+
        }

        impl QueueKind {
            /// All disciplines.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$kind),+];

            /// Its properties.
            #[must_use]
            pub const fn properties(self) -> &'static Properties {
                match self {
                    $(QueueKind::$kind => &$file::PROPERTIES,)+
                }
            }

            /// Builds the discipline in its place; `None` if it can't be there.
            fn construct<P: std::fmt::Debug + Send + 'static, M: Mount<P>>(
                self,
                config: &QueueConfig,
                mount: M,
            ) -> Option<M::Mounted> {
                match self {
                    $(QueueKind::$kind => $file::build(config, mount),)+
                }
            }
        }
    };
}

disciplines! {
    #[default]
    Fifo => fifo,
    PfifoFast => pfifo_fast,
    StationRr => station_rr,
    FqCodel => fq_codel,
    FqMac => fq_mac,
    Airtime => airtime,
    Cake => cake,
}

impl QueueKind {
    /// The disciplines that a scenario can use in a place.
    #[must_use]
    pub fn all_on(place: Place) -> Vec<QueueKind> {
        let kinds = Self::ALL.iter().copied();
        kinds.filter(|kind| kind.is_on(place)).collect()
    }

    /// Returns true if a scenario can use it in a place.
    #[must_use]
    pub fn is_on(self, place: Place) -> bool {
        self.properties().places.contains(&place)
    }

    /// Name in scenario files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Limit of a queue without another one.
    #[must_use]
    pub const fn default_limit(self) -> QueueLimit {
        self.properties().default_limit
    }
}

/// A station and traffic identifier: the unit of an aggregate and of a BlockAck agreement. Values and comments call it a
/// tin, as `fq_tin` of mac80211 (Linux, `include/net/fq.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationTid {
    /// Receiver.
    pub to: NodeId,
    /// TID, 0 to 7.
    pub tid: u8,
}

impl StationTid {
    /// Access category of its TID.
    #[must_use]
    pub const fn category(self) -> AccessCategory {
        AccessCategory::from_tid(self.tid)
    }
}

/// Readiness of a tin for an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Ready.
    Now,
    /// Only a short aggregate is possible; a full one after the end of an aggregate of the same tin
    /// in the hardware. Leaving the hardware's position empty until then costs no airtime.
    Soon,
    /// Not ready.
    Later,
}

/// Packets of a tin that wait ahead of the queue: taken from it, and not on the air yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// None.
    Nothing,
    /// Packets that did not fit into the last aggregate. They keep their position in the order of
    /// arrival.
    LeftOver {
        /// [`Queued::arrival`] of the first of them.
        arrival: u64,
    },
    /// MPDUs that are due for retransmission. They precede every new packet.
    Retransmission,
}

impl Unsent {
    /// Returns true if packets wait.
    #[must_use]
    pub const fn is_some(self) -> bool {
        !matches!(self, Unsent::Nothing)
    }
}

/// State of a station, from the view of its access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StationState {
    /// It receives.
    #[default]
    Awake,
    /// It announced power save: it sleeps, or listens to another channel.
    Asleep,
    /// It is not associated.
    Gone,
}

/// Dropped packets of a queue, which the air reports.
pub type Drops<P> = Vec<(Queued<P>, DropReason)>;

/// A transmit queue.
///
/// **Call order:** call [`enqueue`](Self::enqueue) at any time. To fill the hardware, call
/// [`next`](Self::next), then [`dequeue`](Self::dequeue) of that tin until the aggregate is full or
/// the tin is empty. Later packets of the tin may join the aggregate while
/// [`may_push`](Self::may_push) permits it.
pub trait TransmitQueue<P>: std::fmt::Debug + Send {
    /// Adds a packet. Packets dropped for it, or the packet itself, are added to `drops`.
    fn enqueue(&mut self, now: Instant, packet: Queued<P>, drops: &mut Drops<P>);

    /// Tin of the next aggregate of this category, among those that are ready by `may`. `None` if
    /// there is none, or if the position is kept for one that will be ready soon.
    fn next(
        &mut self,
        now: Instant,
        category: AccessCategory,
        may: &mut dyn FnMut(StationTid) -> Readiness,
    ) -> Option<StationTid>;

    /// Next packet for `tin`. CoDel's drops are added to `drops`; its marks are set in the packet.
    fn dequeue(&mut self, now: Instant, tin: StationTid, drops: &mut Drops<P>) -> Option<Queued<P>>;

    /// Returns true if [`dequeue`](Self::dequeue) of that tin would return nothing and change nothing, if that is
    /// quick to tell.
    fn is_idle(&self, tin: StationTid) -> bool {
        let _ = tin;
        false
    }

    /// Sets the packets of `tin` that wait ahead of the queue. They count as backlog.
    fn set_unsent(&mut self, now: Instant, tin: StationTid, unsent: Unsent);

    /// Returns true if the limits of the hardware permit further packets of `tin`.
    fn may_push(&self, tin: StationTid) -> bool {
        let _ = tin;
        true
    }

    /// Reports an aggregate or a packet with this estimated airtime that was passed to the hardware.
    fn on_pushed_to_hw(&mut self, tin: StationTid, airtime: Duration) {
        let _ = (tin, airtime);
    }

    /// Reports that this estimated airtime of [`on_pushed_to_hw`](Self::on_pushed_to_hw) has left
    /// the hardware.
    fn on_completed(&mut self, tin: StationTid, airtime: Duration) {
        let _ = (tin, airtime);
    }

    /// Charges `airtime` to `tin`, as sender or as receiver.
    fn charge_airtime(&mut self, tin: StationTid, airtime: Duration);

    /// Sets a station's weight, if the discipline has weights.
    fn set_weight(&mut self, station: NodeId, weight: u32) {
        let _ = (station, weight);
    }

    /// Sets the CoDel parameters of one station's tin, if the discipline has them.
    fn set_codel(&mut self, tin: StationTid, codel: CodelParameters) {
        let _ = (tin, codel);
    }

    /// Reports a station's state. Disciplines with a queue per station keep a sleeping station's
    /// packets where they are.
    fn set_station(&mut self, now: Instant, station: NodeId, state: StationState, drops: &mut Drops<P>) {
        let _ = (now, station, state, drops);
    }

    /// Drops all packets, because the queue is replaced.
    fn clear(&mut self, drops: &mut Drops<P>);

    /// Number of queued packets.
    fn packets(&self) -> usize;

    /// Their bytes.
    fn bytes(&self) -> u64;
}
