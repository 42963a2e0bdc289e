//! A plan's wired hops, access points, radios and timed changes around the medium, as one machine that the simulator and the
//! lab both drive.
//!
//! - [`hop`]: a wired hop: queue, then serialisation, then delay.

pub mod hop;
