//! Congestion states: Open, Disorder, CWR, Recovery and Loss, and their transitions
//! (`tcp_fastretrans_alert`).

use super::acknowledge::AckResult;
use super::recovery_state::Prr;
use super::scoreboard::{Marks, Record};
use super::{Sender, SenderTimer};
use crate::congestion::State;
use netburn_units::{Duration, Instant};

impl Sender {
    /// Processes an acknowledgement that is not ordinary (`tcp_fastretrans_alert`).
    pub(super) fn handle_dubious_ack(&mut self, now: Instant, result: &mut AckResult) {
        if result.ece
            && let Some(undo) = &mut self.recovery.undo
        {
            undo.window = false;
        }
        if self.recovery.state == State::Open {
            self.recovery.retransmitted_at = None;
        } else if self.snd.una >= self.recovery.high {
            match self.recovery.state {
                State::Cwr if self.snd.una != self.recovery.high => {
                    self.end_reduction(now);
                    self.recovery.state = State::Open;
                }
                State::Recovery => {
                    if !self.try_undo_recovery(now, result) {
                        self.end_reduction(now);
                    }
                    self.recovery.state = State::Open;
                }
                _ => {}
            }
        }
        match self.recovery.state {
            State::Recovery => {
                if result.advanced && self.try_undo_partial(now, result) {
                    return;
                }
                if self.try_undo_duplicates(now) {
                    self.try_to_open(now, result);
                }
                self.identify_losses(now, result);
                if self.recovery.state != State::Recovery {
                    if self.board.lost_out == 0 {
                        return;
                    }
                    self.enter_recovery(now, result.ece);
                }
            }
            State::Loss => {
                self.process_loss(now, result);
                let repeated = self.identify_losses(now, result);
                // The reduction was reverted, or retransmissions are lost as well.
                if self.recovery.state == State::Open || repeated {
                    self.recover_or_open(now, result);
                }
            }
            state => {
                if state <= State::Disorder {
                    self.try_undo_duplicates(now);
                }
                self.identify_losses(now, result);
                self.recover_or_open(now, result);
            }
        }
    }

