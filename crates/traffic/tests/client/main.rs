//! The driver and `fetch` against real servers on loopback.

mod bad_days;
mod fetching;
mod measured;
mod util;
