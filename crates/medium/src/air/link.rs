//! A link while it is used: how it sends now, what its frames cost, and both ends of its BlockAck agreements.

use super::config::LinkConfig;
use crate::aggregation::{Limits, Reorder, Sender};
use crate::packet::{NodeId, Packet};
use crate::phy::{Format, TxVector, response};
use netburn_units::Duration;

/// One direction between two nodes, as its sender sees it.
#[derive(Debug)]
pub(super) struct Link<P> {
    pub(super) to: NodeId,
    pub(super) vector: TxVector,
    pub(super) format: Format,
    pub(super) snr_db: Option<f64>,
    pub(super) limits: Limits,
    pub(super) senders: [Sender<P>; 8],
    /// The receiving side, which the receiver keeps.
    pub(super) reorder: [Reorder<Received<P>>; 8],
    pub(super) ack: Duration,
    pub(super) block_ack: Duration,
    /// The success of the last length asked for.
    success: (u32, f64),
}

/// What one MPDU brought: its packets.
#[derive(Debug)]
pub(super) struct Received<P> {
    pub(super) first: Packet<P>,
    pub(super) more: Vec<Packet<P>>,
}

impl<P> Link<P> {
    pub(super) fn new(config: &LinkConfig) -> Result<Self, crate::phy::PhyError> {
        let mut link = Link {
            to: NodeId(u16::try_from(config.to).expect("fewer than 65 536 nodes")),
            vector: config.vector,
            format: config.vector.format()?,
            snr_db: config.snr_db,
            limits: config.limits,
            senders: Default::default(),
            reorder: Default::default(),
            ack: Duration::ZERO,
            block_ack: Duration::ZERO,
            success: (0, 1.0),
        };
        link.reckon();
        Ok(link)
    }

    /// How it sends from now on.
    pub(super) fn set_vector(&mut self, vector: TxVector) -> Result<(), crate::phy::PhyError> {
        if vector != self.vector {
            self.format = vector.format()?;
            self.vector = vector;
            self.reckon();
        }
        Ok(())
    }

    /// The signal at the receiver from now on.
    pub(super) fn set_snr(&mut self, snr_db: Option<f64>) {
        self.snr_db = snr_db;
        self.success = (0, 1.0);
    }

    /// The chance that an MPDU of `length` bytes isn't lost to noise.
    pub(super) fn success(&mut self, length: u32) -> f64 {
        let Some(snr_db) = self.snr_db else { return 1.0 };
        if self.success.0 != length {
            let chance = crate::error::success(self.vector.modulation, snr_db, u64::from(length) * 8);
            self.success = (length, chance);
        }
        self.success.1
    }

    /// The airtime that a packet is reckoned to take before it is known what it will be sent with: its bits, and its part of what
    /// comes with an aggregate of 16 (Linux, `net/mac80211/airtime.c`, for HT and later).
    pub(super) fn estimate(&self, packet: u32) -> Duration {
        let whole = self.format.duration(u64::from(packet));
        let fixed = self.format.preamble + self.format.extension;
        let share = if self.limits.ampdu { 16 } else { 1 };
        whole.saturating_sub(fixed) + (fixed + self.block_ack) / share
    }

    /// Whether the window of this TID lets anything be sent.
    pub(super) fn may_send(&self, tid: u8) -> bool {
        self.senders[usize::from(tid)].may_send(self.limits.frames)
    }

    fn reckon(&mut self) {
        let answer = response::to(&self.vector);
        self.ack = response::duration(&answer, response::ACK);
        self.block_ack = response::duration(&answer, response::block_ack(self.limits.frames));
        self.success = (0, 1.0);
    }
}
