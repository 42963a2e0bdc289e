//! The driver and `fetch` against real servers on loopback.

mod corpus;
mod faults;
mod fetching;
mod measurements;
mod netburn_server;
mod util;
