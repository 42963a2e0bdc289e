//! The wired parts of a home.
//!
//! ```text
//! server ── line ── router ┬─ access point ·· stations
//!                          ├─ second access point, on another channel ·· stations
//!                          ├─ wired stations
//!                          └─ NAS
//! ```

use netburn_network::hop::HopConfig;
use netburn_units::BitRate;

/// Number of the first plan of a wired home. Each later number is such a plan too.
pub const WIRED_HOMES: u64 = 200_001;
/// Rate of the cables of wired stations and of the NAS.
pub const CABLE_KBPS: u64 = 100_000;

/// The wired parts of a home: a router with one line, and the number of access points at its ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    /// Rate of the line to the home in kbit/s, including the framing.
    pub down_kbps: u64,
    /// Rate of the line from the home.
    pub up_kbps: u64,
    /// Queue at both ends of the line.
    pub queue: LineQueue,
    /// Access points: 1 or 2. They are on different channels.
    pub access_points: u8,
}

/// Queue at both ends of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineQueue {
    /// A FIFO of this many bytes, without the packet in transmission.
    Fifo(u64),
    /// A FIFO of the default size: 100 ms at the rate of the direction, at least 64 KiB.
    DefaultFifo,
    /// FQ-CoDel (RFC 8290) with the default limit.
    FqCodel,
}

/// Connection of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Wi-Fi, to this access point.
    Ap(u8),
    /// A cable to the router.
    Wired,
}

/// Other end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The server beyond the line.
    Server,
    /// The NAS, a wired server in the home.
    Nas,
}

impl Home {
    /// Bytes of the FIFO of a direction with this rate, without the packet in transmission; `None` for FQ-CoDel.
    #[must_use]
    pub fn fifo_bytes(&self, kbps: u64) -> Option<u64> {
        match self.queue {
            LineQueue::Fifo(bytes) => Some(bytes),
            LineQueue::DefaultFifo => Some(default_fifo_bytes(kbps)),
            LineQueue::FqCodel => None,
        }
    }

    /// Describes the line in a few words.
    pub(super) fn line(&self) -> String {
        let queue = match self.queue {
            LineQueue::Fifo(bytes) => format!("fifo of {} kB", bytes / 1_000),
            LineQueue::DefaultFifo => "default fifo".to_owned(),
            LineQueue::FqCodel => "fq-codel".to_owned(),
        };
        let mbps = |kbps: u64| format!("{} Mbit/s", kbps / 1_000);
        format!("line {} down, {} up, {queue}", mbps(self.down_kbps), mbps(self.up_kbps))
    }
}

/// Default size of a wired FIFO with this rate in bytes.
pub(super) fn default_fifo_bytes(kbps: u64) -> u64 {
    HopConfig::default_queue(Some(BitRate::from_bps(kbps * 1_000))).as_bytes()
}
