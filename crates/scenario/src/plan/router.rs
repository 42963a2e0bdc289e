//! The router of a house.

use super::{ApSetting, Wan, WanSection, wired_queue};
use crate::scalars::{QueueBytes, Rate};
use crate::section_macro::section;
use crate::value::section_values;
use netburn_units::{BitRate, ByteSize};

/// A router without radios.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Router {
    /// WAN link; `None`: the router is next to the server's link.
    pub wan: Option<Wan>,
    /// Maximum forwarding rate between the WAN link and the ports, sum of both directions; `None`: unlimited.
    pub forwarding: Option<BitRate>,
    /// Capacity of the forwarding queue; `None`: [`DEFAULT_QUEUE_TIME`](super::DEFAULT_QUEUE_TIME) at the rate.
    pub forwarding_queue: Option<ByteSize>,
}

section! {
    /// The router of the house, without radios. Every access point with a wire, every kit and every station with `wired` is behind it, and they share its line. Packets between its ports pass neither its line nor its forwarding. A scenario whose router has radios uses `[ap.NAME.wan]` instead.
    RouterSection(Router = Router::default()) changes ApSetting {
        /// Line of the house: its WAN link.
        wan: WanSection => wan, default "none: the router is next to the server's link";
        /// Maximum forwarding rate between the line and the ports, sum of both directions.
        forwarding: Rate => forwarding, default "unlimited", changes |value| (ApSetting::Forwarding(value));
        /// Capacity of the forwarding queue, shared by both directions.
        forwarding_queue: QueueBytes => forwarding_queue, default wired_queue("`forwarding`");
    }
}

section_values! {
    RouterSection => Router,
}
