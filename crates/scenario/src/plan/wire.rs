//! A station's own wire, in place of the air.

use netburn_units::{BitRate, ByteSize, Duration, Probability};

/// The wire between a station and the server's hop: an Ethernet, or a modem's line.
///
/// Away from the station: its queue (`station.N.queue`), the device's ring, then the line. With a [`device`](Self::device) the ring
/// empties at that rate into a queue of the line's own, which the host knows nothing of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StationLink {
    /// The rate towards the station.
    pub down: BitRate,
    /// The rate away from it.
    pub up: BitRate,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost, each way.
    pub loss: Probability,
    /// Bytes that can wait for the line, each way; away from the station only where there is a `device`, since else they wait in
    /// the host. `None`: 100 ms at its rate, at least 64 KiB.
    pub queue: Option<ByteSize>,
    /// The rate at which the host's device hands packets to the line; `None`: the device is the end of the line.
    pub device: Option<BitRate>,
    /// Packets that the device's ring holds; at least one.
    pub ring: u32,
    /// Byte queue limits: the ring takes no more while it holds more bytes than this. `None`: the ring is the only bound.
    pub bql: Option<ByteSize>,
}

impl Default for StationLink {
    fn default() -> Self {
        StationLink {
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
    /// The most that leaves the station: the line's rate, or its device's where that is less.
    #[must_use]
    pub fn max_up(&self) -> BitRate {
        self.device.map_or(self.up, |device| device.min(self.up))
    }
}
