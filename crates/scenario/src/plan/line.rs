//! WAN link of an access point: framing, queue disciplines and shapers.

use super::{ApSetting, Trace, wired_queue};
use crate::decode::{Context, FromNode, List};
use crate::enums::words;
use crate::node::Node;
use crate::queues::LineQueue;
use crate::scalars;
use crate::scalars::{Delay, Flag, QueueBytes, Rate, Share, SomeTime, Span, parsed};
use crate::section_macro::section;
use crate::value::{PlanValue, section_values};
use netburn_medium::queue::QueueKind;
use netburn_units::{BitRate, ByteSize, Duration, Probability};
use netburn_workload::Direction;
use schemars::{Schema, SchemaGenerator, json_schema};

/// WAN link between an access point and the server's link.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wan {
    /// Downlink rate; `None`: unlimited.
    pub down: Option<BitRate>,
    /// Uplink rate; `None`: unlimited.
    pub up: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost in each direction.
    pub loss: Probability,
    /// Capacity of the link's own queue in each direction; `None`:
    /// [`DEFAULT_QUEUE_TIME`](super::DEFAULT_QUEUE_TIME) at the rate.
    pub queue: Option<ByteSize>,
    /// The same downlink; `None`: as `queue`.
    pub queue_down: Option<ByteSize>,
    /// The same uplink; `None`: as `queue`.
    pub queue_up: Option<ByteSize>,
    /// Framing of the packets; `None`: 38 bytes per packet, without a minimum.
    pub framing: Option<Framing>,
    /// Queue discipline in both directions.
    pub discipline: QueueKind,
    /// Queue discipline downlink; `None`: as `discipline`.
    pub discipline_down: Option<QueueKind>,
    /// Queue discipline uplink; `None`: as `discipline`.
    pub discipline_up: Option<QueueKind>,
    /// Shaper in both directions; `None`: the queue discipline is that of the link itself.
    pub shaper: Option<ShaperRate>,
    /// Shaper downlink; `None`: as `shaper`.
    pub shaper_down: Option<ShaperRate>,
    /// Shaper uplink; `None`: as `shaper`.
    pub shaper_up: Option<ShaperRate>,
    /// Settings of `cake`.
    pub cake: Cake,
    /// Policer of the provider downlink, before the link.
    pub policer_down: Option<Policer>,
    /// Policer of the provider uplink, after the link.
    pub policer_up: Option<Policer>,
    /// Trace of the capacity downlink, instead of `down`.
    pub trace_down: Option<Trace>,
    /// Trace of the capacity uplink, instead of `up`.
    pub trace_up: Option<Trace>,
    /// Times in which the link sends nothing in both directions.
    pub outages: Vec<Outage>,
}

/// A policer: a token bucket that drops packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policer {
    /// Rate at which the bucket fills.
    pub rate: BitRate,
    /// Size of the bucket.
    pub burst: ByteSize,
}

impl Default for Policer {
    fn default() -> Self {
        Policer {
            rate: BitRate::from_mbps(1),
            burst: ByteSize::from_kib(16),
        }
    }
}

/// A time in which a link sends nothing. Packets wait in its queue. The one in transmission is still sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outage {
    /// Time since the start of the load.
    pub start: Duration,
    /// Length; more than 0.
    pub length: Duration,
}

/// Rate of a shaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShaperRate {
    /// Share of the link's rate at the start of the run.
    Share(Probability),
    /// A fixed rate.
    Rate(BitRate),
}

/// Settings of `cake`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cake {
    /// Priority tins. Default: `diffserv3`.
    pub tins: Tins,
    /// Isolation in both directions. Default: `triple-isolate`.
    pub isolation: Isolation,
    /// Isolation downlink; `None`: as `isolation`.
    pub isolation_down: Option<Isolation>,
    /// Isolation uplink; `None`: as `isolation`.
    pub isolation_up: Option<Isolation>,
    /// Round trip that the AQM expects. Default: 100 ms. The target is a 20th of it.
    pub rtt: Duration,
    /// Drops of acknowledgements that later ones replace. Default: `false`.
    pub ack_filter: bool,
    /// Limit of memory; `None`: 4 MiB, or four times the bytes of a round trip at the rate if that is more.
    pub memory: Option<ByteSize>,
}

