//! Keys of a WAN link: queue disciplines, shapers, framing, and the settings of `cake`.

use crate::decode::{Context, FromNode};
use crate::enums::words;
use crate::node::Node;
use crate::plan::{Cake, Framing, Isolation, Outage, Policer, ShaperRate, Tins};
use crate::scalars::{self, Flag, QueueBytes, Rate, SomeTime, Span, parsed};
use crate::section_macro::section;
use crate::value::{PlanValue, section_values};
use netburn_units::{BitRate, Probability};
use schemars::{Schema, SchemaGenerator, json_schema};

words!(Framing, FRAMINGS, [
    Framing::Raw.name() => Framing::Raw, Framing::Ethernet.name() => Framing::Ethernet,
    Framing::Docsis.name() => Framing::Docsis, Framing::BridgedPtm.name() => Framing::BridgedPtm,
    Framing::PppoePtm.name() => Framing::PppoePtm, Framing::PppoeLlcsnap.name() => Framing::PppoeLlcsnap,
    Framing::PppoeVcmux.name() => Framing::PppoeVcmux, Framing::BridgedLlcsnap.name() => Framing::BridgedLlcsnap,
    Framing::PppoaVcmux.name() => Framing::PppoaVcmux, Framing::IpoaVcmux.name() => Framing::IpoaVcmux,
    Framing::Conservative.name() => Framing::Conservative,
]);
words!(Tins, TINS, [
    "besteffort" => Tins::Besteffort, "diffserv3" => Tins::Diffserv3, "diffserv4" => Tins::Diffserv4,
    "diffserv8" => Tins::Diffserv8,
]);
words!(Isolation, ISOLATIONS, [
    "flows" => Isolation::Flows, "hosts" => Isolation::Hosts, "dual-srchost" => Isolation::DualSrchost,
    "dual-dsthost" => Isolation::DualDsthost, "triple-isolate" => Isolation::TripleIsolate,
]);

section! {
    /// Settings of `cake` on a WAN link, named as in tc-cake(8).
    CakeSection(Cake = Cake::default()) {
        /// Priority tins: `besteffort` (one), `diffserv3`, `diffserv4`, `diffserv8`. A tin has priority only while it is below its share of the rate. The tin of a packet follows from its DSCP.
        tins: Tins => tins;
        /// Isolation of flows and hosts: `flows`, `hosts`, `dual-srchost`, `dual-dsthost`, `triple-isolate`. A scenario has one server. Downlink, `triple-isolate` therefore acts as `flows`, because all flows have the same source host.
        isolation: Isolation => isolation;
        /// Isolation downlink. `dual-dsthost` shares the rate between the stations.
        isolation_down: Isolation => isolation_down, default "`isolation`";
        /// Isolation uplink. `dual-srchost` shares the rate between the stations.
        isolation_up: Isolation => isolation_up, default "`isolation`";
        /// Round trip that the AQM expects. The target of the standing queue is a 20th of it.
        rtt: SomeTime => rtt;
        /// Drops TCP acknowledgements without data if a later one in the queue replaces them (`ack-filter`). This helps on a slow uplink. Acknowledgements with SACK blocks are never dropped.
        ack_filter: Flag => ack_filter;
        /// Limit of the memory of queued packets. On overflow the longest queue loses packets.
        memory: QueueBytes => memory, default "4 MiB, or four times the bytes of `rtt` at the rate if that is more";
    }
}

section! {
    /// A policer on a WAN link: a token bucket that drops packets. It counts the bytes of the framing.
    PolicerSection(Policer = Policer::default()) {
        /// Rate at which the bucket fills.
        rate(required): Rate => rate;
        /// Size of the bucket. At most this many bytes pass at once.
        burst(required): QueueBytes => burst;
    }
}

section! {
    /// A time in which a WAN link sends nothing. Packets wait in its queue.
    OutageSection(Outage = Outage::default()) {
        /// Start, since the start of the load.
        start(required): Span => start;
        /// Length.
        length(required): SomeTime => length;
    }
}

section_values! {
    CakeSection => Cake,
    PolicerSection => Policer,
    OutageSection => Outage,
}

impl FromNode for ShaperRate {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "a share of the link's rate, more than 0 up to 100 % (`\"90 %\"`), or a rate, 1 kbit/s to 1000 Gbit/s (`\"45 Mbit/s\"`)";
        parsed(node, cx, wanted, |text| {
            let share = || {
                let share: Probability = text.parse().ok()?;
                (share > Probability::ZERO).then_some(ShaperRate::Share(share))
            };
            let rate = || {
                let rate: BitRate = text.parse().ok()?;
                let range = BitRate::from_bps(1_000)..=BitRate::from_mbps(1_000_000);
                range.contains(&rate).then_some(ShaperRate::Rate(rate))
            };
            share().or_else(rate)
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let share = scalars::Part::schema(generator);
        let rate = scalars::Rate::schema(generator);
        json_schema!({ "anyOf": [share, rate], "x-value": "a share of the link's rate, or a rate" })
    }
}

impl PlanValue<ShaperRate> for ShaperRate {
    fn from_key(key: &ShaperRate) -> Self {
        *key
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            ShaperRate::Share(share) => share.to_string().into(),
            ShaperRate::Rate(rate) => rate.to_string().into(),
        }
    }
}
