//! Mesh of 802.11s (802.11-2020 clause 14): link metric, peering and path selection.
//!
//! - [`metric`] – airtime metric of a link, as Linux and as the standard count it
//! - [`constants`] – timers and limits of Linux and of ns-3
//! - [`peering`] – agreement of two neighbours
//! - [`hwmp`] – paths to other nodes
//!
//! The modules are state machines without radio: the caller reports elements that arrived, and sends
//! those that a machine returns.

pub mod constants;
pub mod hwmp;
pub mod metric;
pub mod peering;

/// A node of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshId(pub u16);
