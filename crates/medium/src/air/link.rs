//! State of a link: its current vector, the cost of its frames, and both ends of its BlockAck
//! agreements.

use super::config::LinkConfig;
use super::hardware::Capacity;
use crate::aggregation::{Aggregate, Framing, Limits, Reorder, Sender, Sending};
use crate::edca::EdcaParameters;
use crate::packet::{NodeId, Packet};
use crate::phy::{Modulation, PhyError, TxVector, response};
use crate::queue::{Readiness, StationState};
use crate::rate::{Fixed, RateAlgorithm, RateChoice, RateSet, Report, gain_db};
use netburn_units::{Duration, Instant, RandomStream};

/// Size of the cache: full segments and their acknowledgements, at the current rate and at probed
/// rates.
const SUCCESSES: usize = 8;

/// One direction between two nodes, from the sender's view.
#[derive(Debug)]
pub(super) struct Link<P> {
    pub(super) to: NodeId,
    /// Vector to which the SNR applies.
    reference: TxVector,
    snr_db: Option<f64>,
    /// Average channel access time of the node, plus SIFS.
    access: Duration,
    /// Clock divider of the PHY.
    clock: u64,
    /// Random stream of its rate control.
    rate_rng: RandomStream,
    rate: Box<dyn RateAlgorithm>,
    /// Most recent choice.
    pub(super) sending: Sending,
    pub(super) limits: Limits,
    /// Settings of management frames: the lowest basic rate.
    pub(super) frame: Sending,
    /// Further bytes of the MAC header: a fourth address, or mesh control.
    extra_header: u32,
    /// State of the receiver, as far as the sender knows.
    pub(super) state: StationState,
    /// By TID; the last is for management frames.
    pub(super) senders: [Sender<P>; 9],
    /// Recipient side, owned by the receiver.
    pub(super) reorder: [Reorder<Received<P>>; 9],
    /// Cache of the success probability by vector and length, and the index of the next entry to
    /// replace.
    successes: Vec<(TxVector, u32, f64)>,
    next_success: usize,
    /// Capacity of an aggregate at the current rate, by category, as far as it is known.
    capacities: [Option<Capacity>; 4],
    /// Length of the last packet that was estimated at the current rate, and its estimate.
    estimated: Option<(u32, Duration)>,
}

/// Packets of one received MPDU.
#[derive(Debug)]
pub(super) struct Received<P> {
    pub(super) first: Packet<P>,
    pub(super) more: Vec<Packet<P>>,
}

impl<P> Link<P> {
    /// `lowest`: modulation of management frames.
    pub(super) fn new(
        config: &LinkConfig,
        lowest: Modulation,
        access: Duration,
        clock: u64,
        rate_rng: RandomStream,
    ) -> Result<Self, PhyError> {
        let sending = Sending::new(&config.vector, config.limits.window, clock)?;
        let frame = Sending::new(&response::legacy(lowest, &config.vector), 1, clock)?;
        Ok(Link {
            to: NodeId(u16::try_from(config.to).expect("fewer than 65 536 nodes")),
            reference: config.vector,
            snr_db: config.snr_db,
            access,
            clock,
            rate: start(
                config.rate,
                &config.vector,
                &config.limits,
                (access, clock),
                config.snr_db,
                &rate_rng,
            ),
            rate_rng,
            sending,
            limits: config.limits,
            frame,
            extra_header: 0,
            state: StationState::Awake,
            senders: Default::default(),
            reorder: Default::default(),
            successes: Vec::new(),
            next_success: 0,
            capacities: [None; 4],
            estimated: None,
        })
    }

    /// Settings of a frame in legacy format with this modulation.
    pub(super) fn legacy_sending(&self, modulation: Modulation) -> Sending {
        let vector = response::legacy(modulation, &self.frame.vector);
        Sending::new(&vector, 1, self.clock).expect("legacy formats have every rate")
    }

    /// Sets a fixed vector.
    pub(super) fn set_vector(&mut self, vector: TxVector) -> Result<(), PhyError> {
        self.set_sending(Sending::new(&vector, self.limits.window, self.clock)?);
        self.rate = Box::new(Fixed(vector));
        Ok(())
    }

    /// Replaces the rate control, with rates up to `vector`.
    pub(super) fn set_rate(&mut self, vector: TxVector, rate: RateChoice) -> Result<(), PhyError> {
        self.set_sending(Sending::new(&vector, self.limits.window, self.clock)?);
        self.reference = vector;
        let timing = (self.access, self.clock);
        self.rate = start(rate, &vector, &self.limits, timing, self.snr_db, &self.rate_rng);
        self.forget_successes();
        Ok(())
    }

    fn set_sending(&mut self, sending: Sending) {
        self.sending = sending;
        self.capacities = [None; 4];
        self.estimated = None;
    }

    /// Sets the further bytes of the MAC header: a fourth address, or mesh control.
    pub(super) fn set_extra_header(&mut self, bytes: u32) {
        self.extra_header = bytes;
        self.capacities = [None; 4];
    }

