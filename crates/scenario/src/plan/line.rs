//! WAN link of an access point: framing, queue disciplines and shapers.

use super::trace::Trace;
use netburn_medium::queue::QueueKind;
use netburn_units::{BitRate, ByteSize, Duration, Probability};

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

impl Framing {
    /// All framings.
    pub const ALL: [Framing; 11] = [
        Framing::Raw,
        Framing::Ethernet,
        Framing::Docsis,
        Framing::BridgedPtm,
        Framing::PppoePtm,
        Framing::PppoeLlcsnap,
        Framing::PppoeVcmux,
        Framing::BridgedLlcsnap,
        Framing::PppoaVcmux,
        Framing::IpoaVcmux,
        Framing::Conservative,
    ];

    /// Name in scenario files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Framing::Raw => "raw",
            Framing::Ethernet => "ethernet",
            Framing::Docsis => "docsis",
            Framing::BridgedPtm => "bridged-ptm",
            Framing::PppoePtm => "pppoe-ptm",
            Framing::PppoeLlcsnap => "pppoe-llcsnap",
            Framing::PppoeVcmux => "pppoe-vcmux",
            Framing::BridgedLlcsnap => "bridged-llcsnap",
            Framing::PppoaVcmux => "pppoa-vcmux",
            Framing::IpoaVcmux => "ipoa-vcmux",
            Framing::Conservative => "conservative",
        }
    }

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
    /// Queue discipline downlink.
    #[must_use]
    pub fn queue_down(&self) -> QueueKind {
        self.discipline_down.unwrap_or(self.discipline)
    }

    /// Queue discipline uplink.
    #[must_use]
    pub fn queue_up(&self) -> QueueKind {
        self.discipline_up.unwrap_or(self.discipline)
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
