//! What an endpoint tells of itself, as `TCP_INFO` does.

use crate::congestion::State;
use netburn_units::{BitRate, ByteSize, Duration};

/// What holds a sender back.
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
    /// As much as TCP Small Queues permits waits in the host.
    SmallQueue,
    /// The pacing timer.
    Pacing,
}

/// A look at one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Between all well and loss.
    pub state: State,
    /// The congestion window in segments.
    pub cwnd: u32,
    /// The slow start threshold in segments.
    pub ssthresh: u32,
    /// The smoothed round trip.
    pub srtt: Option<Duration>,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// The shortest round trip of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// The retransmission time-out with its backoff.
    pub rto: Duration,
    /// Segments thought to be in the network.
    pub in_flight: u32,
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// What the sender would pace at; kept up even where nothing is paced.
    pub pacing_rate: Option<BitRate>,
    /// The rate of delivery as last measured, in content.
    pub delivery_rate: Option<BitRate>,
    /// What held the sender back when it last had nothing to send.
    pub limit: Limit,
    /// Bytes of truesize in the host's queues.
    pub host_queue: ByteSize,
    /// The limit of TCP Small Queues for one more packet of one segment, in bytes of truesize.
    pub host_queue_limit: Option<ByteSize>,
    /// The send buffer's size.
    pub send_buffer: ByteSize,
    /// The receive buffer's size.
    pub receive_buffer: ByteSize,
    /// The window that the peer offers.
    pub peer_window: ByteSize,
    /// Bytes of content acknowledged by the peer.
    pub acknowledged: u64,
    /// Bytes of content received in order.
    pub received: u64,
}
