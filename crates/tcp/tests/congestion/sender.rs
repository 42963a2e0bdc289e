//! Minimal sender around a congestion control.

use crate::path::{Acknowledgement, Flow, MSS, Point};
use netburn_tcp::congestion::{Ack, Congestion, Established, RateEstimator, Snapshot, State};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Clone, Copy)]
struct Record {
    snapshot: Snapshot,
    /// Transmission sequence number.
    order: u64,
    acked: bool,
    lost: bool,
    again: bool,
}

pub(crate) struct Sender {
    congestion: Congestion,
    rates: RateEstimator,
    lose: BTreeSet<u64>,
    records: VecDeque<Record>,
    una: u64,
    order: u64,
    newest: u64,
    in_flight: u32,
    state: State,
    recovery_ends: u64,
    reduction_from: u32,
    reduction_delivered: u32,
    reduction_sent: u32,
    srtt: Option<Duration>,
    min_rtt: Option<Duration>,
    pub(crate) next_send: Instant,
    pub(crate) deadline: Instant,
    pub(crate) waiting: bool,
    pub(crate) timer: bool,
    started: bool,
    pub(crate) reductions: Vec<(Instant, u32, u32)>,
}

impl Sender {
    pub(crate) fn new(flow: &Flow) -> Self {
        Self {
            congestion: Congestion::new(&flow.control, 10, flow.random).expect("it can be modelled"),
            rates: RateEstimator::new(flow.start),
            lose: flow.lost.iter().copied().collect(),
            records: VecDeque::new(),
            una: 0,
            order: 0,
            newest: 0,
            in_flight: 0,
            state: State::Open,
            recovery_ends: 0,
            reduction_from: 0,
            reduction_delivered: 0,
            reduction_sent: 0,
            srtt: None,
            min_rtt: None,
            next_send: flow.start,
            deadline: flow.start,
            waiting: false,
            timer: false,
            started: false,
            reductions: Vec::new(),
        }
    }

    pub(crate) fn start(&mut self, now: Instant, round_trip: Duration) {
        self.started = true;
        self.min_rtt = Some(round_trip);
        self.srtt = Some(round_trip);
        self.congestion.on_established(&Established {
            now,
            mss: MSS,
            next: 0,
            srtt: self.srtt,
            paced: false,
        });
    }

    pub(crate) fn point(&self, at: Instant) -> Point {
        Point {
            at,
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            in_flight: self.in_flight,
            state: self.state,
            pacing_rate: self.congestion.pacing_rate(),
            delivered: self.rates.delivered(),
        }
    }

    fn next(&self) -> u64 {
        self.una + self.records.len() as u64
    }

    pub(crate) fn has_unacknowledged(&self) -> bool {
        !self.records.is_empty()
    }

    pub(crate) fn may_send(&self) -> bool {
        self.started && self.in_flight < self.congestion.cwnd()
    }

    /// Next segment to send, and true if it is to be lost.
    pub(crate) fn send(&mut self, now: Instant) -> Option<(u64, bool)> {
        if !self.may_send() || self.next_send > now {
            return None;
        }
        self.congestion
            .on_sent(now, self.in_flight, self.rates.is_app_limited());
        let snapshot = self.rates.on_sent(now, !self.records.is_empty());
        if self.records.is_empty() {
            self.deadline = now + self.rto();
        }
        if let Some(rate) = self.congestion.pacing_rate() {
            // Linux paces by content alone (`tcp_update_skb_after_send`), after the first ten
            // segments.
            let content = ByteSize::from_bytes(u64::from(MSS));
            if self.order >= 10 {
                self.next_send = self.next_send.max(now) + rate.time_for(content).unwrap_or_default();
            }
        }
        self.order += 1;
        self.in_flight += 1;
        self.reduction_sent += 1;
        let record = Record {
            snapshot,
            order: self.order,
            acked: false,
            lost: false,
            again: true,
        };
        let hole = if self.state >= State::Recovery {
            self.records.iter().position(|record| record.lost)
        } else {
            None
        };
        if let Some(index) = hole {
            self.records[index] = record;
            return Some((self.una + index as u64, false));
        }
        let segment = self.next();
        self.records.push_back(Record { again: false, ..record });
        Some((segment, self.lose.remove(&segment)))
    }

