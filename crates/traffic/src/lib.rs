//! Real HTTP and datagrams, client and server, and the consent a server gives.
//!
//! - [`clock`]: run time on this machine's clock.
//! - [`chunked`]: the chunked transfer coding, content dropped.
//! - [`client`]: one HTTP connection at a time.
//! - [`drive`]: walks workloads through real sockets.
//! - [`fetch`]: one client against any HTTP server.

pub mod chunked;
pub mod client;
pub mod clock;
pub mod drive;
pub mod fetch;