    /// Ends the rate control: the last vector remains.
    pub(super) fn end_rate_control(&mut self) {
        self.rate = Box::new(Fixed(self.sending.vector));
    }

    /// Sets the SNR at the receiver.
    pub(super) fn set_snr(&mut self, snr_db: Option<f64>) {
        self.snr_db = snr_db;
        self.rate.handle_signal(snr_db);
        self.forget_successes();
    }

    /// Chooses the vector of a PPDU with `failures` transmissions without a response, and its
    /// maximum number of MPDUs.
    pub(super) fn choose(&mut self, now: Instant, failures: u32) -> (Sending, u32) {
        let choice = self.rate.choose(now, failures);
        if choice.vector != self.sending.vector
            // A vector that doesn't exist would be an error of the algorithm: the link keeps the
            // previous one.
            && let Ok(sending) = Sending::new(&choice.vector, self.limits.window, self.clock)
        {
            self.set_sending(sending);
        }
        let frames = choice
            .frames
            .map_or(self.limits.frames, |f| f.clamp(1, self.limits.frames.max(1)));
        (self.sending, frames)
    }

    /// Reports a data PPDU, of which `arrived` MPDUs were acknowledged.
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

    /// Probability that an MPDU of `length` bytes, sent by `vector`, isn't lost to noise.
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

    /// Estimated airtime of a packet before its vector is known. The estimate includes its bits and
    /// its share of the overhead of an aggregate of 16 (Linux, `net/mac80211/airtime.c`, for HT and
    /// later).
    #[inline]
    pub(super) fn estimate(&mut self, packet: u32) -> Duration {
        if let Some((length, estimate)) = self.estimated
            && length == packet
        {
            return estimate;
        }
        let estimate = self.computed_estimate(packet);
        self.estimated = Some((packet, estimate));
        estimate
    }

    fn computed_estimate(&self, packet: u32) -> Duration {
        let Sending { format, block_ack, .. } = &self.sending;
        let whole = format.duration(u64::from(packet));
        let fixed = format.preamble + format.extension;
        let share = if self.limits.ampdu { 16 } else { 1 };
        whole.saturating_sub(fixed) + (fixed + *block_ack) / share
    }

    /// Capacity of an aggregate of a category at the current rate.
    #[inline]
    pub(super) fn capacity(
        &mut self,
        category: usize,
        framing: &Framing,
        parameters: &EdcaParameters,
        sifs: Duration,
    ) -> Capacity {
        if let Some(capacity) = self.capacities[category] {
            return capacity;
        }
        let limits = limits_in_txop(&self.limits, &self.sending, parameters, sifs);
        let frames = if limits.ampdu { limits.frames.max(1) } else { 1 };
        let capacity = Capacity {
            mpdus: u64::from(frames),
            bytes: limits.room(&self.sending.format),
            amsdu: limits.amsdu,
            framing: self.framing(framing),
        };
        self.capacities[category] = Some(capacity);
        capacity
    }

    /// MPDUs and bytes that wait ahead of the queue for the last place of a TID. What waits is in the first aggregate.
    #[inline]
    pub(super) fn waiting_ahead(&self, tid: u8, is_only: bool, framing: &Framing) -> (u64, u64) {
        let sender = &self.senders[usize::from(tid)];
        if is_only && sender.is_waiting() {
            sender.content(framing)
        } else {
            (0, 0)
        }
    }

    /// Frame headers on this link.
    pub(super) const fn framing(&self, usual: &Framing) -> Framing {
        Framing {
            header: usual.header + self.extra_header,
            ..*usual
        }
    }

    /// Returns true if packets of this TID wait ahead of the queue.
    pub(super) fn is_waiting(&self, tid: u8) -> bool {
        self.senders[usize::from(tid)].is_waiting()
    }

    /// Readiness for an aggregate of this TID.
    pub(super) fn readiness(&self, tid: u8) -> Readiness {
        if self.state != StationState::Awake {
            return Readiness::Later;
        }
        self.senders[usize::from(tid)].readiness(&self.limits)
    }
}

/// Limits of an aggregate in a TXOP: its PPDU and the response must fit.
pub(super) fn limits_in_txop(
    limits: &Limits,
    sending: &Sending,
    parameters: &EdcaParameters,
    sifs: Duration,
) -> Limits {
    let mut limits = *limits;
    if !parameters.txop.is_zero() {
        let response = sending.block_ack.max(sending.ack) + sifs;
        limits.time = limits.time.min(parameters.txop.saturating_sub(response));
    }
    limits
}

/// Starts a rate control. A fixed rate needs no set of rates, which is large.
fn start(
    rate: RateChoice,
    vector: &TxVector,
    limits: &Limits,
    (access, clock): (Duration, u64),
    snr_db: Option<f64>,
    rate_rng: &RandomStream,
) -> Box<dyn RateAlgorithm> {
    match rate {
        RateChoice::Fixed => Box::new(Fixed(*vector)),
        rate => rate.start(
            RateSet::clocked(vector, limits, access, clock),
            snr_db,
            rate_rng.clone(),
        ),
    }
}
