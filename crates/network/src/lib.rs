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
//! - `machine`: the [`Network`]. `output` has its outputs, `observe` its statistics.
//! - `layout`: assigns channels, stations and link settings from the plan.
//! - `backhaul`: the wired path of the Wi-Fi stations. `wired_stations`: the wired stations.
//! - [`hop`] – one direction of a wire: queue, serialisation, propagation.
//! - [`mod@line`] – queue disciplines, shapers and policers of WAN links. [`link_service`] – outages, and traces of the
//!   capacity.
//! - `small_queues`: TCP Small Queues of the server.
//! - `relay`: access points with a wireless backhaul, and the packets that they pass on.
//! - `meshes`: meshes of 802.11s. `mesh_air`: the same on the air. `mesh_peers`:
//!   links that open and close. `mesh_event`: their events.
//! - `roaming`: stations that move, and how they change their access point. `clients`: the same on the air.
//! - `steering`: access points that ask stations to move. `steer`: the same on the air.
//! - `power_save`: stations that doze or leave their channel, and access points that scan. `presence`: the same on the air.
//!   `beacon`: the beacons that both of them and `roaming` use.
//! - `broadcasts`: broadcast traffic, and the buffers of group-addressed frames. `broadcast_air`: the same
//!   on the air.
//! - `change_schedule` and `change`: times and effects of changes at run time.
//! - `delivery_bound`: lower bound of the next delivery, for drivers in real time.
//! - [`mesh`] – 802.11s: link metric, peering, path selection.
//! - [`checksum`] – the Internet checksum of packets.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod backhaul;
mod beacon;
mod broadcast_air;
mod broadcasts;
mod change;
mod change_schedule;
pub mod checksum;
mod clients;
mod delivery_bound;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod hop;
mod layout;
pub mod line;
pub mod link_service;
mod machine;
mod mappings;
pub mod mesh;
mod mesh_air;
mod mesh_event;
mod mesh_peers;
mod meshes;
mod observe;
mod out_of_range;
mod output;
mod power_save;
mod presence;
mod relay;
mod roaming;
mod small_queues;
mod steer;
mod steering;
mod wired_stations;
mod wiring;

pub use broadcasts::BroadcastStats;
pub use change_schedule::AppliedChange;
pub use error::NetworkError;
pub use layout::highest_rate;
pub use machine::{Network, Wake};
pub use mesh_event::{MeshEvent, MeshEventKind};
pub use observe::{BackhaulHop, LinkStats, RadioStats, StationDelta, StationStats, Traffic};
pub use out_of_range::OutOfRange;
pub use output::{Ack, DropSite, Endpoint, Headers, Output, Reflector};
pub use roaming::{ClientEvent, ClientEventKind, roaming_trigger, validation};
pub use steering::{SteeringReason, validation as steering_validation};