    pub(crate) fn on_ack(&mut self, now: Instant, acknowledgement: Acknowledgement) {
        let prior_in_flight = self.in_flight;
        let (mut acked, mut rtt) = (0, None);
        let advanced = acknowledgement.next > self.una;
        while self.una < acknowledgement.next {
            let record = self.records.pop_front().expect("what is acknowledged was sent");
            self.una += 1;
            self.deliver(now, record, &mut acked, &mut rtt);
        }
        if let Some(segment) = acknowledgement
            .selective
            .and_then(|segment| segment.checked_sub(self.una))
        {
            let record = self.records[segment as usize];
            self.deliver(now, record, &mut acked, &mut rtt);
            self.records[segment as usize].acked = true;
        }
        if let Some(rtt) = rtt {
            let smoothed = self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8);
            self.srtt = Some(smoothed);
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if advanced {
            self.deadline = now + self.rto();
        }
        let lost = self.find_losses();
        self.move_state(now, lost);
        let rate = self.rates.sample(now, self.min_rtt);
        self.reduction_delivered += acked;
        if self.state.is_reducing() && !self.congestion.has_own_reduction() && acked > 0 {
            self.reduce(acked, advanced && lost == 0);
        }
        let pace = self.srtt.and_then(|srtt| {
            let cwnd = u64::from(self.congestion.cwnd());
            BitRate::mean(ByteSize::from_bytes(2 * cwnd * u64::from(MSS)), srtt)
        });
        self.congestion.on_ack(&Ack {
            now,
            acked,
            lost,
            in_flight: self.in_flight,
            prior_in_flight,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            maybe_delayed: false,
            ece: false,
            window_limited: true,
            may_raise: advanced,
            next: self.next(),
            acked_to: self.una,
            pacing_rate: pace,
            rate,
            state: self.state,
        });
        if self.congestion.is_probing_rtt() {
            self.rates.set_app_limited(self.in_flight);
        }
    }

    fn deliver(&mut self, now: Instant, record: Record, acked: &mut u32, rtt: &mut Option<Duration>) {
        if record.acked {
            return;
        }
        self.rates.on_delivered(1, &record.snapshot);
        self.newest = self.newest.max(record.order);
        if !record.lost {
            self.in_flight -= 1;
        }
        *acked += 1;
        if !record.again {
            *rtt = Some(now.since(record.snapshot.sent_at));
        }
    }

    /// The path keeps the order: a segment sent before a delivered one is lost after three later
    /// ones are delivered.
    fn find_losses(&mut self) -> u32 {
        let later = if self.state >= State::Recovery { 1 } else { 3 };
        let mut lost = 0;
        for record in &mut self.records {
            if record.order + later <= self.newest && !record.acked && !record.lost {
                record.lost = true;
                lost += 1;
            }
        }
        self.in_flight -= lost;
        lost
    }

    fn move_state(&mut self, now: Instant, lost: u32) {
        if self.state >= State::Recovery && self.una >= self.recovery_ends {
            if self.state == State::Recovery {
                self.congestion.on_recovered(now);
            }
            self.state = State::Open;
        }
        if lost > 0 && self.state < State::Recovery {
            self.reduction_from = self.congestion.cwnd();
            self.reduction_delivered = 0;
            self.reduction_sent = 0;
            self.congestion.on_congestion(now, self.in_flight);
            self.reductions
                .push((now, self.reduction_from, self.congestion.ssthresh()));
            self.state = State::Recovery;
            self.recovery_ends = self.next();
        }
    }

    /// PRR (RFC 6937 with the slow start reduction bound, as in `tcp_cwnd_reduction`).
    fn reduce(&mut self, acked: u32, safe: bool) {
        let ssthresh = self.congestion.ssthresh();
        let sent = i64::from(self.reduction_sent);
        let delivered = i64::from(self.reduction_delivered);
        let room = i64::from(ssthresh) - i64::from(self.in_flight);
        let may = if room < 0 {
            let from = i64::from(self.reduction_from.max(1));
            (i64::from(ssthresh) * delivered + from - 1) / from - sent
        } else {
            ((delivered - sent).max(i64::from(acked)) + i64::from(safe)).min(room)
        };
        let may = may.max(i64::from(sent == 0)) as u32;
        self.congestion.set_cwnd(self.in_flight + may);
    }

    fn rto(&self) -> Duration {
        self.srtt.unwrap_or(Duration::from_millis(800)) + Duration::from_millis(200)
    }

    pub(crate) fn on_timer(&mut self, now: Instant) {
        if now < self.deadline || self.records.is_empty() {
            return;
        }
        let new_episode = self.state < State::Loss;
        for record in &mut self.records {
            record.lost |= !record.acked;
        }
        self.in_flight = 0;
        self.congestion.on_rto(now, 0, new_episode);
        self.state = State::Loss;
        self.recovery_ends = self.next();
        self.deadline = now + self.rto();
    }
}
