//! Real HTTP and datagrams, client and server, and the consent a server gives.
//!
//! - [`clock`]: run time on this machine's clock.
//! - [`chunked`]: the chunked transfer coding, content dropped.
//! - [`consent`]: the consent that a server gives.
//! - [`content`]: what is sent.
//! - [`pace`]: a rate cap as a virtual link.
//! - [`server`]: the traffic server.
//! - [`tls`]: who a server is over TLS.
//! - [`client`]: one HTTP connection at a time.
//! - [`datagram`]: datagrams that are sent back, both ends without their sockets.
//! - `frames`: a bound on HTTP/2 frames without content.
//! - [`limiter`]: how often each client may do something.
//! - [`drive`]: walks workloads through real sockets.
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
