//! The driver, `fetch` and `rpm` against real servers on loopback.

mod corpus;
mod faults;
mod fetching;
mod measurements;
mod netburn_server;
mod progress;
mod rpm;
mod util;
