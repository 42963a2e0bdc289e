//! Grades and scores of other tools, computed from the latency and loss of a path.
//!
//! - [`bufferbloat`] – letters for the increase of the round-trip time under load.
//! - [`qoo`] – Quality of Outcome: how far latency and loss are from the requirements of a use.
//! - [`aim`] – classes of Cloudflare's speed test.
//!
//! A grade has a meaning only with its scale: several scales use the same letters. Each scale here
//! has a name and a source. No grade is a verdict.

pub mod aim;
pub mod bufferbloat;
pub mod qoo;
