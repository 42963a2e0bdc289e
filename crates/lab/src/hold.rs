//! How a station's kernel is kept from handing over all that it has.
//!
//! TCP Small Queues, and a socket's buffer, count what waits in the queue before a device and no longer what is in it. So most of what
//! is sent has to wait there until the air wants it. A kernel whose full TUN devices stop the queue before them does that by itself,
//! once we read only what is wanted: that is found out by sending into such a device and looking. For all others there is a token
//! bucket.

use crate::options::DeviceKind;

/// How a node's kernel is kept from handing over all that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// It isn't.
    Nothing,
    /// A token bucket before the device lets out what is granted.
    Bucket,
    /// The device takes few packets and stops the queue; we read only what is wanted.
    Ring,
}

impl Hold {
    /// All of them.
    pub const ALL: [Hold; 3] = [Hold::Nothing, Hold::Bucket, Hold::Ring];
}

/// What came of sending [`SENT`](Self::SENT) datagrams into a TUN device that takes [`ROOM`](Self::ROOM) packets, and that nobody
/// reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Bytes that the sending socket still counts as its own.
    pub outstanding: u32,
    /// Packets that were dropped.
    pub dropped: u32,
}

impl Probe {
    /// Datagrams that are sent.
    pub const SENT: u32 = 50;
    /// Packets that the device takes.
    pub const ROOM: u32 = 20;
    /// The length of each datagram in bytes.
    pub const EACH: usize = 1000;

    /// Whether a full device stops the queue before it: nothing is lost, and what the device has no room for still counts as the
    /// sender's.
    #[must_use]
    pub const fn presses_back(&self) -> bool {
        let waiting = (Self::SENT - Self::ROOM) as usize * Self::EACH;
        self.dropped == 0 && self.outstanding as usize >= waiting / 2
    }
}

/// How stations are held back: by the ring where the kernel does that, else by buckets.
#[must_use]
pub fn choose(device: DeviceKind, probed: Option<Probe>) -> Hold {
    match (device, probed) {
        (DeviceKind::Tun, Some(probe)) if probe.presses_back() => Hold::Ring,
        _ => Hold::Bucket,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_stops_the_queue_needs_no_bucket() {
        // 6.18: everything counts as sent at once, and 30 of 50 are lost.
        let drops = Probe {
            outstanding: 0,
            dropped: 30,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(drops)), Hold::Bucket);
        // 30 of 50 wait in the queue; a datagram of 1000 bytes counts as at least so many.
        let stops = Probe {
            outstanding: 30 * 1280,
            dropped: 0,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(stops)), Hold::Ring);
        // Some are kept and some are lost: whatever that is, it is not what we rely on.
        let both = Probe {
            outstanding: 10 * 1280,
            dropped: 20,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(both)), Hold::Bucket);
        // Nothing was lost, but nothing counts either: a device that takes more than it was told to.
        let deep = Probe {
            outstanding: 0,
            dropped: 0,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(deep)), Hold::Bucket);
        assert_eq!(choose(DeviceKind::Tun, None), Hold::Bucket);
        assert_eq!(choose(DeviceKind::Pair, Some(stops)), Hold::Bucket);
    }
}
