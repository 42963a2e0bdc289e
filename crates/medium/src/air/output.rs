//! What comes out of the air.

use crate::packet::{DropReason, NodeId, Packet};
use crate::phy::TxVector;
use netburn_units::{Duration, Instant};

/// Something that happened.
#[derive(Debug)]
pub enum Output<P> {
    /// A packet reached its receiver.
    Delivered {
        /// When.
        at: Instant,
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// The packet, with its ECN mark.
        packet: Packet<P>,
    },
    /// A packet was dropped.
    Dropped {
        /// When.
        at: Instant,
        /// The sender, who dropped it; but for [`DropReason::AdapterFull`] the receiver did.
        from: NodeId,
        /// Whom it was for.
        to: NodeId,
        /// Why.
        reason: DropReason,
        /// The packet, unless the receiver has it already and only the sender doesn't know.
        packet: Option<Packet<P>>,
    },
    /// Packets of one flow have left a sender for good, acknowledged or given up: what its host may free.
    Sent {
        /// When.
        at: Instant,
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// The flow.
        flow: u32,
        /// How many packets.
        packets: u32,
        /// Their bytes.
        bytes: u32,
    },
}

/// A look at one data PPDU, for traces, captures and tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmission {
    /// When it began.
    pub at: Instant,
    /// How long it lasted.
    pub duration: Duration,
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// TID of what it carried.
    pub tid: u8,
    /// How it was sent.
    pub vector: TxVector,
    /// MPDUs in it.
    pub mpdus: u32,
    /// Of which arrived.
    pub arrived: u32,
    /// Whether it met another transmission.
    pub collided: bool,
    /// Bytes of its PSDU.
    pub length: u64,
}

/// What a node's share of the air was spent on, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Account {
    /// Airtime of data PPDUs sent.
    pub sent: Duration,
    /// Airtime of data PPDUs addressed to it.
    pub received: Duration,
    /// Data PPDUs addressed to it.
    pub received_transmissions: u64,
    /// MPDUs in those.
    pub received_mpdus: u64,
    /// MPDUs in those that did not arrive.
    pub received_retries: u64,
    /// Data PPDUs sent.
    pub transmissions: u64,
    /// Of which met others.
    pub collisions: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// MPDUs that had to be sent again.
    pub retries: u64,
    /// Packets that reached their receiver.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked with ECN.
    pub marks: u64,
}

/// What became of a channel's time, up to when its state last changed.
///
/// `data` + `control` + `others` + `overlapped` = `busy`, to the nanosecond. The rest of the time that has gone by is idle: interframe spaces,
/// backoff, waits for answers that don't come, and time in which nobody had anything to send. When nothing is on the air, what the nodes have
/// [`sent`](Account::sent) is `data` + `overlapped_data`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChannelAccount {
    /// Time in which at least one transmission was on the air.
    pub busy: Duration,
    /// Of which with data alone.
    pub data: Duration,
    /// Of which with RTS, CTS, ACK or BlockAck alone.
    pub control: Duration,
    /// Of which with a transmission of others alone, whom the scenario doesn't know.
    pub others: Duration,
    /// Of which with more than one: collisions.
    pub overlapped: Duration,
    /// Airtime of data in collisions; where two data PPDUs meet, both count.
    pub overlapped_data: Duration,
}
