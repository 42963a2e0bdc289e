//! Frames and aggregates, and their lengths.

use super::Sending;
use crate::packet::Queued;
use crate::phy::Format;
use netburn_units::{Duration, Instant};

/// Header and trailer of data frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// MAC header in bytes: 26 with QoS control (802.11-2020 figure 9-28), 24 without.
    pub header: u32,
    /// Encryption overhead in bytes: 16 (CCMP: 8 of header, 8 of MIC), or 0.
    pub encryption: u32,
}

/// LLC and SNAP before the network layer's packet.
const LLC_SNAP: u32 = 8;
/// Frame check sequence.
const FCS: u32 = 4;
/// Delimiter before each MPDU of an A-MPDU.
const DELIMITER: u32 = 4;
/// Subframe header of an A-MSDU: addresses and length.
const SUBFRAME: u32 = 14;

impl Framing {
    /// QoS data without encryption, as in the published comparisons.
    pub const QOS: Framing = Framing {
        header: 26,
        encryption: 0,
    };
    /// QoS data with CCMP.
    pub const CCMP: Framing = Framing {
        header: 26,
        encryption: 16,
    };
    /// Data without QoS and encryption. Nodes that send it contend with DCF.
    pub const PLAIN: Framing = Framing {
        header: 24,
        encryption: 0,
    };

    /// Group-addressed data of an access point with CCMP: no QoS control.
    pub const GROUP: Framing = Framing {
        header: 24,
        encryption: 16,
    };

    /// Returns true for QoS data, whose senders contend with EDCA.
    #[must_use]
    pub const fn has_qos(&self) -> bool {
        self.header > Framing::PLAIN.header
    }

    /// Length of an MPDU that carries one packet.
    #[must_use]
    pub const fn mpdu(&self, packet: u32) -> u32 {
        self.header + self.encryption + LLC_SNAP + packet + FCS
    }

    /// Length of an A-MSDU subframe without its padding.
    #[must_use]
    pub const fn subframe(packet: u32) -> u32 {
        SUBFRAME + LLC_SNAP + packet
    }

    /// Length of an MPDU around an A-MSDU of `subframes` bytes.
    #[must_use]
    pub const fn around(&self, subframes: u32) -> u32 {
        self.header + self.encryption + subframes + FCS
    }
}

/// Length of an MPDU within an A-MPDU: with its delimiter, padded to 4 bytes.
#[must_use]
pub const fn in_aggregate(mpdu: u32) -> u64 {
    (DELIMITER + mpdu).next_multiple_of(4) as u64
}

/// Length of the last MPDU of an A-MPDU: with its delimiter, not padded.
#[must_use]
pub const fn last_in_aggregate(mpdu: u32) -> u64 {
    (DELIMITER + mpdu) as u64
}

/// One MPDU: a packet, or several in an A-MSDU.
#[derive(Debug)]
pub struct Mpdu<P> {
    /// Sequence number within the agreement, without wraparound.
    pub sequence: u64,
    /// Number of transmissions so far.
    pub tries: u32,
    /// Length in bytes.
    pub length: u32,
    /// Packet, until the receiver has it.
    pub packet: Option<Queued<P>>,
    /// Flow and bytes of the packet when the MPDU was built.
    pub content: (u32, u32),
    /// Further packets of an A-MSDU.
    pub more: Option<Box<MorePackets<P>>>,
}

/// Packets of an A-MSDU after the first one.
#[derive(Debug)]
pub struct MorePackets<P> {
    /// Packets, until the receiver has them.
    pub packets: Vec<Queued<P>>,
    /// Flow and bytes of each when the MPDU was built.
    pub contents: Vec<(u32, u32)>,
}

impl<P> Mpdu<P> {
    /// Number of packets that the receiver doesn't have.
    #[must_use]
    pub fn packets(&self) -> usize {
        usize::from(self.packet.is_some()) + self.more.as_ref().map_or(0, |more| more.packets.len())
    }

