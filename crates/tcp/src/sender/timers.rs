//! Timers of the sender, and their expiry.

use super::Sender;
use super::recovery_state::Probe;
use crate::congestion::State;
use netburn_units::{Duration, Instant};

/// Added to the probe's timeout while more than one segment is in flight (`TCP_TIMEOUT_MIN`).
const TIMER_SLACK: Duration = Duration::from_millis(2);
/// Assumed maximum delay of an acknowledgement at the receiver (RFC 8985 §7.2 WCDelAckT, in Linux
/// `TCP_RTO_MIN`).
const WORST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// Consecutive timeouts after which a connection fails (`tcp_retries2`).
const MAX_TIMEOUTS: u32 = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SenderTimer {
    Retransmission,
    TailLossProbe,
    Reordering,
    Persist,
}

impl Sender {
    /// Next expiry, and its timer; the pacing timer is `None`.
    pub(crate) fn poll_timeout(&self) -> Option<(Instant, Option<SenderTimer>)> {
        let timer = self.timer.map(|(at, timer)| (at, Some(timer)));
        match (timer, self.pacer.poll_timeout()) {
            (Some(timer), Some(paced)) if paced < timer.0 => Some((paced, None)),
            (None, Some(paced)) => Some((paced, None)),
            (timer, _) => timer,
        }
    }

    /// Processes a due timer. Returns false if the connection fails.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> bool {
        if self.pacer.poll_timeout().is_some_and(|at| at <= now) {
            self.pacer.disarm();
        }
        let Some((at, timer)) = self.timer else { return true };
        if at > now {
            return true;
        }
        self.timer = None;
        self.held = false;
        match timer {
            SenderTimer::Retransmission => return self.on_retransmission_timeout(now),
            SenderTimer::TailLossProbe => self.on_probe_timeout(now),
            SenderTimer::Reordering => self.on_reordering_timeout(now),
            SenderTimer::Persist => return self.on_persist_timeout(now),
        }
        true
    }

    pub(super) fn set_timer(&mut self, at: Instant, timer: SenderTimer) {
        self.timer = Some((at, timer));
    }

    /// Starts the retransmission timer now; if a probe or the reordering timer is active, relative
    /// to the transmission of the first record (`tcp_rearm_rto`).
    pub(super) fn rearm(&mut self, now: Instant) {
        let Some(first) = self.board.first() else {
            self.timer = None;
            return;
        };
        let rto = self.rtt.rto();
        let from = match self.timer {
            Some((_, SenderTimer::TailLossProbe | SenderTimer::Reordering)) => first.snapshot.sent_at,
            _ => now,
        };
        let at = (from + rto).max(now + Duration::from_micros(1));
        self.set_timer(at, SenderTimer::Retransmission);
    }

    /// Starts the tail loss probe timer if it applies, otherwise the retransmission timer
    /// (`tcp_set_xmit_timer`). `advanced`: an acknowledgement arrived just now, so that the timeout
    /// counts from here.
    pub(super) fn rearm_with_probe(&mut self, now: Instant, advanced: bool) {
        if !self.schedule_probe(now, advanced) {
            self.rearm(now);
        }
    }

    /// `tcp_schedule_loss_probe`, RFC 8985 §7.2.
    pub(super) fn schedule_probe(&mut self, now: Instant, advanced: bool) -> bool {
        let Some(first) = self.board.first() else { return false };
        if !matches!(self.recovery.state, State::Open | State::Cwr) {
            return false;
        }
        let wait = match self.rtt.srtt() {
            Some(srtt) if self.board.packets_out == 1 => srtt * 2 + WORST_DELAYED_ACK,
            Some(srtt) => srtt * 2 + TIMER_SLACK,
            None => Duration::from_secs(1),
        };
        let from = if advanced { now } else { first.snapshot.sent_at };
        let time_out = from + self.rtt.rto();
        let probe = now + wait;
        let at = if time_out > now { probe.min(time_out) } else { probe };
        self.set_timer(at, SenderTimer::TailLossProbe);
        true
    }

    /// `tcp_retransmit_timer`.
    fn on_retransmission_timeout(&mut self, now: Instant) -> bool {
        if self.board.is_empty() {
            return true;
        }
        if self.timeouts >= MAX_TIMEOUTS {
            return false;
        }
        self.enter_loss(now);
        self.timeouts += 1;
        self.recovery.probe = Some(Probe::Head);
        self.rtt.back_off();
        self.set_timer(now + self.rtt.rto(), SenderTimer::Retransmission);
        true
    }

    /// `tcp_send_loss_probe`: new data if available, otherwise the last segment; one probe per
    /// episode.
    fn on_probe_timeout(&mut self, now: Instant) {
        if self.board.is_empty() {
            return;
        }
        if self.recovery.tail_probe.is_none() {
            self.recovery.probe = Some(Probe::Tail);
        }
        self.rearm(now);
    }

    /// `tcp_rack_reo_timeout`.
    fn on_reordering_timeout(&mut self, now: Instant) {
        let before = self.board.in_flight();
        let times = self.times();
        let verdict = self.rack.detect(now, &mut self.board, &times);
        if self.board.in_flight() != before {
            if self.recovery.state != State::Recovery {
                self.enter_recovery(now, false);
                self.reduce(1, verdict.lost, false);
            }
            self.update_pacing_rate();
        }
        self.rearm(now);
    }

    /// `tcp_probe_timer`: the peer's window is closed, or a packet was rejected locally.
    fn on_persist_timeout(&mut self, now: Instant) -> bool {
        if !self.board.is_empty() || self.snd.next >= self.snd.end() {
            return true;
        }
        if self.timeouts >= MAX_TIMEOUTS {
            return false;
        }
        let wanted = (self.snd.end() - self.snd.next).min(u64::from(self.board.mss()));
        if self.snd.window_room() < wanted {
            self.recovery.probe = Some(Probe::Window);
        }
        self.timeouts += 1;
        self.rtt.back_off();
        self.set_timer(now + self.rtt.rto(), SenderTimer::Persist);
        true
    }
}
