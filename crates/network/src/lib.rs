//! A plan's network as one state machine. It contains the server's wired hop, and each access point's
//! WAN link, forwarding and radios. It also contains the air and the changes at run time. `simulate`
//! and `lab` use the same machine.
//!
//! ```text
//! server ── link ── wan ── forwarding ── transmit queue ── air ── station      (and back)
//!              └── link of a wired station
//! ```
//!
//! A [`Network`] accepts packets from one [`Endpoint`] to another ([`Network::handle_packet`]), with
//! the time as an argument. It returns deliveries, drops and packets that left a sender's host
//! ([`Network::poll_output`]). [`Network::poll_timeout`] returns the time and the reason of the next
//! timeout. Packets that a full queue drops, or that are lost on a wire, are reported as outputs.
//!
//! Modules, from the top:
//!
//! - `machine`: the [`Network`], with the changes at run time, the next hop of each packet, and the
//!   features that a plan uses. `output` has its outputs, `observe` its statistics.
//! - Features of Wi-Fi. Most have state machines without radio, and `on_air`, their connection to the air:
//!   - `steering`: access points that ask stations to move.
//!   - `roaming`: stations that move, and how they change their access point.
//!   - `broadcast`: broadcast traffic of networks. `multicast`: multicast of access points. `group`: their frames, and the
//!     buffers in which these wait for a DTIM beacon.
//!   - [`mesh`] – 802.11s: link metric, peering, path selection, and the meshes of a plan.
//!   - `relay`: access points with a wireless backhaul, and the packets that they pass on.
//!   - `power_save`: stations that doze or leave their channel, and access points that scan.
//! - `frame`: the frames of all features, and those that carry packets.
//! - `wlan`: radios, Wi-Fi stations, and the air between them. Features act on it.
//! - `wires`: the wired path of the Wi-Fi stations, the wired stations, and TCP Small Queues of the server.
//! - `layout`: assigns channels, stations and link settings from the plan. `planned`: the result without a network.
//! - [`hop`] – one direction of a wire: queue, serialisation, propagation.
//! - [`mod@line`] – queue disciplines, shapers and policers of WAN links. [`link_service`] – outages, and traces of the
//!   capacity.
//! - `beacon`: when beacons are sent, and who receives them. [`checksum`] – the Internet checksum of packets.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod beacon;
mod broadcast;
pub mod checksum;
mod error;
mod frame;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod group;
pub mod hop;
mod layout;
pub mod line;
pub mod link_service;
mod machine;
pub mod mesh;
mod multicast;
mod observe;
mod out_of_range;
mod output;
mod planned;
mod power_save;
mod relay;
mod roaming;
mod steering;
mod wires;
mod wlan;

pub use broadcast::BroadcastStats;
pub use error::NetworkError;
pub use layout::{LinkRates, highest_rate};
pub use machine::{AppliedChange, Feature, Network, Wake};
pub use mesh::{MeshEvent, MeshEventKind};
pub use multicast::{MemberStats, MulticastStats};
pub use observe::{BackhaulHop, JoinedRadio, LinkStats, RadioStats, StationDelta, StationStats, Traffic};
pub use out_of_range::OutOfRange;
pub use output::{Ack, DropSite, Endpoint, Headers, Output, Payload, Reflector};
pub use planned::PlannedNetwork;
pub use roaming::{ClientEvent, ClientEventKind, SteeringReason, roaming_trigger, validation};
pub use steering::validation as steering_validation;