impl Default for Cake {
    fn default() -> Self {
        Cake {
            tins: Tins::default(),
            isolation: Isolation::default(),
            isolation_down: None,
            isolation_up: None,
            rtt: Duration::from_millis(100),
            ack_filter: false,
            memory: None,
        }
    }
}

/// Priority tins of `cake`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tins {
    /// One tin.
    Besteffort,
    /// Bulk, best effort, voice.
    #[default]
    Diffserv3,
    /// Bulk, best effort, video, voice.
    Diffserv4,
    /// Eight tins.
    Diffserv8,
}

/// Isolation of flows and hosts by `cake`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Each flow gets the same share.
    Flows,
    /// Each pair of a source and a destination host gets the same share.
    Hosts,
    /// Each source host gets the same share, and within it each flow.
    DualSrchost,
    /// Each destination host gets the same share, and within it each flow.
    DualDsthost,
    /// Each source and each destination host gets at most its share, and within it each flow.
    #[default]
    TripleIsolate,
}

/// Framing of IP packets on a link, by the keywords of tc-cake(8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// IP packets alone.
    Raw,
    /// Ethernet with preamble, FCS and gap: 38 bytes, at least 84.
    Ethernet,
    /// DOCSIS, as the head end counts: 18 bytes, at least 64.
    Docsis,
    /// VDSL2, bridged: 22 bytes, and one byte per 64 (PTM).
    BridgedPtm,
    /// VDSL2 with PPPoE: 30 bytes, and one byte per 64 (PTM).
    PppoePtm,
    /// ADSL with PPPoE and LLC/SNAP: 40 bytes, in ATM cells.
    PppoeLlcsnap,
    /// ADSL with PPPoE and VC multiplexing: 32 bytes, in ATM cells.
    PppoeVcmux,
    /// ADSL, bridged, with LLC/SNAP: 32 bytes, in ATM cells.
    BridgedLlcsnap,
    /// ADSL with PPPoA and VC multiplexing: 10 bytes, in ATM cells.
    PppoaVcmux,
    /// ADSL with IP over ATM and VC multiplexing: 8 bytes, in ATM cells.
    IpoaVcmux,
    /// More than any known link: 48 bytes, in ATM cells.
    Conservative,
}

/// Cells or code words that carry the frames of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cells {
    None,
    /// 48 bytes in cells of 53.
    Atm,
    /// One byte per 64 or part of them.
    Ptm,
}

netburn_units::variants! {
    pub Framing:
        Raw = "raw",
        Ethernet = "ethernet",
        Docsis = "docsis",
        BridgedPtm = "bridged-ptm",
        PppoePtm = "pppoe-ptm",
        PppoeLlcsnap = "pppoe-llcsnap",
        PppoeVcmux = "pppoe-vcmux",
        BridgedLlcsnap = "bridged-llcsnap",
        PppoaVcmux = "pppoa-vcmux",
        IpoaVcmux = "ipoa-vcmux",
        Conservative = "conservative",
}

impl Framing {
    /// Bytes on the link of an IP packet of `length` bytes: overhead, then minimum, then cells (`sch_cake.c`,
    /// `cake_calc_overhead`; overheads and minimums as in tc-cake(8)).
    #[must_use]
    pub const fn bytes(self, length: u32) -> u32 {
        let (overhead, least, cells) = match self {
            Framing::Raw => (0, 0, Cells::None),
            Framing::Ethernet => (38, 84, Cells::None),
            Framing::Docsis => (18, 64, Cells::None),
            Framing::BridgedPtm => (22, 0, Cells::Ptm),
            Framing::PppoePtm => (30, 0, Cells::Ptm),
            Framing::PppoeLlcsnap => (40, 0, Cells::Atm),
            Framing::PppoeVcmux | Framing::BridgedLlcsnap => (32, 0, Cells::Atm),
            Framing::PppoaVcmux => (10, 0, Cells::Atm),
            Framing::IpoaVcmux => (8, 0, Cells::Atm),
            Framing::Conservative => (48, 0, Cells::Atm),
        };
        let length = length.saturating_add(overhead);
        let length = if length < least { least } else { length };
        match cells {
            Cells::None => length,
            Cells::Atm => length.div_ceil(48).saturating_mul(53),
            Cells::Ptm => length.saturating_add(length.div_ceil(64)),
        }
    }
}

