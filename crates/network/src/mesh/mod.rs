//! Mesh of 802.11s (802.11-2020 clause 14): link metric, peering and path selection.
//!
//! State machines without radio: the caller reports elements that arrived, and sends those that a machine returns.
//!
//! - [`metric`] – airtime metric of a link, as Linux and as the standard count it
//! - [`constants`] – timers and limits of Linux and of ns-3
//! - [`peering`] – agreement of two neighbours
//! - [`hwmp`] – paths to other nodes
//!
//! The meshes of a plan:
//!
//! - `state`: members, links and reported paths
//! - `on_air`: the frames of path selection
//! - `peers`: links that open and close
//! - `event`: events of a mesh

pub mod constants;
mod event;
pub mod hwmp;
pub mod metric;
mod on_air;
pub mod peering;
mod peers;
mod state;

pub use event::{MeshEvent, MeshEventKind};
pub(crate) use state::{MeshFrame, Meshes};

/// A node of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshId(pub u16);
