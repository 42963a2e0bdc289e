//! Send buffer: data that the application may write before it has to wait.

use crate::config::{EndpointConfig, Gso};

/// Memory of one segment for the growth of the buffer (`tcp_sndbuf_expand`). It is 1460 bytes with
/// headers and `skb_shared_info`, rounded up to a power of two, and the `sk_buff`.
fn segment_weight(mss: u32) -> u64 {
    u64::from((mss + 640).next_power_of_two()) + 256
}

#[derive(Debug, Clone)]
pub(crate) struct SendBuffer {
    size: u64,
    max: u64,
    /// Content uses `weight.0 ÷ weight.1` times its size in the buffer.
    weight: (u64, u64),
    /// Number of windows that fit into it: 2, with BBR 3.
    windows: u64,
    /// True after a partial write.
    refused: bool,
}

impl SendBuffer {
    pub(crate) fn new(config: &EndpointConfig) -> Self {
        Self {
            size: config.send_buffer.initial.as_bytes().max(1),
            max: config.send_buffer.max.as_bytes().max(1),
            weight: weight(&config.gso, config.mss),
            windows: 2,
            refused: false,
        }
    }

    pub(crate) fn set_windows(&mut self, windows: u64) {
        self.windows = windows;
    }

    /// Memory in bytes.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Returns true if the application waits for room.
    pub(crate) const fn is_refused(&self) -> bool {
        self.refused
    }

    /// Grows to twice the window (`tcp_sndbuf_expand`).
    pub(crate) fn expand(&mut self, mss: u32, cwnd: u32, reordering: u32) {
        let segments = u64::from(cwnd.max(10).max(reordering + 1));
        let wanted = self.windows * segments * segment_weight(mss);
        if wanted > self.size {
            self.size = wanted.min(self.max).max(self.size);
        }
    }

    /// Number of accepted bytes of `bytes`, with `held` bytes of content in the buffer: at least
    /// one segment if there is any room (`sk_stream_memory_free`).
    pub(crate) fn take(&mut self, bytes: u64, held: u64, mss: u32) -> u64 {
        let free = self.size.saturating_sub(self.weigh(held));
        let room = if free == 0 {
            0
        } else {
            (free.saturating_mul(self.weight.1) / self.weight.0).max(u64::from(mss))
        };
        let taken = bytes.min(room);
        self.refused |= taken < bytes;
        taken
    }

    /// Returns true, once, if the application waits and a third of the buffer is free again
    /// (`sk_stream_is_writeable`).
    pub(crate) fn poll_writable(&mut self, held: u64) -> bool {
        if !self.refused {
            return false;
        }
        let queued = self.weigh(held);
        let writable = self.size.saturating_sub(queued) >= queued / 2 && queued < self.size;
        if writable {
            self.refused = false;
        }
        writable
    }

    fn weigh(&self, content: u64) -> u64 {
        content.saturating_mul(self.weight.0) / self.weight.1
    }
}

fn weight(gso: &Gso, mss: u32) -> (u64, u64) {
    if gso.enabled {
        let whole = u64::from(gso.max_size).max(1);
        (whole + u64::from(gso.burst_overhead), whole)
    } else {
        (u64::from(gso.packet_truesize.max(1)), u64::from(mss.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_with_room_for_twenty_segments() {
        let mut buffer = SendBuffer::new(&EndpointConfig::default());
        buffer.expand(1_460, 10, 3);
        // The 87040 bytes that `ss -tm` prints for a new connection.
        assert_eq!(buffer.size(), 87_040);
        buffer.expand(1_460, 100_000, 3);
        assert_eq!(buffer.size(), 4 << 20);
    }

    #[test]
    fn rejects_and_reports_room() {
        let config = EndpointConfig {
            gso: Gso::off(),
            ..EndpointConfig::default()
        };
        let mut buffer = SendBuffer::new(&config);
        buffer.expand(1_448, 10, 3);
        // 87040 bytes of memory are 20 segments at 4352 for 1448.
        assert_eq!(buffer.take(1_000_000, 0, 1_448), 28_960);
        assert!(!buffer.poll_writable(28_960));
        // Two thirds of it are low enough: 19306 bytes.
        assert!(!buffer.poll_writable(19_400));
        assert!(buffer.poll_writable(19_200));
        assert!(!buffer.poll_writable(19_200));
    }

    /// Memory for one burst of the maximum size including its overhead holds exactly its content.
    /// With any free room a segment is accepted.
    #[test]
    fn content_weighs_more_than_its_bytes() {
        let gso = Gso::default();
        let whole = u64::from(gso.max_size);
        let memory = whole + u64::from(gso.burst_overhead);
        let config = EndpointConfig {
            send_buffer: crate::config::Buffer {
                initial: netburn_units::ByteSize::from_bytes(memory),
                max: netburn_units::ByteSize::from_bytes(memory),
            },
            ..EndpointConfig::default()
        };
        let mut buffer = SendBuffer::new(&config);
        assert_eq!(buffer.take(whole, 0, 1_448), whole);
        assert!(!buffer.is_refused());
        assert_eq!(buffer.take(10_000, whole - 100, 1_448), 1_448);
        assert_eq!(buffer.take(10_000, whole, 1_448), 0);
        assert!(buffer.is_refused());
    }
}
