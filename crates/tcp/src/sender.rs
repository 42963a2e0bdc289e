//! The sending half of an endpoint.
//!
//! | file | what | source |
//! |---|---|---|
//! | `scoreboard` | what is sent and what is thought of it | RFC 2018, `tcp_sacktag_write_queue` |
//! | `rack` | what is lost | RFC 8985 |
//! | `rtt` | round trips and the time-out | RFC 6298, `tcp_rtt_estimator` |
//! | `acknowledge` | an acknowledgement, from selective ranges to the window | `tcp_ack` |
//! | `recovery` | Open, Disorder, CWR, Recovery, Loss; PRR, F-RTO, undo | RFC 6937, 5682, `tcp_fastretrans_alert` |
//! | `undo` | reductions that were for nothing | RFC 3522, 3708, `tcp_undo_cwnd_reduction` |
//! | `timers` | retransmission, tail loss probe, reordering, persist | RFC 8985 §7, `tcp_timer.c` |
//! | `transmit` | what goes out next | `tcp_write_xmit`, `tcp_xmit_retransmit_queue` |
//! | `buffer` | how much the application may hand over | `tcp_sndbuf_expand` |

mod acknowledge;
mod buffer;
mod rack;
mod recovery;
mod rtt;
mod scoreboard;
mod timers;
mod transmit;
mod undo;

use crate::config::{EndpointConfig, Gso};
use crate::congestion::{Congestion, Established, RateEstimator, RateSample, State};
use crate::gso;
use crate::info::{Info, Limit};
use crate::pacing::{self, Pacer};
use crate::segment::Range;
use crate::tsq::SmallQueue;
use buffer::SendBuffer;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use rack::{Rack, Times};
use recovery::Recovery;
use rtt::RttEstimator;
use scoreboard::Scoreboard;
pub(crate) use timers::SenderTimer;
pub(crate) use transmit::Outgoing;

/// The sending half.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    mss: u32,
    gso: Gso,
    initial_window: u32,
    slow_start_after_idle: bool,
    established: bool,

    /// Content handed over by the application, and whether it is all.
    written: u64,
    finished: bool,
    /// Everything before is acknowledged (`snd_una`); this is sent next (`snd_nxt`).
    una: u64,
    next: u64,
    /// The last segment that moved the window, the window, and where it ends.
    window_seq: u64,
    window: u64,
    window_end: u64,

    board: Scoreboard,
    /// The selective acknowledgements of the last segment: what they hold is marked already.
    last_sacks: [Range; 3],
    congestion: Congestion,
    rate: RateEstimator,
    last_sample: RateSample,
    rtt: RttEstimator,
    rack: Rack,
    recovery: Recovery,
    queue: SmallQueue,
    pacer: Pacer,
    pacing_rate: Option<BitRate>,
    buffer: SendBuffer,

    /// Whether the last flight filled the window, the most that was out in it, and where it ends (`tcp_cwnd_validate`).
    window_limited: bool,
    max_packets_out: u32,
    usage_end: u64,
    used: u32,
    used_since: Instant,
    sent_since_check: bool,

    timer: Option<(Instant, SenderTimer)>,
    /// Consecutive time-outs.
    time_outs: u32,
    /// A packet waits for the pacing timer.
    paced_until: Option<Instant>,
    /// A packet was refused below: wait for a sign of life.
    held: bool,
    last_sent: Option<Instant>,
    limit: Limit,
    /// Segments sent, and sent again.
    segments_sent: u64,
    retransmits: u64,

    ecn: bool,
    /// The next new segment says that the window was reduced.
    cwr: bool,
}

impl Sender {
    /// For an endpoint whose congestion control is `congestion`.
    pub(crate) fn new(config: &EndpointConfig, congestion: Congestion, now: Instant) -> Self {
        let paced = config.paced || congestion.has_own_reduction();
        Self {
            mss: config.mss,
            gso: config.gso,
            initial_window: config.initial_window,
            slow_start_after_idle: config.slow_start_after_idle,
            established: false,
            written: 0,
            finished: false,
            una: 0,
            next: 0,
            window_seq: 0,
            window: 0,
            window_end: 0,
            board: Scoreboard::new(config.mss),
            last_sacks: [Range::default(); 3],
            congestion,
            rate: RateEstimator::new(now),
            last_sample: RateSample::default(),
            rtt: RttEstimator::new(),
            rack: Rack::new(),
            recovery: Recovery::new(),
            queue: SmallQueue::new(config.tsq, paced),
            pacer: Pacer::new(paced, now),
            pacing_rate: None,
            buffer: SendBuffer::new(config),
            window_limited: false,
            max_packets_out: 0,
            usage_end: 0,
            used: 0,
            used_since: now,
            sent_since_check: false,
            timer: None,
            time_outs: 0,
            paced_until: None,
            held: false,
            last_sent: None,
            limit: Limit::Application,
            segments_sent: 0,
            retransmits: 0,
            ecn: false,
            cwr: false,
        }
    }