    /// Enters Loss after a retransmission timeout (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Instant) {
        let fresh = self.recovery.state < State::Recovery;
        if self.board.first().is_some_and(|first| first.marks.has(Marks::SACKED)) {
            // The receiver discarded selectively acknowledged data (RFC 2018 §8).
            self.board.forget_sacks();
        }
        let times = self.times();
        for index in 0..self.board.len() {
            let sent_at = self.board.get(index).snapshot.sent_at;
            if index == 0 || self.rack.has_timed_out(now, sent_at, &self.board, &times) {
                self.board.mark_lost(index);
            }
        }
        // The first record is retransmitted even if its retransmission is assumed in flight.
        let again = self
            .board
            .first()
            .is_some_and(|first| first.marks.has(Marks::RETRANSMITTED));
        if again {
            self.board.mark_lost(0);
        }
        let new_episode = self.recovery.state <= State::Disorder
            || self.recovery.high <= self.snd.una
            || self.recovery.state == State::Loss && self.timeouts == 0;
        let disordered = self.recovery.state <= State::Disorder;
        self.rack.on_timeout(disordered, self.board.sacked_out);
        self.congestion.on_rto(now, self.board.in_flight(), new_episode);
        if new_episode {
            self.begin_undo();
        }
        self.recovery.state = State::Loss;
        self.recovery.high = self.snd.next;
        self.recovery.frto = fresh || self.timeouts > 0;
        self.recovery.new_data_first = false;
        self.recovery.tail_probe = None;
        self.ecn.on_reduction();
        self.update_pacing_rate();
    }

    /// Enters Recovery: a loss is certain, and the window is reduced during its repair
    /// (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Instant, ece: bool) {
        self.begin_undo();
        if ece && let Some(undo) = &mut self.recovery.undo {
            undo.window = false;
        }
        if !self.recovery.state.is_reducing() {
            self.begin_reduction(now);
        }
        self.recovery.state = State::Recovery;
    }

    /// Enters CWR after a congestion mark or a local drop (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, now: Instant) {
        if self.recovery.state < State::Cwr {
            self.recovery.undo = None;
            self.begin_reduction(now);
            self.recovery.state = State::Cwr;
        }
    }

    /// RFC 6937, as in `tcp_cwnd_reduction`: slow start towards `ssthresh` if the data in flight
    /// fell below it (PRR-SSRB).
    pub(super) fn reduce(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 || self.recovery.prr.prior_cwnd == 0 || self.congestion.has_own_reduction() {
            return;
        }
        let in_flight = self.board.in_flight();
        let ssthresh = self.congestion.ssthresh();
        let prr = &mut self.recovery.prr;
        prr.delivered = prr.delivered.saturating_add(delivered);
        let sent = if in_flight > ssthresh {
            let share = (u64::from(ssthresh) * u64::from(prr.delivered)).div_ceil(u64::from(prr.prior_cwnd));
            u32::try_from(share).unwrap_or(u32::MAX).saturating_sub(prr.out)
        } else {
            let behind = prr.delivered.saturating_sub(prr.out).max(delivered);
            let safe = behind + u32::from(advanced && lost == 0);
            safe.min(ssthresh - in_flight)
        };
        // The first retransmission is sent immediately.
        let sent = sent.max(u32::from(prr.out == 0));
        self.congestion.set_cwnd(in_flight + sent);
    }

    /// Processes a response to the tail loss probe, or a loss that it shows (`tcp_process_tlp_ack`,
    /// RFC 8985 §7.4).
    pub(super) fn process_tail_probe(&mut self, now: Instant, ack: u64, result: &AckResult) {
        let Some(probe) = self.recovery.tail_probe else { return };
        if ack < probe.end {
            return;
        }
        if !probe.retransmission || result.duplicate {
            self.recovery.tail_probe = None;
        } else if ack > probe.end {
            // The probe repaired the only loss: reduce the window nevertheless.
            if self.recovery.state < State::Cwr {
                self.begin_reduction(now);
                self.recovery.state = State::Cwr;
                self.end_reduction(now);
                self.try_keep_open();
            }
            self.recovery.tail_probe = None;
        } else if result.is_duplicate_ack() {
            // Both the original and the probe arrived.
            self.recovery.tail_probe = None;
        }
    }

    /// `tcp_init_cwnd_reduction`.
    fn begin_reduction(&mut self, now: Instant) {
        self.recovery.high = self.snd.next;
        self.recovery.tail_probe = None;
        self.recovery.prr = Prr {
            prior_cwnd: self.congestion.cwnd(),
            ..Prr::default()
        };
        self.congestion.on_congestion(now, self.board.in_flight());
        self.ecn.on_reduction();
    }

    pub(super) fn end_reduction(&mut self, now: Instant) {
        self.congestion.on_recovered(now);
    }

    /// `tcp_process_loss` with F-RTO (RFC 5682 §3.1).
    fn process_loss(&mut self, now: Instant, result: &mut AckResult) {
        let recovered = self.snd.una >= self.recovery.high;
        if result.advanced && self.try_undo_loss(now, result, false) {
            return;
        }
        if self.recovery.frto {
            // Step 3.b: an original sent before the timeout is acknowledged.
            if result.original_delivered && self.try_undo_loss(now, result, true) {
                return;
            }
            if self.snd.next > self.recovery.high {
                if result.sacked || result.is_duplicate_ack() {
                    // Step 3.a: the loss was real.
                    self.recovery.frto = false;
                }
            } else if result.advanced && !recovered {
                self.recovery.high = self.snd.next;
                // Step 2.b: new data will decide.
                if self.snd.next < self.snd.end() && self.snd.window_room() > 0 {
                    self.recovery.new_data_first = true;
                    return;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(now, result);
            self.recovery.state = State::Open;
        }
    }

    fn recover_or_open(&mut self, now: Instant, result: &AckResult) {
        if self.board.lost_out == 0 {
            self.try_to_open(now, result);
        } else {
            self.enter_recovery(now, result.ece);
        }
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, now: Instant, result: &AckResult) {
        if self.board.retrans_out == 0 {
            self.recovery.retransmitted_at = None;
        }
        if result.ece {
            self.enter_cwr(now);
        }
        if self.recovery.state != State::Cwr {
            self.try_keep_open();
        }
    }

    /// `tcp_try_keep_open`.
    pub(super) fn try_keep_open(&mut self) {
        let unsettled = self.board.sacked_out + self.board.lost_out + self.board.retrans_out > 0;
        let repeated = |first: &Record| first.marks.has(Marks::EVER_RETRANSMITTED);
        let state = if unsettled || self.board.first().is_some_and(repeated) {
            State::Disorder
        } else {
            State::Open
        };
        if self.recovery.state != state {
            self.recovery.state = state;
            self.recovery.high = self.snd.next;
        }
    }

    /// `tcp_identify_packet_loss`. Returns true if a retransmission is lost (`FLAG_LOST_RETRANS`).
    fn identify_losses(&mut self, now: Instant, result: &mut AckResult) -> bool {
        let (times, retransmitted) = (self.times(), self.board.retrans_out);
        let Some(verdict) = self.rack.detect_if_advanced(now, &mut self.board, &times) else {
            return false;
        };
        result.lost += verdict.lost;
        if let Some(again) = verdict.recheck_after {
            let wait = (again + Duration::from_millis(2)).min(self.rtt.rto());
            self.set_timer(now + wait, SenderTimer::Reordering);
            result.timer_set = true;
        }
        self.board.retrans_out < retransmitted
    }
}
