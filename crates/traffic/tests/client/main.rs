//! The driver and `fetch` against real servers on loopback.

mod bad_days;
mod corpus;
mod fetching;
mod measured;
mod our_server;
mod util;
