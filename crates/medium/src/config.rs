//! Settings of the air: plain data with defaults, every field with its unit, default and source.
//!
//! - [`phy`] – standards, bands, widths, guard intervals, channels, and their valid combinations.
//! - [`radio`] – one radio of an access point.
//! - [`queue`] – transmit queues, hardware queues, airtime queue limits.
//! - [`link`] – one station's link: its quality and rate control.
//! - [`rating`] – the speed rating of a product.
//! - [`power_save`] – when a station dozes.
//! - [`roaming`] – when a station looks for another access point, and how it joins.
//! - [`steering`] – access points that ask stations to move.
//! - [`spectrum`] – the frequencies of a channel.

pub mod link;
pub mod phy;
pub mod power_save;
pub mod queue;
pub mod radio;
pub mod rating;
pub mod roaming;
pub mod spectrum;
pub mod steering;

pub use link::{AdapterRate, LinkQuality, RadioSelection, RateControl};
pub use phy::{Band, Guard, Standard, Width};
pub use power_save::{PowerSave, PowerSaveMode};
pub use queue::{Aql, Composition, HardwareQueue, QueueLimit};
pub use radio::{Aggregation, RadioConfig};
pub use rating::Rating;
pub use roaming::{Roaming, RoamingPolicy, Security, TransitionAnswer};
pub use steering::{Steering, SteeringPolicy};
