//! The settings of the air: plain data with defaults, every field with its unit, default and source.
//!
//! - [`phy`]: standards, bands, widths, guard intervals, channels: what the standard permits together.
//! - [`radio`]: one radio of an access point.
//! - [`queue`]: transmit queues, hardware queues, airtime queue limits.
//! - [`link`]: one station's link: how good it is and how its rate is chosen.
//! - [`rating`]: the figure on the box.
//! - [`spectrum`]: which frequencies a channel covers.

pub mod link;
pub mod phy;
pub mod queue;
pub mod radio;
pub mod rating;
pub mod spectrum;

pub use link::{AdapterRate, Quality, RadioSelection, RateControl};
pub use phy::{Band, Guard, Standard, Width};
pub use queue::{Aql, HardwareQueue, QueueKind, QueueLimit};
pub use radio::{Aggregation, RadioConfig};
pub use rating::Rating;
