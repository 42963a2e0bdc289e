//! Simulated TCP endpoints: what one end of a connection does, as Linux does it where it shows.
//!
//! - [`config`]: the settings that a scenario can state.
//! - [`Endpoint`]: one end of a connection. Segments, time and the application's bytes go in, segments and events come out;
//!   the sending host gives packets back when they have left it.
//! - [`segment`]: what goes from one endpoint to the other.
//! - [`congestion`]: how much may be in the network, and how fast it goes there.
//!
//! Inside, the sending half knows what is lost (SACK, RACK, tail loss probes, F-RTO), how far to go down for it (PRR) and
//! what may wait in the host (TCP Small Queues); the receiving half puts the stream together, decides when to
//! acknowledge, and lets the window grow.
//!
//! ```
//! use netburn_tcp::{Endpoint, EndpointConfig, Event, Unmodelled};
//! use netburn_units::Instant;
//!
//! let (config, now) = (EndpointConfig::default(), Instant::ZERO);
//! let mut client = Endpoint::connect(&config, now)?;
//! let mut server = Endpoint::listen(&config, now)?;
//! client.write(now, 10_000);
//! // A path that takes no time, and a host that lets go of everything at once.
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
//! # Ok::<(), Unmodelled>(())
//! ```
//!
//! Not modelled: simultaneous open, urgent data, path MTU discovery, fast open, Nagle's delay (as with `TCP_NODELAY`; but
//! while the application waits for room less than a segment isn't sent), the wait in TIME-WAIT, an application that doesn't
//! read. SACK, timestamps and window scaling are always agreed on.

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
#[doc(hidden)]
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
pub use event::{Event, Failure, Timer, Unmodelled};
pub use info::{Info, Limit};
pub use segment::{Packet, Segment, Transmit};
