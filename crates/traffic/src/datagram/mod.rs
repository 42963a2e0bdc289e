//! Datagrams that are sent back, for the workload `probe`, without lending the server to anybody's attack.
//!
//! A client first says hello; the server answers, to the address that the hello came from, with a cookie which only
//! who can read there learns. Probes that carry the cookie are echoed with the server's times in place. Nothing is
//! kept per client but its rate, no answer is longer than what was asked, and without a good cookie there is no echo.
//!
//! - [`wire`]: the bytes.
//! - [`echo`]: the server's end.
//! - [`prober`]: the client's end.

pub mod echo;
#[doc(hidden)]
pub mod fuzz;
pub mod prober;
pub mod wire;

pub use echo::{Counters, Echo, EchoLimits};
pub use prober::{Event, Prober, Wake};
pub use wire::{MAX_SIZE, MIN_SIZE};
