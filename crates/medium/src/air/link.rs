//! A link while it is used: how it sends now, what its frames cost, and both ends of its BlockAck agreements.

use super::config::LinkConfig;
use crate::aggregation::{Aggregate, Limits, Reorder, Sender, Sending};
use crate::packet::{NodeId, Packet};
use crate::phy::{PhyError, TxVector};
use crate::queue::Readiness;
use crate::rate::{Fixed, RateAlgorithm, RateChoice, RateSet, Report, gain_db};
use netburn_units::{Duration, Instant, Stream};

/// So many lengths and vectors are remembered: full segments, their acknowledgements, at the rate in use and at those tried out.
const SUCCESSES: usize = 8;

/// One direction between two nodes, as its sender sees it.
#[derive(Debug)]
pub(super) struct Link<P> {
    pub(super) to: NodeId,
    /// The vector that the signal is given for.
    reference: TxVector,
    snr_db: Option<f64>,
    /// What the node waits for the medium on average, and SIFS.
    access: Duration,
    /// How many times slower than usual the PHY is clocked.
    clock: u64,
    /// What its rate choice draws from.
    chance: Stream,
    rate: Box<dyn RateAlgorithm>,
    /// What was chosen last.
    pub(super) sending: Sending,
    pub(super) limits: Limits,
    pub(super) senders: [Sender<P>; 8],
    /// The receiving side, which the receiver keeps.
    pub(super) reorder: [Reorder<Received<P>>; 8],
    /// The success of the last lengths asked for, at the vectors asked for, and the place of the next.
    successes: Vec<(TxVector, u32, f64)>,
    next_success: usize,
}

/// What one MPDU brought: its packets.
#[derive(Debug)]
pub(super) struct Received<P> {
    pub(super) first: Packet<P>,
    pub(super) more: Vec<Packet<P>>,
}

impl<P> Link<P> {
    pub(super) fn new(config: &LinkConfig, access: Duration, clock: u64, chance: Stream) -> Result<Self, PhyError> {
        let sending = Sending::new(&config.vector, config.limits.window, clock)?;
        let set = RateSet::clocked(&config.vector, &config.limits, access, clock);
        Ok(Link {
            to: NodeId(u16::try_from(config.to).expect("fewer than 65 536 nodes")),
            reference: config.vector,
            snr_db: config.snr_db,
            access,
            clock,
            rate: config.rate.start(set, config.snr_db, chance.clone()),
            chance,
            sending,
            limits: config.limits,
            senders: Default::default(),
            reorder: Default::default(),
            successes: Vec::new(),
            next_success: 0,
        })
    }

    /// It always sends this way from now on.
    pub(super) fn set_vector(&mut self, vector: TxVector) -> Result<(), PhyError> {
        self.sending = Sending::new(&vector, self.limits.window, self.clock)?;
        self.rate = Box::new(Fixed(vector));
        Ok(())
    }

    /// How it chooses its rate from now on, up to `vector`.
    pub(super) fn set_rate(&mut self, vector: TxVector, rate: RateChoice) -> Result<(), PhyError> {
        self.sending = Sending::new(&vector, self.limits.window, self.clock)?;
        self.reference = vector;
        let set = RateSet::clocked(&vector, &self.limits, self.access, self.clock);
        self.rate = rate.start(set, self.snr_db, self.chance.clone());
        self.forget_successes();
        Ok(())
    }

    /// The signal at the receiver from now on.
    pub(super) fn set_snr(&mut self, snr_db: Option<f64>) {
        self.snr_db = snr_db;
        self.rate.handle_signal(snr_db);
        self.forget_successes();
    }

    /// How a PPDU is sent that went unanswered `failures` times, and the most MPDUs it may carry.
    pub(super) fn choose(&mut self, now: Instant, failures: u32) -> (Sending, u32) {
        let choice = self.rate.choose(now, failures);
        if choice.vector != self.sending.vector
            // A vector that there isn't would be a fault of the algorithm: it goes on as before.
            && let Ok(sending) = Sending::new(&choice.vector, self.limits.window, self.clock)
        {
            self.sending = sending;
        }
        let frames = choice
            .frames
            .map_or(self.limits.frames, |f| f.clamp(1, self.limits.frames.max(1)));
        (self.sending, frames)
    }

    /// The data of a PPDU were sent, and `arrived` of its MPDUs acknowledged.
    pub(super) fn report(&mut self, now: Instant, aggregate: &Aggregate<P>, arrived: u32, reserved: bool) {
        let report = Report {
            vector: aggregate.sending.vector,
            attempted: aggregate.mpdus.len() as u32,
            arrived,
            reserved,
        };
        self.rate.report(now, &report);
    }

    fn forget_successes(&mut self) {
        self.successes.clear();
        self.next_success = 0;
    }

    /// The chance that an MPDU of `length` bytes, sent by `vector`, isn't lost to noise.
    pub(super) fn success(&mut self, vector: &TxVector, length: u32) -> f64 {
        let Some(snr_db) = self.snr_db else { return 1.0 };
        let known = self
            .successes
            .iter()
            .find(|known| known.1 == length && known.0 == *vector);
        if let Some((.., chance)) = known {
            return *chance;
        }
        let snr_db = snr_db + gain_db(&self.reference, vector);
        let chance = crate::error::success(vector.modulation, snr_db, u64::from(length) * 8);
        let success = (*vector, length, chance);
        match self.successes.get_mut(self.next_success) {
            Some(old) => *old = success,
            None => self.successes.push(success),
        }
        self.next_success = (self.next_success + 1) % SUCCESSES;
        chance
    }

    /// The airtime that a packet is reckoned to take before it is known what it will be sent with: its bits, and its part of what
    /// comes with an aggregate of 16 (Linux, `net/mac80211/airtime.c`, for HT and later).
    pub(super) fn estimate(&self, packet: u32) -> Duration {
        let Sending { format, block_ack, .. } = &self.sending;
        let whole = format.duration(u64::from(packet));
        let fixed = format.preamble + format.extension;
        let share = if self.limits.ampdu { 16 } else { 1 };
        whole.saturating_sub(fixed) + (fixed + *block_ack) / share
    }

    /// Whether something of this TID waits to go before what the queue holds.
    pub(super) fn is_waiting(&self, tid: u8) -> bool {
        self.senders[usize::from(tid)].is_waiting()
    }

    /// Whether an aggregate of this TID may be put together.
    pub(super) fn readiness(&self, tid: u8) -> Readiness {
        self.senders[usize::from(tid)].readiness(&self.limits)
    }
}
