//! Models through virtual time: what is due is put in, what comes out is measured, and the clock jumps to what happens next.
//!
//! - [`datagrams`]: flows of datagrams at a constant rate or as fast as they are taken, and probes.

pub mod datagrams;
