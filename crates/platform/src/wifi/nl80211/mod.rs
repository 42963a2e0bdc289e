//! Link state and statistics of Wi-Fi drivers through generic netlink (linux/nl80211.h, linux/genetlink.h, netlink(7)).
//!
//! I/O and decoding are separate. [`Nl80211`] sends requests and returns the datagrams unchanged. [`decode`] decodes
//! them without a socket, so it also decodes [`recording`]s of other machines.
//!
//! - [`attribute`], [`message`]: messages of a datagram and their attributes.
//! - `rate`: generation, MCS, streams, width and guard interval of a frame.
//! - [`decode`] – interfaces, stations, surveys, events.
//! - [`anonymizer`] – removal of names and addresses.
//! - [`recording`] – messages with timestamps in a file.

pub mod anonymizer;
pub mod attribute;
pub mod decode;
mod format;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod message;
mod rate;
pub mod recording;
#[cfg_attr(not(target_os = "linux"), path = "unsupported.rs")]
mod socket;

pub use socket::{Events, Nl80211};
