//! Frames and aggregates, and how long they are.

use super::Sending;
use crate::packet::Queued;
use crate::phy::Format;
use crate::queue::Tin;
use netburn_units::{Duration, Instant};

/// The header and trailer of data frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// MAC header in bytes: 26 with QoS control (802.11-2020 figure 9-28), 24 without.
    pub header: u32,
    /// What encryption adds: 16 (CCMP: 8 of header, 8 of MIC), or nothing.
    pub encryption: u32,
}

/// LLC and SNAP before the network layer's packet.
const LLC_SNAP: u32 = 8;
/// The frame check sequence.
const FCS: u32 = 4;
/// The delimiter before each MPDU of an A-MPDU.
const DELIMITER: u32 = 4;
/// The subframe header of an A-MSDU: addresses and length.
const SUBFRAME: u32 = 14;

impl Framing {
    /// QoS data without encryption: what the published comparisons have.
    pub const QOS: Framing = Framing {
        header: 26,
        encryption: 0,
    };
    /// QoS data with CCMP.
    pub const CCMP: Framing = Framing {
        header: 26,
        encryption: 16,
    };
    /// Plain data, without QoS or encryption. Nodes that send it contend by DCF's rules.
    pub const PLAIN: Framing = Framing {
        header: 24,
        encryption: 0,
    };

    /// Whether frames are QoS data, whose senders contend by EDCA.
    #[must_use]
    pub const fn has_qos(&self) -> bool {
        self.header > Framing::PLAIN.header
    }

    /// The length of an MPDU that carries one packet.
    #[must_use]
    pub const fn mpdu(&self, packet: u32) -> u32 {
        self.header + self.encryption + LLC_SNAP + packet + FCS
    }

    /// The length of an A-MSDU subframe without its padding.
    #[must_use]
    pub const fn subframe(packet: u32) -> u32 {
        SUBFRAME + LLC_SNAP + packet
    }

    /// The length of an MPDU around an A-MSDU of `subframes` bytes.
    #[must_use]
    pub const fn around(&self, subframes: u32) -> u32 {
        self.header + self.encryption + subframes + FCS
    }
}

/// The length of an MPDU within an A-MPDU: its delimiter, and padding to 4 bytes.
#[must_use]
pub const fn in_aggregate(mpdu: u32) -> u64 {
    (DELIMITER + mpdu).next_multiple_of(4) as u64
}

/// The length of the last MPDU of an A-MPDU: with its delimiter, not padded.
#[must_use]
pub const fn last_in_aggregate(mpdu: u32) -> u64 {
    (DELIMITER + mpdu) as u64
}

/// One MPDU: a packet, or several in an A-MSDU.
#[derive(Debug)]
pub struct Mpdu<P> {
    /// Its number within the agreement; never wraps.
    pub sequence: u64,
    /// How often it was sent.
    pub tries: u32,
    /// Its length in bytes.
    pub length: u32,
    /// What it carries, until the receiver has it.
    pub packet: Option<Queued<P>>,
    /// Further packets of an A-MSDU.
    pub more: Vec<Queued<P>>,
    /// Of each packet when it was put together, its flow and its bytes: the first one's, and the others' of an A-MSDU.
    pub content: (u32, u32),
    /// See [`content`](Self::content).
    pub more_content: Vec<(u32, u32)>,
}

impl<P> Mpdu<P> {
    /// The flow and bytes of each packet that it was put together from.
    pub fn contents(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        std::iter::once(self.content).chain(self.more_content.iter().copied())
    }
}

/// What an aggregate may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Whether frames are aggregated at all.
    pub ampdu: bool,
    /// The most MPDUs in one aggregate; at most the window.
    pub frames: u32,
    /// The BlockAck window: MPDUs from the first that is not acknowledged on that may be under way (802.11-2020 clause
    /// 10.25.6.7). 64 (HT, VHT), 256 (HE), 1024 (EHT).
    pub window: u32,
    /// The longest PPDU: the driver's cap, at most 5.484 ms (L-SIG, 802.11-2020 clause 9.4.2.55.6).
    pub time: Duration,
    /// The longest A-MPDU in bytes: 65 535 (HT), 1 048 575 (VHT), 6 500 631 (HE), 15 523 200 (EHT).
    pub bytes: u64,
    /// The longest A-MSDU in bytes: 3839 or 7935 (HT), 11 398 (VHT on); nothing: none are made.
    pub amsdu: u32,
    /// How often an MPDU is sent before it is dropped.
    pub tries: u32,
}

impl Limits {
    /// The longest PPDU there can be (aPPDUMaxTime).
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

    /// Bytes of PSDU that there is room for.
    #[must_use]
    pub fn room(&self, format: &Format) -> u64 {
        let bytes = if self.ampdu { self.bytes } else { u64::MAX };
        format.longest(self.time).unwrap_or(0).min(bytes)
    }
}

/// MPDUs that go in one PPDU.
#[derive(Debug)]
pub struct Aggregate<P> {
    /// Whom and what it is for.
    pub tin: Tin,
    /// The MPDUs, by rising sequence number.
    pub mpdus: Vec<Mpdu<P>>,
    /// How it is sent.
    pub sending: Sending,
    /// How often in a row it was sent, or announced by RTS, and not answered.
    pub failures: u32,
    /// Whether it is shorter than it could be, to try a rate out.
    pub probe: bool,
    /// Bytes of its PSDU.
    pub length: u64,
    /// How long its PPDU lasts.
    pub duration: Duration,
    /// The airtime that the queue was told the hardware had been given with it.
    pub handed: Duration,
    /// When it was put together.
    pub since: Instant,
}

impl<P> Aggregate<P> {
    /// It is sent another way. Returns the MPDUs at its end that don't fit `limits` then; at least one stays.
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

    /// Reckons its length and duration from its MPDUs.
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

    /// How long its answer lasts.
    #[must_use]
    pub fn answer(&self) -> Duration {
        self.sending.answer(self.mpdus.len())
    }
}
