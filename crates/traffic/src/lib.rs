//! HTTP and datagram traffic, client and server, and the server's consent.
//!
//! - [`clock`]: run time on this machine's clock.
//! - [`chunked`]: decoder of the chunked transfer coding.
//! - [`consent`]: consent of a server to load tests.
//! - [`content`]: content of transfers.
//! - [`pace`]: a rate limit as a virtual link.
//! - [`server`]: the traffic server.
//! - [`tls`]: certificate of a server.
//! - [`client`]: HTTP connections.
//! - [`datagram`]: probes, both ends without their sockets.
//! - `frames`: limit of HTTP/2 frames without content.
//! - [`limiter`]: rate limit per client.
//! - [`drive`]: runs workloads over sockets.
//! - [`fetch`]: one client against any HTTP server.

pub mod chunked;
pub mod client;
pub mod clock;
pub mod consent;
pub mod content;
pub mod datagram;
pub mod drive;
mod dscp;
pub mod fetch;
mod frames;
pub mod limiter;
pub mod pace;
pub mod server;
mod station_label;
pub mod tls;
