//! Wired link of a station, instead of Wi-Fi.

use super::Port;
use netburn_units::{BitRate, ByteSize, Duration, Probability};

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
