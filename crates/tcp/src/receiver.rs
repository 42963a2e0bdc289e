//! The receiving half of an endpoint.
//!
//! | file | what | source |
//! |---|---|---|
//! | `reassembly` | data in order, data beyond a gap, ranges to report | RFC 2018, RFC 2883 |
//! | `acks` | when to acknowledge: immediately, every second segment, delayed | RFC 1122 §4.2.3.2, `__tcp_ack_snd_check` |
//! | `window` | receive window: auto-tuning | `tcp_rcv_space_adjust`, `tcp_select_window` |

mod acks;
mod reassembly;
mod window;

use crate::config::EndpointConfig;
use crate::segment::{Flags, SackBlocks, Segment};
use acks::Acks;
use netburn_units::{Duration, Instant};
use reassembly::{Arrival, Reassembly};
use window::ReceiveWindow;

/// Receiving half of an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    mss: u32,
    reassembly: Reassembly,
    acks: Acks,
    window: ReceiveWindow,
    /// Offset of the FIN.
    fin: Option<u64>,
    /// Timestamp to echo (RFC 7323 §4.3), and the offset of the last acknowledgement.
    recent: i64,
    acknowledged: u64,
    ecn: bool,
    /// A congestion mark was received and the peer has not confirmed its reduction yet (RFC 3168
    /// §6.1.3).
    echoing: bool,
}

/// Result of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Received {
    /// More data are in order.
    pub(crate) advanced: bool,
    /// The end of the stream was received.
    pub(crate) finished: bool,
}

impl Receiver {
    pub(crate) fn new(config: &EndpointConfig) -> Self {
        Self {
            mss: config.mss,
            reassembly: Reassembly::default(),
            acks: Acks::new(),
            window: ReceiveWindow::new(&config.receive_buffer, config.mss),
            fin: None,
            recent: 0,
            acknowledged: 0,
            ecn: false,
            echoing: false,
        }
    }

    pub(crate) fn establish(&mut self, now: Instant, mss: u32, ecn: bool) {
        self.mss = mss;
        self.ecn = ecn;
        self.window.establish(now, mss);
    }

    /// Stores the timestamp of a segment.
    pub(crate) fn take_timestamp(&mut self, segment: &Segment) {
        if segment.seq <= self.acknowledged && segment.timestamp > self.recent || segment.flags.contains(Flags::SYN) {
            self.recent = segment.timestamp;
        }
    }

    /// Processes a segment with content, a FIN, or a window probe. `marked`: it has a congestion
    /// mark (CE).
    pub(crate) fn handle(
        &mut self,
        now: Instant,
        segment: &Segment,
        marked: bool,
        srtt: Option<Duration>,
        rto: Duration,
    ) -> Received {
        if segment.flags.contains(Flags::PROBE) {
            self.acks.acknowledge_now();
            return Received::default();
        }
        if !segment.is_data() {
            return Received::default();
        }
        if self.ecn {
            if segment.flags.contains(Flags::CWR) {
                self.echoing = false;
                self.acks.acknowledge_now();
            }
            if marked && !self.echoing {
                self.echoing = true;
                self.acks.quicken(2);
            }
        }
        let before = self.reassembly.next();
        if segment.seq > self.window.end(before) || self.fin.is_some_and(|fin| segment.end() > fin + 1) {
            // Beyond the window (RFC 9293 §3.10.7.4), or beyond the end.
            self.acks.acknowledge_now();
            return Received::default();
        }
        if segment.flags.contains(Flags::FIN) {
            self.fin.get_or_insert(segment.end() - 1);
        }
        let arrival = self.reassembly.take(segment.seq, segment.end());
        match arrival {
            Arrival::InOrder { filled } => {
                self.acks
                    .on_data(now, segment.length.min(self.mss), self.window.offered(), rto);
                if filled {
                    // A gap is closed completely or in part: acknowledge immediately (RFC 5681
                    // §4.2).
                    self.acks.acknowledge_now();
                }
            }
            Arrival::Ahead { fresh } => {
                self.acks.on_gap(now, self.reassembly.next(), srtt, fresh);
                self.window.on_out_of_order(segment, self.reassembly.span());
            }
            Arrival::Duplicate => self.acks.on_duplicate(),
        }
        let next = self.reassembly.next();
        let advanced = next > before;
        if advanced {
            let (span, round_trip) = (self.reassembly.span(), self.recent_round_trip(now, segment));
            self.window.on_delivered(now, next, segment, span, round_trip);
        }
        let fin_at = self.fin;
        let finished = fin_at.is_some_and(|fin| next > fin && before <= fin);
        if finished {
            self.acks.acknowledge_now();
        }
        if advanced {
            let unacknowledged = next - self.acknowledged;
            let grows = self.window.would_offer(self.reassembly.held(), next) >= self.window.remaining(next);
            self.acks
                .decide(now, unacknowledged, grows, srtt, self.reassembly.held() > 0);
        }
        Received { advanced, finished }
    }

    /// Content received in order, in bytes.
    pub(crate) fn received(&self) -> u64 {
        let next = self.reassembly.next();
        match self.fin {
            Some(fin) => next.min(fin),
            None => next,
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.reassembly.next() > fin)
    }

    /// Timestamp to echo.
    pub(crate) fn echo(&self) -> i64 {
        self.recent
    }

    /// Returns true if an acknowledgement without data is due.
    pub(crate) fn wants_ack(&self) -> bool {
        self.acks.is_due()
    }

    /// Returns true if there are ranges to report, which only a segment without content can carry.
    pub(crate) fn has_blocks(&self) -> bool {
        self.reassembly.has_blocks()
    }

    pub(crate) fn acknowledge_now(&mut self) {
        self.acks.acknowledge_now();
    }

    /// Sets the acknowledgement of a segment to be sent. `bare`: it has no content, so that ranges
    /// fit.
    pub(crate) fn fill(&mut self, segment: &mut Segment, bare: bool) {
        let next = self.reassembly.next();
        segment.flags = segment.flags.with(Flags::ACK);
        segment.ack = next;
        segment.window = self.window.select(self.reassembly.held(), next);
        segment.echo = self.recent;
        if self.echoing {
            segment.flags = segment.flags.with(Flags::ECE);
        }
        segment.sack = if bare {
            self.reassembly.blocks()
        } else {
            SackBlocks::default()
        };
        self.acknowledged = next;
        self.acks.on_sent();
    }

    /// Content was sent, with the acknowledgements piggybacked (`tcp_event_data_sent`).
    pub(crate) fn on_data_sent(&mut self, now: Instant) {
        self.acks.on_data_sent(now);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.acks.poll_timeout()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, rto: Duration) {
        self.acks.handle_timeout(now, rto);
    }

    pub(crate) fn buffer(&self) -> u64 {
        self.window.buffer()
    }

    /// Window of a SYN, which isn't scaled.
    pub(crate) fn first_window(&mut self) -> u64 {
        self.window.first()
    }

    /// Round-trip time at the receiver, from the echo of a full segment (`tcp_rcv_rtt_measure_ts`).
    fn recent_round_trip(&self, now: Instant, segment: &Segment) -> Option<Duration> {
        if segment.length < self.mss {
            return None;
        }
        let millis = now.as_nanos().div_euclid(1_000_000).checked_sub(segment.echo)?;
        let millis = u64::try_from(millis).ok().filter(|millis| *millis < 1_000_000)?;
        Some(Duration::from_millis(millis.max(1)))
    }
}
