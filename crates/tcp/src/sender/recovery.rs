//! From Open through Disorder, CWR and Recovery to Loss, and back (`tcp_fastretrans_alert`).

use super::acknowledge::News;
use super::scoreboard::{Marks, Record};
use super::transmit::Probe;
use super::undo::Undo;
use super::{Sender, SenderTimer};
use crate::congestion::State;
use netburn_units::{Duration, Instant};

/// Where a sender stands.
#[derive(Debug, Clone)]
pub(crate) struct Recovery {
    pub(crate) state: State,
    /// What was sent when the state was entered: the episode ends when this is acknowledged (`high_seq`).
    pub(crate) high: u64,
    pub(crate) prr: Prr,
    /// Where the episode began, as long as it can be undone.
    pub(super) undo: Option<Undo>,
    /// When the first retransmission of the episode was sent, in milliseconds of the timestamps.
    pub(crate) retransmitted_at: Option<i64>,
    /// Whether the time-out may have been spurious (F-RTO, RFC 5682).
    frto: bool,
    /// F-RTO sends new data before anything lost.
    pub(crate) new_data_first: bool,
    /// The tail loss probe under way.
    pub(crate) tail_probe: Option<TailProbe>,
    /// What a timer asks to be sent.
    pub(crate) probe: Option<Probe>,
}

/// Proportional rate reduction (RFC 6937).
#[derive(Debug, Clone, Default)]
pub(crate) struct Prr {
    prior_cwnd: u32,
    delivered: u32,
    pub(crate) out: u32,
}

/// A tail loss probe (RFC 8985 §7.3).
#[derive(Debug, Clone, Copy)]
pub(crate) struct TailProbe {
    pub(crate) end: u64,
    /// Whether it repeats what was sent.
    pub(crate) retransmission: bool,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Open,
            high: 0,
            prr: Prr::default(),
            undo: None,
            retransmitted_at: None,
            frto: false,
            new_data_first: false,
            tail_probe: None,
            probe: None,
        }
    }
}

impl Sender {
    /// What an acknowledgement that isn't ordinary means (`tcp_fastretrans_alert`).
    pub(super) fn alert(&mut self, now: Instant, news: &mut News) {
        if news.ece
            && let Some(undo) = &mut self.recovery.undo
        {
            undo.window = false;
        }
        if self.recovery.state == State::Open {
            self.recovery.retransmitted_at = None;
        } else if self.una >= self.recovery.high {
            match self.recovery.state {
                State::Cwr if self.una != self.recovery.high => {
                    self.end_reduction(now);
                    self.recovery.state = State::Open;
                }
                State::Recovery => {
                    if !self.try_undo_recovery(now, news) {
                        self.end_reduction(now);
                    }
                    self.recovery.state = State::Open;
                }
                _ => {}
            }
        }
        match self.recovery.state {
            State::Recovery => {
                if news.advanced && self.try_undo_partial(now, news) {
                    return;
                }
                if self.try_undo_duplicates(now) {
                    self.try_to_open(now, news);
                }
                self.identify_losses(now, news);
                if self.recovery.state != State::Recovery {
                    if self.board.lost_out == 0 {
                        return;
                    }
                    self.enter_recovery(now, news.ece);
                }
            }
            State::Loss => {
                self.process_loss(now, news);
                let repeated = self.identify_losses(now, news);
                // The reduction was undone, or retransmissions are lost as well.
                if self.recovery.state == State::Open || repeated {
                    self.recover_or_open(now, news);
                }
            }
            state => {
                if state <= State::Disorder {
                    self.try_undo_duplicates(now);
                }
                self.identify_losses(now, news);
                self.recover_or_open(now, news);
            }
        }
    }

