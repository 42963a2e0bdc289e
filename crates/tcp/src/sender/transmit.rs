//! Transmission: lost data first, then new data (`tcp_xmit_retransmit_queue`, `tcp_write_xmit`).

use super::recovery_state::{Probe, TailProbe};
use super::scoreboard::{Marks, Record};
use super::{Sender, SenderTimer};
use crate::congestion::State;
use crate::gso;
use crate::info::Limit;
use netburn_units::{Duration, Instant};

/// Maximum time from the last transmission to one that waits for a larger burst (`tcp_tso_should_defer`).
const MAX_DEFERRAL: Duration = Duration::from_millis(1);

/// Decision to wait for more room in order to send a larger burst.
#[derive(Debug, Clone, Copy)]
enum Deferral {
    Now(Limit),
    /// Possible after this time, if the state stays as it is.
    After(Instant),
    Never,
}

/// Transmission of the sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    /// Bytes of content, and true if the FIN follows.
    pub(crate) length: u32,
    pub(crate) fin: bool,
    pub(crate) segments: u32,
    pub(crate) truesize: u32,
    pub(crate) retransmission: bool,
    /// True if it carries CWR.
    pub(crate) cwr: bool,
    /// True for a window probe without content.
    pub(crate) window_probe: bool,
}

impl Sender {
    /// Next transmission, if one is permitted now.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Outgoing> {
        self.usage.begin_round();
        if self.held {
            self.queue.wake_at(u64::MAX);
            return None;
        }
        self.queue.wake_never();
        if !self.established {
            return None;
        }
        if self.snd.next == self.snd.end() && self.recovery.probe.is_none() && self.board.lost_out == 0 {
            self.limit = Limit::Application;
            self.settle(now, false);
            return None;
        }
        self.pacer.disarm();
        let outgoing = self
            .poll_probe(now)
            .or_else(|| self.poll_retransmission(now))
            .or_else(|| self.poll_new(now, false));
        if outgoing.is_none()
            && self.board.is_empty()
            && self.snd.next < self.snd.end()
            && self.timer.is_none()
            && self.pacer.poll_timeout().is_none()
        {
            // Nothing is in flight whose acknowledgement could wake the sender.
            self.set_timer(now + self.rtt.rto(), SenderTimer::Persist);
        }
        outgoing
    }

    fn poll_probe(&mut self, now: Instant) -> Option<Outgoing> {
        match self.recovery.probe.take()? {
            Probe::Head => {
                let held = self.board.first().is_none_or(|first| self.queue.holds(first.host_mark));
                // Still in this host's queue: a second copy would be useless
                // (`skb_still_in_host_queue`).
                (!held).then(|| self.retransmit(now, 0, 1))
            }
            Probe::Tail => {
                let outgoing = self.poll_new(now, true).or_else(|| self.retransmit_tail(now));
                if let Some(outgoing) = &outgoing {
                    self.recovery.tail_probe = Some(TailProbe {
                        end: self.snd.next,
                        retransmission: outgoing.retransmission,
                    });
                    self.timer = None;
                    self.rearm(now);
                }
                outgoing
            }
            Probe::Window => {
                let room = self.snd.window_room().min(u64::from(self.board.mss()));
                if room > 0 && self.snd.next < self.snd.end() {
                    let end = (self.snd.next + room).min(self.snd.end());
                    return Some(self.send(now, end));
                }
                Some(Outgoing {
                    start: self.snd.next,
                    length: 0,
                    fin: false,
                    segments: 1,
                    truesize: 0,
                    retransmission: false,
                    cwr: false,
                    window_probe: true,
                })
            }
        }
    }

    /// `tcp_xmit_retransmit_queue`.
    fn poll_retransmission(&mut self, now: Instant) -> Option<Outgoing> {
        if self.board.lost_out == 0 || self.recovery.new_data_first {
            return None;
        }
        let index = self.board.next_lost()?;
        let room = self.congestion.cwnd().saturating_sub(self.board.in_flight());
        if room == 0 {
            self.limit = Limit::CongestionWindow;
            return None;
        }
        if self.pacer.blocks(now) {
            self.limit = Limit::Pacing;
            return None;
        }
        let record = *self.board.get(index);
        let segments = room.min(self.burst()).min(record.segments);
        let truesize = gso::truesize(&self.gso, segments * self.board.mss(), segments);
        let left = if self.queue.holds(record.host_mark) {
            Some(self.queue.queued_after(record.host_mark))
        } else {
            self.queue.throttles(truesize, self.pacer.rate, 1, self.board.len())
        };
        if let Some(left) = left {
            self.limit = Limit::SmallQueue;
            self.queue.wake_at(left);
            return None;
        }
        Some(self.retransmit(now, index, segments))
    }

    fn retransmit_tail(&mut self, now: Instant) -> Option<Outgoing> {
        let last = *self.board.last()?;
        if self.queue.holds(last.host_mark) || last.marks.has(Marks::SACKED) {
            return None;
        }
        if last.segments > 1 {
            let at = last.start + u64::from(last.segments - 1) * u64::from(self.board.mss());
            if last.start < at && at < last.end {
                self.board.split(self.board.len() - 1, at);
            }
        }
        Some(self.retransmit(now, self.board.len() - 1, 1))
    }

    /// `__tcp_retransmit_skb`, for at most `segments` of a record.
    fn retransmit(&mut self, now: Instant, index: usize, segments: u32) -> Outgoing {
        let whole = *self.board.get(index);
        let cut = whole.start + u64::from(segments) * u64::from(self.board.mss());
        if cut < whole.end
            && self.board.content_of(whole.start, whole.end) > u64::from(segments) * u64::from(self.board.mss())
        {
            self.board.split(index, cut);
        }
        let record = *self.board.get(index);
        let outgoing = self.outgoing(record.start, record.end, record.segments, true);
        let snapshot = self.rate.on_sent(now, true);
        self.queue.charge(outgoing.truesize);
        self.board.mark_retransmitted(index, snapshot, self.queue.mark());
        self.recovery
            .on_retransmitted(record.segments, now.as_nanos().div_euclid(1_000_000));
        self.sent.retransmits += u64::from(record.segments);
        self.account(now, &outgoing);
        if index == 0 && !matches!(self.timer, Some((_, SenderTimer::Reordering))) {
            self.set_timer(now + self.rtt.rto(), SenderTimer::Retransmission);
        }
        outgoing
    }

    /// `tcp_write_xmit`, one iteration of its loop. `probe`: a tail loss probe, which may exceed
    /// the window by one segment.
    fn poll_new(&mut self, now: Instant, probe: bool) -> Option<Outgoing> {
        match self.try_new(now, probe) {
            Ok(outgoing) => outgoing,
            Err(limit) => {
                self.limit = limit;
                self.settle(now, limit == Limit::CongestionWindow);
                None
            }
        }
    }

    /// Sends new data. Returns `None` if there are none, and an error if something prevents it.
    fn try_new(&mut self, now: Instant, probe: bool) -> Result<Option<Outgoing>, Limit> {
        let available = self.snd.end() - self.snd.next;
        if available == 0 {
            return Ok(None);
        }
        if self.pacer.blocks(now) {
            return Err(Limit::Pacing);
        }
        if self.board.is_empty() {
            self.restart_after_idle(now);
        }
        let (cwnd, in_flight) = (self.congestion.cwnd(), self.board.in_flight());
        let quota = match cwnd.saturating_sub(in_flight) {
            0 if probe => 1,
            0 => return Err(Limit::CongestionWindow),
            room => room.min((cwnd / 2).max(1)),
        };
        let mss = u64::from(self.board.mss());
        let content = self.snd.written - self.snd.next;
        let window = self.snd.window_room();
        if window < available.min(mss) {
            return Err(Limit::ReceiveWindow);
        }
        let burst = self.burst();
        if content < mss && !self.snd.finished && self.buffer.is_refused() {
            // The application has more data: it waits for room.
            return Err(Limit::SendBuffer);
        }
        let mut deferral = Deferral::Never;
        if burst > 1 && !probe && content > mss {
            let room = u64::from(cwnd.saturating_sub(in_flight)) * mss;
            deferral = self.defers(now, room, window, u64::from(burst) * mss, available);
        }
        if let Deferral::Now(limit) = deferral {
            if let Some(until) = self.usage.last_sent().and_then(|at| at.checked_add(MAX_DEFERRAL)) {
                self.queue.wake_after(until);
            }
            return Err(limit);
        }
        let most = u64::from(if probe { 1 } else { quota.min(burst) }) * mss;
        let mut length = content.min(most).min(window);
        if length < content && length > mss {
            length -= length % mss;
        }
        let fin = self.snd.finished && length == content && window > length;
        let end = self.snd.next + length + u64::from(fin);
        let segments = self.board.segments_of(self.snd.next, end);
        let truesize = gso::truesize(&self.gso, length as u32, segments);
        if let Some(left) = self.queue.throttles(truesize, self.pacer.rate, 0, self.board.len()) {
            self.queue.wake_at(left);
            if let Deferral::After(time) = deferral {
                // Then the congestion window limits the sender instead, which counts for its growth.
                self.queue.wake_after(time);
            }
            return Err(Limit::SmallQueue);
        }
        Ok(Some(self.send(now, end)))
    }

    /// Sends new data up to `end`.
    fn send(&mut self, now: Instant, end: u64) -> Outgoing {
        let in_flight = self.board.in_flight();
        self.congestion.on_sent(now, in_flight, self.rate.is_app_limited());
        let segments = self.board.segments_of(self.snd.next, end);
        let mut outgoing = self.outgoing(self.snd.next, end, segments, false);
        outgoing.cwr = std::mem::take(&mut self.ecn.sends_cwr);
        let snapshot = self.rate.on_sent(now, !self.board.is_empty());
        self.queue.charge(outgoing.truesize);
        let first = self.board.is_empty();
        self.board.push(Record {
            start: self.snd.next,
            end,
            segments,
            marks: Marks::default(),
            host_mark: self.queue.mark(),
            snapshot,
            tx_seq: 0,
        });
        self.snd.next = end;
        self.usage.on_new_data();
        self.account(now, &outgoing);
        if first
            || matches!(
                self.timer,
                None | Some((_, SenderTimer::TailLossProbe | SenderTimer::Persist))
            )
        {
            if first {
                self.timer = None;
            }
            self.rearm_with_probe(now, false);
        }
        outgoing
    }

    fn outgoing(&self, start: u64, end: u64, segments: u32, retransmission: bool) -> Outgoing {
        let length = self.board.content_of(start, end);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Outgoing {
            start,
            length,
            fin: end - start > u64::from(length),
            segments,
            truesize: gso::truesize(&self.gso, length, segments),
            retransmission,
            cwr: false,
            window_probe: false,
        }
    }

    fn account(&mut self, now: Instant, outgoing: &Outgoing) {
        self.pacer.on_sent(now, u64::from(outgoing.length), outgoing.segments);
        self.sent.segments += u64::from(outgoing.segments);
        if self.recovery.state.is_reducing() {
            self.recovery.prr.out += outgoing.segments;
        }
        self.usage.on_sent(now);
    }

    /// Maximum number of segments in one burst.
    fn burst(&self) -> u32 {
        let minimum = self.congestion.min_burst();
        gso::burst_segments(
            &self.gso,
            self.board.mss(),
            self.pacer.rate,
            self.queue.shift(),
            self.rtt.min(),
            minimum,
        )
    }

    /// Decides to wait for more room in order to send a larger burst (`tcp_tso_should_defer`). All in bytes: room in the
    /// congestion window and in the peer's window, maximum burst, available data.
    fn defers(&self, now: Instant, room: u64, window: u64, burst: u64, available: u64) -> Deferral {
        if self.recovery.state >= State::Recovery {
            return Deferral::Never;
        }
        let Some(last_sent) = self.usage.last_sent() else {
            return Deferral::Never;
        };
        if now.checked_since(last_sent).is_none_or(|idle| idle > MAX_DEFERRAL) {
            return Deferral::Never;
        }
        let wanted = burst.min(available);
        let limit = window.min(room);
        if limit >= burst || limit >= wanted {
            return Deferral::Never;
        }
        let whole = self
            .snd
            .window
            .min(u64::from(self.congestion.cwnd()) * u64::from(self.board.mss()));
        if limit >= whole / 3 || self.snd.finished && available <= burst {
            return Deferral::Never;
        }
        let (Some(first), Some(srtt)) = (self.board.first(), self.rtt.srtt()) else {
            return Deferral::Never;
        };
        let half = srtt / 2;
        if now.checked_since(first.snapshot.sent_at).is_none_or(|age| age < half) {
            // The next acknowledgement is far in the future.
            let last = last_sent.checked_add(MAX_DEFERRAL);
            return match first.snapshot.sent_at.checked_add(half) {
                Some(begin) if last.is_none_or(|last| begin <= last) => {
                    Deferral::After(begin - Duration::from_nanos(1))
                }
                _ => Deferral::Never,
            };
        }
        Deferral::Now(if room < window {
            Limit::CongestionWindow
        } else {
            Limit::ReceiveWindow
        })
    }

    /// `tcp_slow_start_after_idle_check`.
    fn restart_after_idle(&mut self, now: Instant) {
        let rto = self.rtt.rto();
        if let Some(idle) = self.usage.restarts_after(now, rto)
            && !self.congestion.has_own_reduction()
        {
            self.congestion.on_restart(now, idle, rto);
            self.usage.restart(now);
            self.update_pacing_rate();
        }
    }

    /// End of a round of transmissions; `limited`: the window ended it (`tcp_cwnd_validate`).
    fn settle(&mut self, now: Instant, limited: bool) {
        let limited = limited || self.board.in_flight() >= self.congestion.cwnd();
        let out = self.board.packets_out;
        if !self.usage.end_round(&self.snd, out, limited) {
            return;
        }
        if self.usage.is_limited(&self.congestion) {
            self.usage.restart(now);
        } else if let Some(used) = self.usage.note_unfilled(now, out, self.rtt.rto())
            && !self.congestion.has_own_reduction()
        {
            if self.recovery.state == State::Open && !self.buffer.is_refused() {
                self.congestion.on_underused(used);
            }
            self.usage.restart(now);
        }
    }
}
