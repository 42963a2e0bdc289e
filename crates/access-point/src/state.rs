//! Parts of a sample: stations, channels, queues and processors, as an access point reports them.

use netburn_record::Bssid;

/// A station of an access point. *Down* is to the station.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StationState {
    /// Interface.
    pub interface: String,
    /// Address.
    pub address: Bssid,
    /// Signal of the last frame in hundredths of a dBm.
    pub signal: Option<i64>,
    /// Rate of the last frame to it in bit/s.
    pub rate_down: Option<u64>,
    /// Rate of the last frame from it in bit/s.
    pub rate_up: Option<u64>,
    /// Bytes to it.
    pub bytes_down: Option<u64>,
    /// Bytes from it.
    pub bytes_up: Option<u64>,
    /// Retransmissions to it.
    pub retries: Option<u64>,
    /// Frames to it that were given up.
    pub failed: Option<u64>,
    /// Airtime of frames to it in µs.
    pub airtime_down_us: Option<u64>,
    /// Airtime of frames from it in µs.
    pub airtime_up_us: Option<u64>,
    /// Its queues.
    pub backlog: Option<Backlog>,
    /// Estimated airtime of frames that the driver has, in µs.
    pub pending_us: Option<u64>,
    /// Time since its association in s.
    pub connected_s: Option<u64>,
}

/// Content of a queue, and what it dropped and marked so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Queued bytes.
    pub bytes: u64,
    /// Queued packets.
    pub packets: u64,
    /// Dropped packets.
    pub drops: u64,
    /// Marked packets.
    pub marks: u64,
}

/// Use of a channel. Times are in ms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SurveyState {
    /// Interface of the radio.
    pub interface: String,
    /// Centre of the primary channel in MHz.
    pub frequency_mhz: u32,
    /// Noise in hundredths of a dBm.
    pub noise: Option<i64>,
    /// Time on the channel.
    pub on_channel_ms: Option<u64>,
    /// Part of it in which the channel was busy.
    pub busy_ms: Option<u64>,
    /// Part of it in which the radio received.
    pub receiving_ms: Option<u64>,
    /// Part of it in which it sent.
    pub sending_ms: Option<u64>,
}

/// A queue of a network interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueState {
    /// Interface, kind and part: `eth1 cake tin 2`.
    pub name: String,
    /// Bytes that it sent.
    pub sent_bytes: u64,
    /// Queued bytes.
    pub bytes: u64,
    /// Queued packets.
    pub packets: Option<u64>,
    /// Dropped packets.
    pub drops: u64,
    /// Marked packets.
    pub marks: Option<u64>,
    /// Mean delay of its packets in µs.
    pub delay_us: Option<u64>,
    /// Rate of its shaper in bit/s.
    pub rate: Option<u64>,
}

/// Use of a processor, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Processor {
    /// In use.
    pub busy: u64,
    /// Handling packets and other deferred work.
    pub softirq: u64,
    /// All.
    pub total: u64,
}

/// Backlog of the processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Softnet {
    /// Dropped packets.
    pub dropped: u64,
    /// Times at which a processor had more packets than it may handle at once.
    pub squeezed: u64,
}

impl Backlog {
    pub(crate) fn add(&mut self, other: &Backlog) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.packets = self.packets.saturating_add(other.packets);
        self.drops = self.drops.saturating_add(other.drops);
        self.marks = self.marks.saturating_add(other.marks);
    }
}
