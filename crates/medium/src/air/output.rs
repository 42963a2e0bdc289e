//! Outputs of the air.

use crate::packet::{DropReason, NodeId, Packet};
use crate::phy::TxVector;
use netburn_units::{Duration, Instant};

/// Output of the air.
#[derive(Debug)]
pub enum Output<P> {
    /// A packet was delivered.
    Delivered {
        /// Time.
        at: Instant,
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// The packet, with its ECN mark.
        packet: Packet<P>,
    },
    /// A packet was dropped.
    Dropped {
        /// Time.
        at: Instant,
        /// Sender, which dropped it, except for [`DropReason::AdapterFull`], where the receiver
        /// dropped it.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Reason.
        reason: DropReason,
        /// The packet, unless the receiver already has it and only the acknowledgements were lost.
        packet: Option<Packet<P>>,
    },
    /// A group-addressed frame has ended. It has no acknowledgement.
    Group {
        /// Time.
        at: Instant,
        /// Sender.
        from: NodeId,
        /// The packet.
        packet: Packet<P>,
        /// Associated nodes that can receive it, in the order of the links. Those that are away are
        /// included: the caller knows which of them wake for it.
        heard: Vec<NodeId>,
    },
    /// Packets of one flow are complete at the sender, acknowledged or dropped: its host may free
    /// them.
    Sent {
        /// Time.
        at: Instant,
        /// Sender.
        from: NodeId,
        /// Receiver.
        to: NodeId,
        /// Flow.
        flow: u32,
        /// Number of packets.
        packets: u32,
        /// Their bytes.
        bytes: u32,
    },
}

/// Record of one data PPDU, for traces, captures and tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmission {
    /// Start.
    pub at: Instant,
    /// Duration.
    pub duration: Duration,
    /// Sender.
    pub from: NodeId,
    /// Receiver; `None` for a group-addressed frame.
    pub to: Option<NodeId>,
    /// TID of its packets.
    pub tid: u8,
    /// Vector.
    pub vector: TxVector,
    /// Number of MPDUs.
    pub mpdus: u32,
    /// Number of MPDUs that arrived; of a group-addressed frame 1 if a node received it.
    pub arrived: u32,
    /// True if it collided with another transmission.
    pub collided: bool,
    /// Length of its PSDU in bytes.
    pub length: u64,
}

/// Account of a node: its airtime and results.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Account {
    /// Airtime of data PPDUs sent.
    pub sent: Duration,
    /// Airtime of data PPDUs addressed to it.
    pub received: Duration,
    /// Number of data PPDUs addressed to it.
    pub received_transmissions: u64,
    /// MPDUs in those.
    pub received_mpdus: u64,
    /// MPDUs in those that did not arrive.
    pub received_retries: u64,
    /// Number of data PPDUs sent.
    pub transmissions: u64,
    /// Number of those that collided.
    pub collisions: u64,
    /// MPDUs in those.
    pub mpdus: u64,
    /// Number of MPDU retransmissions.
    pub retries: u64,
    /// Packets delivered to their receiver.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked with ECN.
    pub marks: u64,
}

impl std::ops::Add for Account {
    type Output = Account;

    fn add(self, other: Account) -> Account {
        Account {
            sent: self.sent + other.sent,
            received: self.received + other.received,
            received_transmissions: self.received_transmissions + other.received_transmissions,
            received_mpdus: self.received_mpdus + other.received_mpdus,
            received_retries: self.received_retries + other.received_retries,
            transmissions: self.transmissions + other.transmissions,
            collisions: self.collisions + other.collisions,
            mpdus: self.mpdus + other.mpdus,
            retries: self.retries + other.retries,
            delivered: self.delivered + other.delivered,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            drops: self.drops + other.drops,
            marks: self.marks + other.marks,
        }
    }
}

/// Account of a channel's time, up to its last change of state.
///
/// `data` + `control` + `others` + `overlapped` = `busy`, to the nanosecond. The rest of the time
/// is idle: interframe spaces, backoff, timeouts for missing responses, and time without anything
/// to send. While nothing is on the air, the sum of the nodes' [`sent`](Account::sent) is `data` +
/// `overlapped_data`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChannelAccount {
    /// Time with at least one transmission on the air.
    pub busy: Duration,
    /// Part of it with data alone.
    pub data: Duration,
    /// Part of it with RTS, CTS, ACK or BlockAck alone.
    pub control: Duration,
    /// Part of it with a transmission of another network alone.
    pub others: Duration,
    /// Part of it with more than one transmission: collisions.
    pub overlapped: Duration,
    /// Airtime of data in collisions; of two colliding data PPDUs both count.
    pub overlapped_data: Duration,
}
