//! Connections of access points to the server: wires, relays over the air, and meshes.

use super::{RadioName, RadioRef};
use netburn_medium::config::LinkQuality;

/// Connection of an access point to the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Backhaul {
    /// Over a wire to the `[router]`, or to the server's link if there is none.
    #[default]
    Wired,
    /// Over a wire to a port of the access point of this name.
    Port(String),
    /// Over the air, to this radio of another access point.
    Radio(RadioRef),
    /// Over the air, by the own radio of this name, to the access point over which the path to the wire is best.
    Best(RadioName),
}

impl Backhaul {
    /// True if the backhaul is over the air.
    #[must_use]
    pub const fn is_wireless(&self) -> bool {
        !matches!(self, Backhaul::Wired | Backhaul::Port(_))
    }

    /// Radio of the other access point, if the scenario names it.
    #[must_use]
    pub const fn parent(&self) -> Option<&RadioRef> {
        match self {
            Backhaul::Wired | Backhaul::Port(_) | Backhaul::Best(_) => None,
            Backhaul::Radio(radio) => Some(radio),
        }
    }

    /// Name of the next access point on the way to the server, if the scenario names it.
    #[must_use]
    pub fn above(&self) -> Option<&str> {
        match self {
            Backhaul::Wired | Backhaul::Best(_) => None,
            Backhaul::Port(ap) => Some(ap),
            Backhaul::Radio(radio) => Some(&radio.ap),
        }
    }
}

/// A mesh of 802.11s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mesh {
    /// Name.
    pub name: String,
    /// Radios, each of another access point, on one channel; at least two.
    pub radios: Vec<RadioRef>,
    /// Access point with a wire to the server: one of those with a radio here.
    pub root: String,
    /// Announcements of the root. Default: [`MeshRoot::Proactive`].
    pub root_mode: MeshRoot,
    /// Timers and limits. Default: those of Linux.
    pub timers: MeshTimers,
    /// Quality of all links; `None`: the signals follow from the positions.
    pub quality: Option<LinkQuality>,
}

/// Announcements of a mesh's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeshRoot {
    /// Not at all.
    None,
    /// By proactive path requests.
    #[default]
    Proactive,
    /// By proactive path requests, which all members answer.
    Answered,
    /// By root announcements.
    Announcements,
}

/// Timers and limits of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeshTimers {
    /// Defaults of Linux.
    #[default]
    Linux,
    /// Defaults of ns-3.
    Ns3,
}

impl Mesh {
    /// Creates a mesh without radios.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Mesh {
            name: name.to_owned(),
            radios: Vec::new(),
            root: String::new(),
            root_mode: MeshRoot::default(),
            timers: MeshTimers::default(),
            quality: None,
        }
    }
}