    /// The handshake is over: what was agreed, the peer's window, and the round trip where it could be measured.
    pub(crate) fn establish(&mut self, now: Instant, agreed: &Agreed) {
        self.mss = agreed.mss;
        self.board.set_mss(agreed.mss);
        self.ecn = agreed.ecn;
        self.window = agreed.window;
        self.window_end = agreed.window;
        if let Some(rtt) = agreed.rtt {
            self.rtt.sample(rtt, 0, 0);
            self.rtt.sample_min(now, rtt);
        }
        if agreed.syn_lost {
            self.congestion.set_cwnd(1);
        }
        self.congestion.on_established(&Established {
            now,
            mss: agreed.mss,
            next: 0,
            srtt: self.rtt.srtt(),
            paced: self.pacer.is_enabled(),
        });
        self.rate = RateEstimator::new(now);
        self.pacer = Pacer::new(self.pacer.is_enabled(), now);
        self.used_since = now;
        self.buffer
            .expand(self.mss, self.congestion.cwnd(), self.rack.reordering);
        self.update_pacing_rate();
        self.established = true;
    }

    /// Takes what the buffer has room for of `bytes`, and says how much.
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        if self.finished {
            return 0;
        }
        let taken = self
            .buffer
            .take(bytes, self.written - self.una.min(self.written), self.mss);
        if taken > 0 {
            self.check_app_limited();
        }
        self.written += taken;
        taken
    }

    /// No more will come.
    pub(crate) fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.board.set_fin(self.written);
        }
    }

    /// The host let go of packets of `truesize` bytes together.
    pub(crate) fn handle_freed(&mut self, truesize: u64) {
        self.queue.free(truesize);
        self.held = false;
    }

    /// The host refused a packet, or dropped another of ours to take it. If it was the last one sent it is as if it
    /// hadn't been (`tcp_write_xmit` leaves it at the head of the queue); in any case the window is reduced
    /// (`tcp_enter_cwr` for `NET_XMIT_CN` and `NET_XMIT_DROP`).
    pub(crate) fn handle_refused(&mut self, now: Instant, seq: u64, end: u64) {
        self.enter_cwr(now);
        let original = self.board.last().is_some_and(|last| !last.marks.any());
        if original && end == self.next && seq >= self.una && seq < end {
            self.board.unsend(seq);
            self.next = self
                .board
                .last()
                .map_or(self.una, |last| last.end)
                .min(seq)
                .max(self.una);
        }
        self.held = true;
        if self.board.is_empty() {
            self.set_timer(now + Duration::from_millis(500), SenderTimer::Persist);
        }
    }

    /// A segment came: whatever held the sender back may be over.
    pub(crate) fn wake(&mut self) {
        self.held = false;
    }

    /// The application may write again.
    pub(crate) fn poll_writable(&mut self) -> bool {
        self.buffer.poll_writable(self.written - self.una.min(self.written))
    }

    /// Whether all is sent and acknowledged, and the FIN with it.
    pub(crate) fn is_done(&self) -> bool {
        self.finished && self.una > self.written
    }

    /// Bytes of content acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una.min(self.written)
    }

    /// The offset that is sent next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// A look at it; the receiving half adds its buffer and what it received.
    pub(crate) fn info(&self, receive_buffer: u64, received: u64) -> Info {
        let sample = &self.last_sample;
        let delivered = ByteSize::from_bytes(u64::from(sample.delivered) * u64::from(self.mss));
        let one = gso::truesize(&self.gso, self.mss, 1);
        Info {
            state: self.recovery.state,
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.deviation(),
            min_rtt: self.rtt.min(),
            rto: self.rtt.rto(),
            in_flight: self.board.in_flight(),
            segments_sent: self.segments_sent,
            retransmits: self.retransmits,
            pacing_rate: self.pacing_rate,
            delivery_rate: sample.interval.and_then(|interval| BitRate::mean(delivered, interval)),
            limit: self.limit,
            host_queue: ByteSize::from_bytes(self.queue.queued()),
            host_queue_limit: self.queue.limit(one, self.pacing_rate, 0).map(ByteSize::from_bytes),
            send_buffer: ByteSize::from_bytes(self.buffer.size()),
            receive_buffer: ByteSize::from_bytes(receive_buffer),
            peer_window: ByteSize::from_bytes(self.window_end.saturating_sub(self.una)),
            acknowledged: self.acknowledged(),
            received,
        }
    }

    /// The offset after the last that there is to send.
    fn end(&self) -> u64 {
        self.written + u64::from(self.finished)
    }

    fn times(&self) -> Times {
        Times {
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            recovering: self.recovery.state >= State::Recovery,
        }
    }

    /// `tcp_update_pacing_rate`; BBR has its own.
    fn update_pacing_rate(&mut self) {
        self.pacing_rate = self.congestion.pacing_rate().or_else(|| {
            let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
            let srtt = self.rtt.srtt()?;
            Some(pacing::rate(cwnd, ssthresh, self.board.packets_out, self.mss, srtt))
        });
    }

    /// Notes that the application has nothing to send though it could (`tcp_rate_check_app_limited`).
    fn check_app_limited(&mut self) {
        let in_flight = self.board.in_flight();
        if self.written.saturating_sub(self.next) < u64::from(self.mss)
            && self.queue.queued() < 2_304
            && in_flight < self.congestion.cwnd()
            && self.board.lost_out <= self.board.retrans_out
        {
            self.rate.set_app_limited(in_flight);
        }
    }
}

/// What a handshake agreed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreed {
    pub(crate) mss: u32,
    pub(crate) ecn: bool,
    /// The peer's first window in bytes.
    pub(crate) window: u64,
    pub(crate) rtt: Option<Duration>,
    /// More than one SYN had to be sent again: the window begins with one segment (`tcp_init_transfer`).
    pub(crate) syn_lost: bool,
}