    /// The retransmission timer ran out (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Instant) {
        let fresh = self.recovery.state < State::Recovery;
        if self.board.first().is_some_and(|first| first.marks.has(Marks::SACKED)) {
            // The receiver threw away what it had selectively acknowledged (RFC 2018 §8).
            self.board.forget_sacks();
            self.last_sacks = Default::default();
        }
        let times = self.times();
        for index in 0..self.board.len() {
            let sent_at = self.board.get(index).snapshot.sent_at;
            if index == 0 || self.rack.has_timed_out(now, sent_at, &self.board, &times) {
                self.board.mark_lost(index);
            }
        }
        // The first one is sent again even if its retransmission was thought to be on its way.
        let again = self
            .board
            .first()
            .is_some_and(|first| first.marks.has(Marks::RETRANSMITTED));
        if again {
            self.board.mark_lost(0);
        }
        let anew = self.recovery.state <= State::Disorder
            || self.recovery.high <= self.una
            || self.recovery.state == State::Loss && self.time_outs == 0;
        let disordered = self.recovery.state <= State::Disorder;
        self.rack.on_time_out(disordered, self.board.sacked_out);
        self.congestion.on_rto(now, self.board.in_flight(), anew);
        if anew {
            self.begin_undo();
        }
        self.recovery.state = State::Loss;
        self.recovery.high = self.next;
        self.recovery.frto = fresh || self.time_outs > 0;
        self.recovery.new_data_first = false;
        self.recovery.tail_probe = None;
        if self.ecn {
            self.cwr = true;
        }
        self.update_pacing_rate();
    }

    /// A loss is certain: the window is walked down while it is repaired (`tcp_enter_recovery`).
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

    /// A congestion mark or a local drop (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, now: Instant) {
        if self.recovery.state < State::Cwr {
            self.recovery.undo = None;
            self.begin_reduction(now);
            self.recovery.state = State::Cwr;
        }
    }

    /// RFC 6937, as `tcp_cwnd_reduction` has it: slow start towards `ssthresh` where the pipe ran empty (PRR-SSRB).
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
        // The first retransmission goes at once.
        let sent = sent.max(u32::from(prr.out == 0));
        self.congestion.set_cwnd(in_flight + sent);
    }

    /// The probe of the tail is answered, or a loss shows in how (`tcp_process_tlp_ack`, RFC 8985 §7.4).
    pub(super) fn process_tail_probe(&mut self, now: Instant, ack: u64, news: &News) {
        let Some(probe) = self.recovery.tail_probe else { return };
        if ack < probe.end {
            return;
        }
        if !probe.retransmission || news.duplicate {
            self.recovery.tail_probe = None;
        } else if ack > probe.end {
            // The probe repaired the only loss: reduce for it all the same.
            if self.recovery.state < State::Cwr {
                self.begin_reduction(now);
                self.recovery.state = State::Cwr;
                self.end_reduction(now);
                self.try_keep_open();
            }
            self.recovery.tail_probe = None;
        } else if news.is_duplicate_ack() {
            // Both the original and the probe came.
            self.recovery.tail_probe = None;
        }
    }

    /// `tcp_init_cwnd_reduction`.
    fn begin_reduction(&mut self, now: Instant) {
        self.recovery.high = self.next;
        self.recovery.tail_probe = None;
        self.recovery.prr = Prr {
            prior_cwnd: self.congestion.cwnd(),
            ..Prr::default()
        };
        self.congestion.on_congestion(now, self.board.in_flight());
        if self.ecn {
            self.cwr = true;
        }
    }

    pub(super) fn end_reduction(&mut self, now: Instant) {
        self.congestion.on_recovered(now);
    }

    /// `tcp_process_loss` with F-RTO (RFC 5682 §3.1).
    fn process_loss(&mut self, now: Instant, news: &mut News) {
        let recovered = self.una >= self.recovery.high;
        if news.advanced && self.try_undo_loss(now, news, false) {
            return;
        }
        if self.recovery.frto {
            // Step 3.b: something is acknowledged that was sent once, before the time-out.
            if news.original_delivered && self.try_undo_loss(now, news, true) {
                return;
            }
            if self.next > self.recovery.high {
                if news.sacked || news.is_duplicate_ack() {
                    // Step 3.a: the loss was real.
                    self.recovery.frto = false;
                }
            } else if news.advanced && !recovered {
                self.recovery.high = self.next;
                // Step 2.b: new data tells which it is.
                if self.next < self.end() && self.window_end > self.next {
                    self.recovery.new_data_first = true;
                    return;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(now, news);
            self.recovery.state = State::Open;
        }
    }

    fn recover_or_open(&mut self, now: Instant, news: &News) {
        if self.board.lost_out == 0 {
            self.try_to_open(now, news);
        } else {
            self.enter_recovery(now, news.ece);
        }
    }

    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, now: Instant, news: &News) {
        if self.board.retrans_out == 0 {
            self.recovery.retransmitted_at = None;
        }
        if news.ece {
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
            self.recovery.high = self.next;
        }
    }

    /// `tcp_identify_packet_loss`. Whether a retransmission is lost (`FLAG_LOST_RETRANS`).
    fn identify_losses(&mut self, now: Instant, news: &mut News) -> bool {
        let (times, retransmitted) = (self.times(), self.board.retrans_out);
        let Some(verdict) = self.rack.detect_if_advanced(now, &mut self.board, &times) else {
            return false;
        };
        news.lost += verdict.lost;
        if let Some(again) = verdict.again {
            let wait = (again + Duration::from_millis(2)).min(self.rtt.rto());
            self.set_timer(now + wait, SenderTimer::Reordering);
            news.timer_set = true;
        }
        self.board.retrans_out < retransmitted
    }
}
