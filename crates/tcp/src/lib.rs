//! Simulated TCP endpoints: the visible behaviour of one end of a connection, as in Linux.
//!
//! Modules, from the top:
//!
//! - [`Endpoint`] (`endpoint`): one end of a connection. Inputs are segments, time and the application's bytes; outputs are
//!   segments and events. The sending host returns packets after they have left it.
//! - `sender`: the sending half. It detects losses (SACK, RACK, tail loss probes, F-RTO) and reduces its window (PRR).
//! - [`congestion`] – congestion control: Reno, CUBIC and BBR, with pacing in `pacing`.
//! - `tsq` and `gso`: limit of a connection's data in its host (TCP Small Queues), and the size of bursts.
//! - `receiver`: the receiving half. It reassembles the stream, decides when to acknowledge, and enlarges the window.
//! - [`segment`] – segments between endpoints.
//! - `event` and `info`: events of an endpoint, and its state as in `TCP_INFO`.
//! - [`config`] – settings of a scenario.
//!
//! ```
//! use netburn_tcp::{Endpoint, EndpointConfig, Event, UnsupportedCongestionControl};
//! use netburn_units::Instant;
//!
//! let (config, now) = (EndpointConfig::default(), Instant::ZERO);
//! let mut client = Endpoint::connect(&config, now)?;
//! let mut server = Endpoint::listen(&config, now)?;
//! client.write(now, 10_000);
//! // A path without delay, and a host that frees everything immediately.
//! let carry = |from: &mut Endpoint, to: &mut Endpoint| {
//!     while let Some(transmit) = from.poll_transmit(now) {
//!         to.handle_segment(now, &transmit.segment, false);
//!         from.handle_freed(now, transmit.truesize.into());
//!     }
//! };
//! for _ in 0..3 {
//!     carry(&mut client, &mut server);
//!     carry(&mut server, &mut client);
//! }
//! assert_eq!(server.poll_event(), Some(Event::Connected));
//! assert_eq!(server.poll_event(), Some(Event::Received(10_000)));
//! # Ok::<(), UnsupportedCongestionControl>(())
//! ```
//!
//! Not modelled: simultaneous open, urgent data, path MTU discovery, fast open, TIME-WAIT, an application that
//! doesn't read. Nagle's algorithm is not modelled either (as with `TCP_NODELAY`), but while the application waits
//! for room, a partial segment isn't sent. SACK, timestamps and window scaling are always negotiated.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod config;
pub mod congestion;
mod endpoint;
mod event;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod gso;
mod info;
mod pacing;
mod receiver;
pub mod segment;
mod sender;
mod tsq;

pub use config::EndpointConfig;
pub use endpoint::Endpoint;
pub use event::{Event, Failure, Timer, UnsupportedCongestionControl};
pub use info::{Info, Limit};
pub use segment::{Packet, Segment, Transmit};
pub use tsq::FreedWake;
