//! Real traffic over HTTP and datagrams: the server, the clients, and the server's consent to load tests.
//!
//! Modules, from the top:
//!
//! - [`server`] – the server, for `netburn serve` and the runs. It answers HTTP requests and echoes datagrams.
//! - [`drive`] – the driver of a run. It runs many workloads over sockets, on one thread.
//! - [`fetch`] – one client against any HTTP server, for `netburn fetch`.
//! - [`client`] – HTTP connections, with a visible connection setup. [`chunked`]: decoder of the chunked transfer coding.
//! - [`datagram`] – probes, both ends without their sockets.
//! - [`consent`] – the document in which a server permits load tests.
//! - [`content`] – the bytes that are transferred.
//! - [`pace`] – a rate limit as a virtual link. [`limiter`]: rate limit per client.
//! - [`load_monitor`] – when a server returns free memory to the system.
//! - [`rpm`] – the client of responsiveness tests, for `netburn rpm`. `unsent_limit`: unsent data of connections that such
//!   a test loads.
//! - `progress`: progress of uploads behind a server's rate limit.
//! - `frames`: limit of HTTP/2 frames without content. `sent`: positions of content in the bytes of a connection.
//! - `dscp`, `station_label`: query parameters of requests: the properties of the response's packets, and the station.
//! - [`tls`] – certificate of a server.
//! - [`clock`] – run time on this machine's clock.

pub mod chunked;
pub mod client;
pub mod clock;
pub mod content;
pub mod datagram;
pub mod drive;
mod dscp;
pub mod fetch;
mod frames;
pub mod limiter;
pub mod load_monitor;
pub mod pace;
mod progress;
pub mod rpm;
mod sent;
pub mod server;
mod station_label;
pub mod tls;
mod unsent_limit;

pub use netburn_driver::consent;
