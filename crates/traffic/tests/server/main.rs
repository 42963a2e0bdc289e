//! The server over real sockets on loopback.

mod corpus;
mod curl;
mod datagrams;
mod faults;
mod health;
mod http1;
mod http2;
mod invalid_requests;
mod pages;
mod progress;
mod rate_limits;
mod rpm;
mod util;
