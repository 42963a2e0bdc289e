//! Backpressure: limits how many packets a station's kernel hands to the lab.
//!
//! TCP Small Queues and socket buffers count packets in the qdisc, but not packets that the device has accepted. Most
//! packets therefore have to stay in the qdisc until the modelled radio can send them. Some kernels stop the qdisc when
//! a TUN device's queue is full. The lab probes for this behaviour: it sends into a TUN device that is not read, and
//! counts drops. On other kernels, and with Ethernet pairs, a token bucket limits the qdisc.

use crate::device_kind::DeviceKind;
use serde::{Deserialize, Serialize};

/// Mechanism that limits how many packets a node's kernel hands over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Backpressure {
    /// No limit.
    None,
    /// A token bucket qdisc releases only the granted bytes.
    TokenBucket,
    /// The TUN device has a short queue that stops the qdisc when it is full. The lab reads only the packets that it
    /// can accept.
    TunQueue,
}

/// Result of the probe: [`DATAGRAMS`](Self::DATAGRAMS) datagrams are sent into a TUN device with a queue of
/// [`QUEUE_LENGTH`](Self::QUEUE_LENGTH) packets that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Bytes that the sending socket still counts as unsent (SIOCOUTQ).
    pub outstanding: u32,
    /// Number of dropped packets.
    pub dropped: u32,
}

impl Probe {
    /// Number of datagrams that the probe sends.
    pub const DATAGRAMS: u32 = 50;
    /// Length of the device's queue in packets.
    pub const QUEUE_LENGTH: u32 = 20;
    /// Payload of each datagram in bytes.
    pub const DATAGRAM_SIZE: usize = 1000;

    /// Returns whether a full device stops the qdisc: no packet is dropped, and the sending socket still counts at
    /// least half of the queued bytes.
    #[must_use]
    pub const fn has_backpressure(&self) -> bool {
        let waiting = (Self::DATAGRAMS - Self::QUEUE_LENGTH) as usize * Self::DATAGRAM_SIZE;
        self.dropped == 0 && self.outstanding as usize >= waiting / 2
    }
}

/// Chooses a mechanism: the TUN queue if the probe found backpressure, otherwise the token bucket.
#[must_use]
pub fn choose(device: DeviceKind, probed: Option<Probe>) -> Backpressure {
    match (device, probed) {
        (DeviceKind::Tun, Some(probe)) if probe.has_backpressure() => Backpressure::TunQueue,
        _ => Backpressure::TokenBucket,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_stops_the_queue_needs_no_bucket() {
        // Linux 6.18: all datagrams count as sent at once, and 30 of 50 are dropped.
        let drops = Probe {
            outstanding: 0,
            dropped: 30,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(drops)), Backpressure::TokenBucket);
        // 30 of 50 datagrams are queued; a datagram of 1000 bytes counts at least 1000 bytes.
        let stops = Probe {
            outstanding: 30 * 1280,
            dropped: 0,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(stops)), Backpressure::TunQueue);
        // Some datagrams are queued and some are dropped: not reliable backpressure.
        let both = Probe {
            outstanding: 10 * 1280,
            dropped: 20,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(both)), Backpressure::TokenBucket);
        // No drops and no unsent bytes: the device accepts more packets than configured.
        let deep = Probe {
            outstanding: 0,
            dropped: 0,
        };
        assert_eq!(choose(DeviceKind::Tun, Some(deep)), Backpressure::TokenBucket);
        assert_eq!(choose(DeviceKind::Tun, None), Backpressure::TokenBucket);
        assert_eq!(choose(DeviceKind::Pair, Some(stops)), Backpressure::TokenBucket);
    }
}
