//! Queues of a WAN link that are not the link's own FIFO.
//!
//! ```text
//! without a shaper:          packets → discipline → link
//! with a shaper, uplink:     packets → discipline → shaper → FIFO of the modem → link
//! with a shaper, downlink:   packets → FIFO of the head end → link → discipline → shaper
//! ```
//!
//! - [`pacer`] – a discipline, and the shaper that takes packets from it.
//! - [`policer`] – a token bucket that drops: before the link downlink, after it uplink.
//! - [`cake`] – the discipline CAKE. All others are those of the access points
//!   ([`netburn_medium::queue`]).

pub mod cake;
pub(crate) mod pacer;
pub mod policer;
#[cfg(test)]
mod tests;
