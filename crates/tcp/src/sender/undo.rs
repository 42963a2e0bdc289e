//! Detection and undo of spurious reductions. A reduction was spurious in two cases. Either every
//! retransmission was a duplicate (RFC 3708, RFC 2883), or the acknowledgement belongs to the
//! original (Eifel, RFC 3522 and RFC 4015).

use super::Sender;
use super::acknowledge::AckResult;
use super::recovery_state::{Recovery, Undo};
use crate::congestion::State;
use netburn_units::Instant;

impl Recovery {
    /// `segments` are retransmitted.
    pub(crate) fn on_retransmitted(&mut self, segments: u32, timestamp: i64) {
        self.retransmitted_at.get_or_insert(timestamp);
        if let Some(undo) = &mut self.undo {
            undo.outstanding = Some(undo.outstanding.unwrap_or(0).saturating_add(segments));
        }
    }

    /// The receiver reported `segments` up to `end` as duplicates.
    pub(crate) fn on_duplicate(&mut self, segments: u32, end: u64) {
        if let Some(undo) = &mut self.undo
            && end > undo.from
            && let Some(outstanding) = &mut undo.outstanding
        {
            *outstanding = outstanding.saturating_sub(segments);
        }
    }

    fn all_duplicates(&self) -> bool {
        self.undo.is_some_and(|undo| undo.outstanding == Some(0))
    }

    /// Returns true if the acknowledgement belongs to a segment sent before the first
    /// retransmission (`tcp_packet_delayed`).
    fn answers_original(&self, echo: i64) -> bool {
        self.retransmitted_at.is_some_and(|at| echo < at)
    }

    /// `tcp_may_undo`.
    fn may_undo(&self, echo: i64) -> bool {
        self.undo.is_some() && (self.all_duplicates() || self.answers_original(echo))
    }
}

impl Sender {
    /// `tcp_init_undo`.
    pub(super) fn begin_undo(&mut self) {
        let out = self.board.retrans_out;
        self.recovery.undo = Some(Undo {
            from: self.snd.una,
            outstanding: (out > 0).then_some(out),
            window: true,
        });
    }

    /// `tcp_undo_cwnd_reduction`.
    fn undo(&mut self, now: Instant, unmark: bool) {
        if unmark {
            self.board.unmark_lost();
        }
        if self.recovery.undo.take().is_some_and(|undo| undo.window) {
            self.congestion.on_undo(now);
        } else if self.recovery.state.is_reducing() {
            self.end_reduction(now);
        }
        self.rack.on_undo();
    }

    /// `tcp_try_undo_recovery`: returns true if it was reverted.
    pub(super) fn try_undo_recovery(&mut self, now: Instant, result: &AckResult) -> bool {
        if self.recovery.may_undo(result.echo) {
            self.undo(now, false);
            true
        } else {
            self.rack.on_recovered();
            false
        }
    }

    /// A partial acknowledgement in Recovery belongs to an original: data were late, not lost
    /// (`tcp_try_undo_partial`).
    pub(super) fn try_undo_partial(&mut self, now: Instant, result: &AckResult) -> bool {
        if self.recovery.undo.is_none() || !self.recovery.answers_original(result.echo) {
            return false;
        }
        let highest = self.board.highest_sacked(self.snd.una);
        if highest > result.prior_una {
            self.rack.on_reordering(highest - result.prior_una, self.board.mss());
        }
        if self.board.retrans_out > 0 {
            // Wait for the retransmission in flight.
            return true;
        }
        self.undo(now, true);
        self.try_keep_open();
        true
    }

    /// Every retransmission was a duplicate (`tcp_try_undo_dsack`).
    pub(super) fn try_undo_duplicates(&mut self, now: Instant) -> bool {
        if !self.recovery.all_duplicates() {
            return false;
        }
        self.undo(now, false);
        true
    }

    pub(super) fn try_undo_loss(&mut self, now: Instant, result: &AckResult, by_frto: bool) -> bool {
        if !by_frto && !self.recovery.may_undo(result.echo) {
            return false;
        }
        self.undo(now, true);
        self.timeouts = 0;
        self.recovery.state = State::Open;
        true
    }
}
