//! What a Wi-Fi driver tells of its link, through generic netlink (linux/nl80211.h, linux/genetlink.h, netlink(7)).
//!
//! Bytes and their meaning are apart: [`Nl80211`] asks and hands over datagrams as they came, [`decode`] reads them and has no socket
//! in it, so that what was recorded elsewhere is read in the same way ([`recording`]).
//!
//! - [`attribute`], [`message`]: a datagram's messages, their attributes, whatever the bytes are.
//! - [`rate`]: how a frame was sent: generation, MCS, streams, width, guard interval.
//! - [`decode`]: interfaces, stations, surveys, events.
//! - [`anonymous`]: messages without names and addresses.
//! - [`recording`]: messages with their times, in a file.

pub mod anonymous;
pub mod attribute;
pub mod decode;
mod format;
#[doc(hidden)]
pub mod fuzz;
pub mod message;
pub mod rate;
pub mod recording;
#[cfg(target_os = "linux")]
mod socket;

pub use decode::{Channel, Event, Interface, Mac, Station, Survey};
pub use rate::{Generation, Rate};
#[cfg(target_os = "linux")]
pub use socket::{Events, Nl80211};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Events, Nl80211};
