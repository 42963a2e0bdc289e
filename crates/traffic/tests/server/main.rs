//! The server as its clients meet it: over real sockets, on loopback.

mod bad_days;
mod bad_requests;
mod corpus;
mod curl;
mod datagrams;
mod http1;
mod http2;
mod paced;
mod pages;
mod told;
mod util;
