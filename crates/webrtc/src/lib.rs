//! The server's end of WebRTC data channels, for stations that are web browsers.
//!
//! A browser sends datagrams only over WebRTC (RFC 8831): SCTP (RFC 9260) over DTLS (RFC 6347) over UDP, between addresses
//! that ICE (RFC 8445) has checked. This crate implements the side of a server with a public address: an ICE lite agent
//! and a DTLS server. Each session has one data channel, unordered and without retransmissions, which both sides open
//! without negotiation: SCTP stream [`STREAM`].
//!
//! - [`Identity`] – certificate of the server.
//! - [`Offers`] – credentials for browsers that have offered a session. They are computed, not stored.
//! - [`ChannelServer`] – all sessions of one UDP socket.
//! - `stun`: binding requests and responses. `session`: DTLS and SCTP of one session. `crypto`: ring for DTLS.
//!
//! No code here reads a clock or a socket. DTLS and SCTP draw random numbers from the system.

mod clock;
mod crypto;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod identity;
mod offers;
mod server;
mod session;
mod stun;
#[cfg(test)]
mod tests;

pub use identity::{Fingerprint, Identity, IdentityError};
pub use offers::{Answer, Offers};
pub use server::{ChannelServer, Counters, Limits, Message, Transmit};
pub use session::{MAX_MESSAGE, STREAM};

/// Returns whether a datagram belongs to WebRTC, by its first byte: STUN has 0 to 3, and DTLS has 20 to 63 (RFC 7983 §7).
#[must_use]
pub fn is_webrtc(datagram: &[u8]) -> bool {
    matches!(datagram.first(), Some(0..=3 | 20..=63))
}
