//! A house with 802.11a at 54 and 6 Mbit/s behind a line of 10/1 Mbit/s, for several tests.

use netburn_medium::packet::{Ecn, Packet};
use netburn_scenario::{Document, Plan};

/// Station `a` has 54 Mbit/s, station `b` 6 Mbit/s.
pub(crate) const HOUSE: &str = r#"
[server]
link = { rate = "100 Mbit/s", delay = "2 ms" }
[ap.home]
queue = "fifo"
wan   = { down = "10 Mbit/s", up = "1 Mbit/s", delay = "5 ms" }
[ap.home.radio.5g]
standard = "802.11a"
[station.a]
joins = "home.5g"
mcs = 7
[station.b]
joins = "home.5g"
mcs = 0
"#;

/// The plan of a scenario.
pub(crate) fn plan(text: &str) -> Plan {
    Document::from_toml("house.toml", text).unwrap().resolve().unwrap()
}

/// A packet of this length in bytes, with the number of its flow as its content.
pub(crate) fn packet(length: u32, flow: u32) -> Packet<u32> {
    Packet {
        length,
        flow,
        tid: 0,
        ecn: Ecn::NotEct,
        payload: flow,
    }
}