impl Wan {
    /// Queue discipline in a direction.
    #[must_use]
    pub fn discipline_in(&self, direction: Direction) -> QueueKind {
        let own = match direction {
            Direction::Down => self.discipline_down,
            Direction::Up => self.discipline_up,
        };
        own.unwrap_or(self.discipline)
    }

    /// Capacity of the link's own queue in a direction; `None`:
    /// [`DEFAULT_QUEUE_TIME`](super::DEFAULT_QUEUE_TIME) at the rate.
    #[must_use]
    pub fn queue_in(&self, direction: Direction) -> Option<ByteSize> {
        let own = match direction {
            Direction::Down => self.queue_down,
            Direction::Up => self.queue_up,
        };
        own.or(self.queue)
    }

    /// Rate of the shaper downlink; `None`: there is none.
    #[must_use]
    pub fn shaped_down(&self) -> Option<BitRate> {
        self.shaper_down.or(self.shaper)?.resolved(self.down)
    }

    /// Rate of the shaper uplink; `None`: there is none.
    #[must_use]
    pub fn shaped_up(&self) -> Option<BitRate> {
        self.shaper_up.or(self.shaper)?.resolved(self.up)
    }
}

impl ShaperRate {
    /// Rate of the shaper of a link with this rate; `None` for a share of an unlimited rate.
    #[must_use]
    pub fn resolved(self, line: Option<BitRate>) -> Option<BitRate> {
        match self {
            ShaperRate::Rate(rate) => Some(rate),
            ShaperRate::Share(share) => {
                let bits = u128::from(line?.as_bps()) * u128::from(share.as_ppb()) / 1_000_000_000;
                Some(BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX).max(1)))
            }
        }
    }
}

