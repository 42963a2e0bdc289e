//! Wired link of a station, instead of Wi-Fi.

use super::StationSetting;
use crate::decode::{Context, FromNode, Section};
use crate::node::{Node, Value};
use crate::path::{Shape, is_name};
use crate::scalars::{Delay, QueueBytes, Rate, Share, SizeOrOff, Whole, parsed};
use crate::section_macro::section;
use crate::value::{PlanValue, from_section};
use netburn_units::{BitRate, ByteSize, Duration, Probability};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Default capacity of a queue in front of a wired link or of the forwarding: this time at its rate, at least
/// [`MIN_DEFAULT_QUEUE`].
pub const DEFAULT_QUEUE_TIME: Duration = Duration::from_millis(100);

/// Minimum of the default capacity of a queue in front of a wired link or of the forwarding.
pub const MIN_DEFAULT_QUEUE: ByteSize = ByteSize::from_kib(64);

/// Other end of a station's cable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Port {
    /// The server's link.
    #[default]
    Server,
    /// A port of the `[router]`.
    Router,
    /// A port of the access point of this name.
    Ap(String),
}

/// Cable of a station to a router, to an access point, or to the server's link: Ethernet, or a modem.
///
/// An outgoing packet passes the queue (`station.N.queue`), the device's ring, then the link. With a
/// [`device`](Self::device), the ring empties at that rate into a separate queue of the link, which the host cannot see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationLink {
    /// Other end of the cable.
    pub to: Port,
    /// Downlink rate.
    pub down: BitRate,
    /// Uplink rate.
    pub up: BitRate,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost in each direction.
    pub loss: Probability,
    /// Capacity of the link's queue in each direction; `None`: [`DEFAULT_QUEUE_TIME`](super::DEFAULT_QUEUE_TIME) at its
    /// rate. The uplink queue exists only with a `device`; otherwise packets wait in the host.
    pub queue: Option<ByteSize>,
    /// Rate from the host's network device to the link; `None`: the device is the end of the link.
    pub device: Option<BitRate>,
    /// Capacity of the device's ring in packets; at least 1.
    pub ring: u32,
    /// Byte queue limit: the ring accepts no packets while it holds more bytes than this. `None`: no limit.
    pub bql: Option<ByteSize>,
}

impl Default for StationLink {
    fn default() -> Self {
        StationLink {
            to: Port::default(),
            down: BitRate::from_mbps(1_000),
            up: BitRate::from_mbps(1_000),
            delay: Duration::ZERO,
            loss: Probability::ZERO,
            queue: None,
            device: None,
            ring: 256,
            bql: None,
        }
    }
}

impl StationLink {
    /// Returns the maximum uplink rate: that of the link or of its device, whichever is lower.
    #[must_use]
    pub fn max_up(&self) -> BitRate {
        self.device.map_or(self.up, |device| device.min(self.up))
    }
}

section! {
    /// A station's wired link, instead of Wi-Fi: `[station.NAME.link]`, and `wired` with a section. An outgoing packet waits in the station's `queue`, then in the ring of the network device, which sends it.
    StationLinkSection(StationLink = StationLink::default()) changes StationSetting {
        /// Other end of the cable: `server` (the server's link), `router`, or the name of an access point. With `wired` the default is the router.
        to: PortText => to, default "`server`";
        /// Rate in both directions.
        rate: Rate, default "1 Gbit/s", changes |value| (StationSetting::LinkRate(value));
        /// Downlink rate.
        down: Rate => down, default "`rate`", changes |value| (StationSetting::LinkDown(value));
        /// Uplink rate.
        up: Rate => up, default "`rate`", changes |value| (StationSetting::LinkUp(value));
        /// One-way delay.
        delay: Delay => delay, changes |value| (StationSetting::LinkDelay(value));
        /// Share of packets lost in each direction.
        loss: Share => loss, changes |value| (StationSetting::LinkLoss(value));
        /// Capacity of the link's queue in each direction. Uplink it applies only with `device`; without `device` packets wait in the host.
        queue: QueueBytes => queue, default wired_queue("the direction's rate");
        /// Rate from the host's network device to the link, for a modem behind USB or Ethernet. Packets that wait for the link have then left the host, and TCP Small Queues do not count them.
        device: Rate => device, default "none: the device is the end of the link";
        /// Capacity of the device's ring, in packets. Many Ethernet drivers use 256.
        ring: Whole<1, 65_535> => ring;
        /// Byte queue limit (BQL): the ring accepts no packets while it holds more bytes than this; `off`: no limit. Linux adapts the limit; this one is fixed.
        bql: SizeOrOff => bql;
    }
}

