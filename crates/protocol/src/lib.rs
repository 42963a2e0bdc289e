//! Messages between a controller, the agents and server of a run, and the members of a fleet. Also their transport.
//!
//! Modules, from the top:
//!
//! - [`messages`] – the messages of one run, their rows and their JSON Schema.
//! - [`messages::standing`] – the messages between a controller and the members of its fleet.
//! - `transport` – framing over WebSockets and byte streams. `duplex`: sending and receiving over one channel.
//! - [`clock`] – estimation of the offset between two clocks, with an error bound. `own_clock`: the monotonic
//!   clock of this process.
//! - [`backoff`] – delays between attempts to connect.
//! - `token` – secrets that admit a peer. `join_url`: the address with which a member joins a fleet.
//!
//! The modules without links use an operating system. WebAssembly has the others.

pub mod backoff;
pub mod clock;
#[cfg(not(target_family = "wasm"))]
pub mod duplex;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(not(target_family = "wasm"))]
pub mod join_url;
pub mod messages;
#[cfg(not(target_family = "wasm"))]
pub mod own_clock;
#[cfg(not(target_family = "wasm"))]
pub mod token;
#[cfg(not(target_family = "wasm"))]
pub mod transport;