section! {
    /// WAN link between a router and the server's link: `[router.wan]`, or `[ap.NAME.wan]` if an access point is the router. All devices behind the router share it.
    WanSection(Wan = Wan::default()) changes ApSetting {
        /// Downlink rate.
        down: Rate => down, default "unlimited", changes |value| (ApSetting::WanDown(value));
        /// Uplink rate.
        up: Rate => up, default "unlimited", changes |value| (ApSetting::WanUp(value));
        /// One-way delay.
        delay: Delay => delay, changes |value| (ApSetting::WanDelay(value));
        /// Share of packets lost.
        loss: Share => loss, changes |value| (ApSetting::WanLoss(value));
        /// Capacity of the link's own queue in each direction. It applies to `fifo`, and to the modem and the head end with a `shaper`.
        queue: QueueBytes => queue, default wired_queue("the direction's rate");
        /// Capacity of the link's own queue downlink.
        queue_down: QueueBytes => queue_down, default "`queue`";
        /// Capacity of the link's own queue uplink.
        queue_up: QueueBytes => queue_up, default "`queue`";
        /// Bytes that the link adds to an IP packet, by the keywords of tc-cake(8). The rates `down` and `up` count them. `raw`: none. `ethernet`: 38 bytes, at least 84. `docsis`: 18 bytes, at least 64. `bridged-ptm`, `pppoe-ptm` (VDSL2): 22 and 30 bytes, and one byte per 64. `pppoe-llcsnap` (40 bytes), `pppoe-vcmux`, `bridged-llcsnap` (32), `pppoa-vcmux` (10), `ipoa-vcmux` (8), `conservative` (48): in ATM cells of 53 bytes with 48 bytes of content.
        framing: Framing => framing, default "38 bytes per packet, without a minimum";
        /// Queue discipline: {line queues}. Without a `shaper` it is that of the link itself. It then acts only in a direction with a rate.
        discipline: LineQueue => discipline;
        /// Queue discipline downlink.
        discipline_down: LineQueue => discipline_down, default "`discipline`";
        /// Queue discipline uplink.
        discipline_up: LineQueue => discipline_up, default "`discipline`";
        /// Shaper of the router (SQM): a share of the link's rate at the start, or a rate. The queue discipline is then in the router, and the link keeps a FIFO with `queue`. Uplink the router is before the link, downlink after it.
        shaper: ShaperRate => shaper, default "none: the discipline is that of the link itself";
        /// Shaper downlink.
        shaper_down: ShaperRate => shaper_down, default "`shaper`";
        /// Shaper uplink.
        shaper_up: ShaperRate => shaper_up, default "`shaper`";
        /// Settings of `cake`.
        cake: CakeSection => cake;
        /// Policer of the provider downlink, before the link's queue.
        policer_down: PolicerSection => policer_down, default "none";
        /// Policer of the provider uplink, after the link.
        policer_up: PolicerSection => policer_up, default "none";
        /// Capacity downlink as a trace in the format of mahimahi, instead of `down`: each line of the file is the time in ms of an opportunity to send 1500 bytes, with the framing. The trace starts with the load, and repeats. The path is relative to the scenario file. A list has the times themselves.
        trace_down: Trace => trace_down, default "none";
        /// Capacity uplink as a trace, instead of `up`.
        trace_up: Trace => trace_up, default "none";
        /// Times in which the link sends nothing in both directions. The packet in transmission is still sent.
        outages: List<OutageSection> => outages, default "none";
    }
}

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
    WanSection => Wan,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes on the link of packets of 1500, 52 and 200 bytes, by hand. Without cells: length + overhead, at least the
    /// minimum. PTM: one byte more per 64 or part of them: 1522 + 24, 74 + 2, 222 + 4; 1530 + 24, 82 + 2, 230 + 4. ATM:
    /// 53 bytes per 48 or part of them: 1540 bytes are 33 cells, 1532, 1510 and 1508 are 32, 92 are 2, 240 are 5,
    /// 1548 are 33, 100 are 3, 248 are 6.
    #[test]
    fn framing_by_hand() {
        let expected = [
            (Framing::Raw, [1500, 52, 200]),
            (Framing::Ethernet, [1538, 90, 238]),
            (Framing::Docsis, [1518, 70, 218]),
            (Framing::BridgedPtm, [1546, 76, 226]),
            (Framing::PppoePtm, [1554, 84, 234]),
            (Framing::PppoeLlcsnap, [1749, 106, 265]),
            (Framing::PppoeVcmux, [1696, 106, 265]),
            (Framing::BridgedLlcsnap, [1696, 106, 265]),
            (Framing::PppoaVcmux, [1696, 106, 265]),
            (Framing::IpoaVcmux, [1696, 106, 265]),
            (Framing::Conservative, [1749, 159, 318]),
        ];
        assert_eq!(expected.map(|(framing, _)| framing), Framing::ALL);
        for (framing, bytes) in expected {
            assert_eq!(
                [1500, 52, 200].map(|length| framing.bytes(length)),
                bytes,
                "{}",
                framing.name()
            );
        }
        // Ethernet's minimum, and that of DOCSIS.
        assert_eq!((Framing::Ethernet.bytes(28), Framing::Docsis.bytes(40)), (84, 64));
    }

    /// 90 % of 50 Mbit/s are 45 Mbit/s. The key of a direction overrides `shaper`.
    #[test]
    fn shaper_rates() {
        let share = |percent: u32| Some(ShaperRate::Share(Probability::from_ppb(percent * 10_000_000).unwrap()));
        let wan = Wan {
            down: Some(BitRate::from_mbps(50)),
            shaper: share(90),
            ..Wan::default()
        };
        assert_eq!(wan.shaped_down(), Some(BitRate::from_mbps(45)));
        assert_eq!(wan.shaped_up(), None, "a share of an unlimited rate is unlimited");
        let own = Wan {
            shaper_up: Some(ShaperRate::Rate(BitRate::from_mbps(7))),
            ..wan
        };
        assert_eq!(own.shaped_up(), Some(BitRate::from_mbps(7)));
    }
}
