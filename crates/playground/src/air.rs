//! Transmissions in a part of a run, for a time line.

use netburn_network::PlannedNetwork;
use netburn_scenario::Plan;
use netburn_simulate::{CaptureEvent, SimulateError, run_with_capture};
use netburn_units::{Duration, Instant};
use serde::Serialize;
use std::ops::ControlFlow;

/// Maximum number of transmissions of a reply.
pub(crate) const MAX_TRANSMISSIONS: usize = 20_000;

/// One transmission of data on the air.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Sent {
    /// Start in µs since the start of the load.
    pub(crate) at_us: f64,
    /// Duration in µs.
    pub(crate) us: f64,
    /// The radio, as `home.5g`.
    pub(crate) radio: String,
    /// Number of the station in the plan; `None` between access points and for group-addressed frames.
    pub(crate) station: Option<u16>,
    /// True from the access point to the station.
    pub(crate) down: bool,
    /// MPDUs.
    pub(crate) mpdus: u32,
    /// MPDUs that arrived.
    pub(crate) arrived: u32,
    /// True if it collided with another transmission.
    pub(crate) collided: bool,
}

/// The transmissions that start in `length` from `from` on, in the order of their starts.
pub(crate) fn transmissions(plan: &Plan, from: Instant, length: Duration) -> Result<Vec<Sent>, SimulateError> {
    let network = PlannedNetwork::new(plan)?;
    let end = from + length;
    let mut found = Vec::new();
    run_with_capture(plan, |now, _, seen| {
        let air = seen.into_iter().filter_map(|event| match event {
            CaptureEvent::Air(transmission) => Some(transmission),
            CaptureEvent::Packet(_) => None,
        });
        found.extend(air.filter(|one| one.at >= from && one.at < end));
        if now >= end || found.len() >= MAX_TRANSMISSIONS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    found.sort_by_key(|one| one.at);
    found.truncate(MAX_TRANSMISSIONS);
    let radios = network.radios.len();
    let station = |node: usize| network.station_of_node.get(node.checked_sub(radios)?).copied();
    let sent = found.into_iter().map(|one| {
        let receiver = one.to.map(|to| to.index());
        let sender = one.from.index();
        let radio = [Some(sender), receiver]
            .into_iter()
            .flatten()
            .find(|node| *node < radios);
        Sent {
            at_us: one.at.as_nanos() as f64 / 1e3,
            us: one.duration.as_nanos() as f64 / 1e3,
            radio: radio.map_or_else(String::new, |radio| network.radios[radio].0.to_string()),
            station: station(sender).or_else(|| receiver.and_then(station)),
            down: sender < radios,
            mpdus: one.mpdus,
            arrived: one.arrived,
            collided: one.collided,
        }
    });
    Ok(sent.collect())
}