    /// Takes the packets of an A-MSDU after the first one.
    pub fn take_more(&mut self) -> Vec<Queued<P>> {
        let more = self.more.as_mut();
        more.map_or_else(Vec::new, |more| std::mem::take(&mut more.packets))
    }
}

/// Limits of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// True if A-MPDUs are used.
    pub ampdu: bool,
    /// Maximum number of MPDUs in an aggregate; at most the window.
    pub frames: u32,
    /// BlockAck window: maximum number of MPDUs in flight, from the first unacknowledged one
    /// (802.11-2020 clause 10.25.6.7). 64 (HT, VHT), 256 (HE), 1024 (EHT).
    pub window: u32,
    /// Maximum duration of a PPDU: the driver's limit, at most 5.484 ms (L-SIG, 802.11-2020 clause
    /// 9.4.2.55.6).
    pub time: Duration,
    /// Maximum A-MPDU in bytes: 65 535 (HT), 1 048 575 (VHT), 6 500 631 (HE), 15 523 200 (EHT).
    pub bytes: u64,
    /// Maximum A-MSDU in bytes: 3839 or 7935 (HT), 11 398 (VHT and later); 0 disables A-MSDU.
    pub amsdu: u32,
    /// Maximum number of transmissions of an MPDU.
    pub tries: u32,
}

impl Limits {
    /// Maximum duration of a PPDU in the standard (aPPDUMaxTime).
    pub const PPDU: Duration = Duration::from_micros(5_484);

    /// No aggregation; 7 tries (the default of dot11ShortRetryLimit).
    pub const NONE: Limits = Limits {
        ampdu: false,
        frames: 1,
        window: 1,
        time: Limits::PPDU,
        bytes: 0,
        amsdu: 0,
        tries: 7,
    };

    /// Maximum PSDU in bytes.
    #[must_use]
    pub fn room(&self, format: &Format) -> u64 {
        let bytes = if self.ampdu { self.bytes } else { u64::MAX };
        format.longest(self.time).unwrap_or(0).min(bytes)
    }
}

/// MPDUs of one PPDU for a receiver.
#[derive(Debug)]
pub struct Aggregate<P> {
    /// MPDUs, by ascending sequence number.
    pub mpdus: Vec<Mpdu<P>>,
    /// Vector and its durations.
    pub sending: Sending,
    /// Consecutive transmissions of data or RTS without a response.
    pub failures: u32,
    /// True if it is shorter than possible because it probes a rate.
    pub probe: bool,
    /// Length of its PSDU in bytes.
    pub length: u64,
    /// Duration of its PPDU.
    pub duration: Duration,
    /// Airtime that was reported to the queue for it.
    pub estimated_airtime: Duration,
    /// Time at which it was built.
    pub since: Instant,
}

impl<P> Aggregate<P> {
    /// Changes the vector. Returns the MPDUs at its end that exceed `limits` then; at least one
    /// stays.
    pub fn send_by(&mut self, sending: Sending, limits: &Limits) -> Vec<Mpdu<P>> {
        self.sending = sending;
        let room = limits.room(&sending.format);
        let (mut length, mut fit) = (0, 0);
        for mpdu in &self.mpdus {
            if fit > 0 && length + last_in_aggregate(mpdu.length) > room {
                break;
            }
            length += in_aggregate(mpdu.length);
            fit += 1;
        }
        let rest = self.mpdus.split_off(fit);
        self.measure();
        rest
    }

    /// Computes length and duration from its MPDUs.
    pub fn measure(&mut self) {
        self.length = match self.mpdus.split_last() {
            None => 0,
            Some((last, [])) if self.sending.sends_bare() => u64::from(last.length),
            Some((last, others)) => {
                let others: u64 = others.iter().map(|mpdu| in_aggregate(mpdu.length)).sum();
                others + last_in_aggregate(last.length)
            }
        };
        self.duration = self.sending.format.duration(self.length);
    }

    /// Duration of its response.
    #[must_use]
    pub fn response(&self) -> Duration {
        self.sending.response(self.mpdus.len())
    }
}
