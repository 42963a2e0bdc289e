//! Connections of access points to the server: wires, relays over the air, and meshes.

use super::{RadioName, RadioRef};
use crate::decode::{Context, FromNode, List};
use crate::enums::words;
use crate::node::Node;
use crate::path::is_name;
use crate::scalars::{Name, Whole, parsed};
use crate::section_macro::section;
use crate::value::PlanValue;
use netburn_medium::config::LinkQuality;
use schemars::{Schema, SchemaGenerator, json_schema};

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

section! {
    /// A mesh of 802.11s: access points that find the paths between each other. Those without a wire need no `backhaul`. Access points that hear each other have a link; the signals come from their positions.
    MeshSection(Mesh = Mesh::new("")) {
        /// Radios of the mesh, each of another access point, with the same band and channel: `["one.5g", "two.5g"]`.
        radios(required): List<RadioRef> => radios;
        /// Access point with the wire to the server.
        root(required): Name;
        /// Announcements of the root, which give the others a path to it. `none`: paths are requested when a frame needs them. `proactive`: path requests. `answered`: path requests that all answer. `announcements`: root announcements.
        root_mode: MeshRoot => root_mode;
        /// Timers and limits of the path selection: the defaults of `linux`, or of `ns-3`.
        timers: MeshTimers => timers;
        /// Fixed MCS of all links, counted per stream. All access points then hear each other.
        mcs: Whole<0, 13>, default "from the signals";
    }
}

words!(MeshRoot, MESH_ROOTS, [
    "none" => MeshRoot::None, "proactive" => MeshRoot::Proactive, "answered" => MeshRoot::Answered,
    "announcements" => MeshRoot::Announcements,
]);

words!(MeshTimers, MESH_TIMERS, ["linux" => MeshTimers::Linux, "ns-3" => MeshTimers::Ns3]);

/// Backhaul: `wired`, another access point or a radio of it, or an own radio.
#[derive(Debug, Clone)]
pub(crate) struct BackhaulChoice(pub(crate) Backhaul);

impl FromNode for BackhaulChoice {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "`wired`, another access point, such as `main`, a radio of it, such as `main.5g`, or an own radio, such as `5g`";
        parsed(node, cx, wanted, |text| match text {
            "wired" => Some(BackhaulChoice(Backhaul::Wired)),
            _ => Some(BackhaulChoice(match RadioName::parse(text) {
                Some(own) => Backhaul::Best(own),
                None if is_name(text) => Backhaul::Port(text.to_owned()),
                None => Backhaul::Radio(RadioRef::parse(text)?),
            })),
        })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^([A-Za-z0-9-]{1,63}|[A-Za-z0-9-]{1,63}\\.(2g|5g|6g)(-[234])?)$",
            "x-value": "`wired`, another access point or a radio of it, or an own radio",
        })
    }
}

impl PlanValue<BackhaulChoice> for Backhaul {
    fn from_key(key: &BackhaulChoice) -> Self {
        key.0.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Backhaul::Wired => "wired".into(),
            Backhaul::Port(ap) => ap.as_str().into(),
            Backhaul::Radio(radio) => radio.to_string().into(),
            Backhaul::Best(own) => own.to_string().into(),
        }
    }
}