/// Other end of a cable.
#[derive(Debug, Clone)]
pub(crate) struct PortText(pub(crate) Port);

/// Port of a name.
fn port(text: &str) -> Option<Port> {
    match text {
        "server" => Some(Port::Server),
        "router" => Some(Port::Router),
        _ => is_name(text).then(|| Port::Ap(text.to_owned())),
    }
}

/// Returns true if a short form is the rate of the cable.
fn is_rate(text: &str) -> bool {
    text.contains("bit/s")
}

impl FromNode for PortText {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "`server`, `router`, or the name of an access point";
        parsed(node, cx, wanted, |text| port(text).map(PortText))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[A-Za-z0-9-]{1,63}$",
            "x-value": "`server`, `router`, or an access point",
        })
    }
}

impl PlanValue<PortText> for Port {
    fn from_key(key: &PortText) -> Self {
        key.0.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Port::Server => "server".into(),
            Port::Router => "router".into(),
            Port::Ap(ap) => ap.as_str().into(),
        }
    }
}

/// Cable to a router: none, or one whose other end may be unknown yet.
#[derive(Debug, Clone)]
pub(crate) struct WiredChoice(pub(crate) Option<WiredLink>);

/// Cable to a router.
#[derive(Debug, Clone)]
pub(crate) struct WiredLink {
    pub(crate) link: StationLink,
    /// False if the scenario does not name the other end.
    pub(crate) is_named: bool,
}

impl FromNode for WiredChoice {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "`true`, `false`, a rate (`\"1 Gbit/s\"`), the name of an access point, or `{ rate = …, to = … }`";
        let link = match &node.value {
            Value::Bool(false) => return Some(WiredChoice(None)),
            Value::Bool(true) => WiredLink {
                link: StationLink::default(),
                is_named: false,
            },
            Value::Table(_) => {
                let section = StationLinkSection::read(node, cx)?;
                WiredLink {
                    is_named: section.to.is_some(),
                    link: PlanValue::from_key(&section),
                }
            }
            _ if node.text().and_then(port).is_some() => WiredLink {
                link: StationLink {
                    to: node.text().and_then(port).unwrap_or_default(),
                    ..StationLink::default()
                },
                is_named: true,
            },
            _ if node.text().is_some_and(is_rate) => {
                let rate = Rate::read(node, cx)?.0;
                WiredLink {
                    link: StationLink {
                        down: rate,
                        up: rate,
                        ..StationLink::default()
                    },
                    is_named: false,
                }
            }
            _ => return cx.mismatch(node, wanted),
        };
        Some(WiredChoice(Some(link)))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let (rate, port, section) = (
            Rate::schema(generator),
            PortText::schema(generator),
            StationLinkSection::schema(generator),
        );
        json_schema!({
            "anyOf": [{ "type": "boolean" }, rate, port, section],
            "x-value": "true, false, a rate, an access point, or the keys of `link`",
        })
    }

    fn shape() -> Shape {
        StationLinkSection::shape().with_short_form(|node| match &node.value {
            Value::Bool(true) => Some(Vec::new()),
            Value::Text(text) if port(text).is_some() => Some(vec![("to", node.clone())]),
            Value::Text(text) if is_rate(text) => Some(vec![("rate", node.clone())]),
            _ => None,
        })
    }
}

/// `link` and `wired` are two names of one section: a key of one that the document does not have, such as
/// `station.nas.link.up`, follows the name in the document.
pub(crate) fn follow_name(root: &Node, parts: &mut [&str]) {
    let ["station", name, cable @ ("link" | "wired"), _, ..] = parts else {
        return;
    };
    fn child<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
        node.table()?.get(key)
    }
    let Some(station) = child(root, "station").and_then(|stations| child(stations, name)) else {
        return;
    };
    let other = if *cable == "link" { "wired" } else { "link" };
    if child(station, cable).is_none() && child(station, other).is_some() {
        *cable = other;
    }
}

impl PlanValue<StationLinkSection> for StationLink {
    /// `rate` is the default of `down` and `up`.
    fn from_key(section: &StationLinkSection) -> Self {
        let both = section.rate.clone();
        let section = StationLinkSection {
            down: section.down.clone().or(both.clone()),
            up: section.up.clone().or(both),
            ..section.clone()
        };
        from_section(&section)
    }

    fn to_json(&self) -> serde_json::Value {
        StationLinkSection::encode(self).into_json()
    }
}

/// Default capacity of a wired queue, in words. `rate` names the rate of the link.
pub(crate) fn wired_queue(rate: &str) -> String {
    format!("{DEFAULT_QUEUE_TIME} at {rate}, at least {MIN_DEFAULT_QUEUE}")
}
