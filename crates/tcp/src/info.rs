//! Snapshot of an endpoint, as `TCP_INFO`.

use crate::congestion::State;
use netburn_units::{BitRate, ByteSize, Duration};

/// Limiting factor of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// There is nothing to send.
    Application,
    /// The send buffer is full and less than a segment of it is unsent.
    SendBuffer,
    /// The congestion window is full.
    CongestionWindow,
    /// The peer's window is full.
    ReceiveWindow,
    /// TCP Small Queues: the limit of data in the host is reached.
    SmallQueue,
    /// The pacing timer.
    Pacing,
}

/// Snapshot of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Congestion state.
    pub state: State,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow start threshold in segments.
    pub ssthresh: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Mean deviation of the round-trip time.
    pub rttvar: Duration,
    /// Minimum round-trip time of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout with its backoff.
    pub rto: Duration,
    /// Segments assumed to be in the network.
    pub in_flight: u32,
    /// Segments sent, including retransmissions.
    pub segments_sent: u64,
    /// Retransmitted segments.
    pub retransmits: u64,
    /// Pacing rate; also computed without pacing.
    pub pacing_rate: Option<BitRate>,
    /// Last delivery rate sample, in content.
    pub delivery_rate: Option<BitRate>,
    /// Limiting factor when the sender last had nothing to send.
    pub limit: Limit,
    /// Bytes of truesize in the host's queues.
    pub host_queue: ByteSize,
    /// Limit of TCP Small Queues for one more single-segment packet, in bytes of truesize.
    pub host_queue_limit: Option<ByteSize>,
    /// Size of the send buffer.
    pub send_buffer: ByteSize,
    /// Size of the receive buffer.
    pub receive_buffer: ByteSize,
    /// Window offered by the peer.
    pub peer_window: ByteSize,
    /// Bytes of content acknowledged by the peer.
    pub acknowledged: u64,
    /// Bytes of content received in order.
    pub received: u64,
}
