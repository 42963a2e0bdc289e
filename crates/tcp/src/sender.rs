//! The sending half of an endpoint.
//!
//! | file | what | source |
//! |---|---|---|
//! | `sequence` | send sequence variables | RFC 9293 §3.3.1 |
//! | `usage` | use of the congestion window | RFC 7661, `tcp_cwnd_validate` |
//! | `scoreboard` | sent data and their state | RFC 2018, `tcp_sacktag_write_queue` |
//! | `rack` | loss detection | RFC 8985 |
//! | `rtt` | round-trip time and timeout | RFC 6298, `tcp_rtt_estimator` |
//! | `acknowledge` | acknowledgement processing | `tcp_ack` |
//! | `recovery` | Open, Disorder, CWR, Recovery, Loss; PRR, F-RTO, undo | RFC 6937, 5682, `tcp_fastretrans_alert` |
//! | `recovery_state` | the state of `recovery` and `undo` | |
//! | `undo` | spurious reductions | RFC 3522, 3708, `tcp_undo_cwnd_reduction` |
//! | `timers` | retransmission, tail loss probe, reordering, persist | RFC 8985 §7, `tcp_timer.c` |
//! | `transmit` | selection of the next transmission | `tcp_write_xmit`, `tcp_xmit_retransmit_queue` |
//! | `buffer` | send buffer | `tcp_sndbuf_expand` |

mod acknowledge;
mod buffer;
mod rack;
mod recovery;
mod recovery_state;
mod rtt;
mod scoreboard;
mod sequence;
mod timers;
mod transmit;
mod undo;
mod usage;

use crate::config::{EndpointConfig, Gso};
use crate::congestion::{Congestion, Established, RateEstimator, RateSample, State};
use crate::gso;
use crate::info::{Info, Limit};
use crate::pacing::{self, Pacer};
use crate::tsq::{FreedWake, SmallQueue};
use buffer::SendBuffer;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use rack::{Rack, Times};
use recovery_state::{Ecn, Recovery};
use rtt::RttEstimator;
use scoreboard::Scoreboard;
use sequence::SendSequence;
pub(crate) use timers::SenderTimer;
pub(crate) use transmit::Outgoing;
use usage::WindowUsage;

/// Sending half of an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    established: bool,
    gso: Gso,
    snd: SendSequence,
    board: Scoreboard,
    congestion: Congestion,
    rate: RateEstimator,
    last_sample: RateSample,
    rtt: RttEstimator,
    rack: Rack,
    recovery: Recovery,
    ecn: Ecn,
    queue: SmallQueue,
    pacer: Pacer,
    buffer: SendBuffer,
    usage: WindowUsage,
    timer: Option<(Instant, SenderTimer)>,
    /// Consecutive timeouts.
    timeouts: u32,
    /// True after a local rejection of a packet: the sender waits for the next segment or timer.
    held: bool,
    limit: Limit,
    sent: Sent,
}

/// Numbers of segments sent so far.
#[derive(Debug, Clone, Default)]
struct Sent {
    segments: u64,
    /// Those among them that were sent before.
    retransmits: u64,
}

impl Sender {
    /// Creates the sending half with the congestion control `congestion`.
    pub(crate) fn new(config: &EndpointConfig, congestion: Congestion, now: Instant) -> Self {
        let paced = config.paced || congestion.has_own_reduction();
        Self {
            established: false,
            gso: config.gso,
            snd: SendSequence::default(),
            board: Scoreboard::new(config.mss),
            congestion,
            rate: RateEstimator::new(now),
            last_sample: RateSample::default(),
            rtt: RttEstimator::new(),
            rack: Rack::new(),
            recovery: Recovery::new(),
            ecn: Ecn::default(),
            queue: SmallQueue::new(config.tsq, paced),
            pacer: Pacer::new(paced, now),
            buffer: SendBuffer::new(config),
            usage: WindowUsage::new(config, now),
            timer: None,
            timeouts: 0,
            held: false,
            limit: Limit::Application,
            sent: Sent::default(),
        }
    }

    /// Starts after the handshake with its negotiated parameters, the peer's window, and the
    /// round-trip time if it could be measured.
    pub(crate) fn establish(&mut self, now: Instant, negotiated: &NegotiatedParams) {
        self.board.set_mss(negotiated.mss);
        self.ecn.negotiated = negotiated.ecn;
        self.snd.open_window(negotiated.window);
        if let Some(rtt) = negotiated.rtt {
            self.rtt.sample(rtt, 0, 0);
            self.rtt.sample_min(now, rtt);
        }
        if negotiated.syn_lost {
            self.congestion.set_cwnd(1);
        }
        self.congestion.on_established(&Established {
            now,
            mss: negotiated.mss,
            next: 0,
            srtt: self.rtt.srtt(),
            paced: self.pacer.is_enabled(),
        });
        self.rate = RateEstimator::new(now);
        self.pacer = Pacer::new(self.pacer.is_enabled(), now);
        self.usage.restart(now);
        self.buffer
            .expand(self.board.mss(), self.congestion.cwnd(), self.rack.reordering);
        self.update_pacing_rate();
        self.established = true;
    }

    /// Accepts what the buffer has room for of `bytes`; returns its size.
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        if self.snd.finished {
            return 0;
        }
        let taken = self.buffer.take(bytes, self.snd.buffered(), self.board.mss());
        if taken > 0 {
            self.check_app_limited();
        }
        self.snd.written += taken;
        taken
    }

    /// Ends the data of the application.
    pub(crate) fn finish(&mut self) {
        if !self.snd.finished {
            self.snd.finished = true;
            self.board.set_fin(self.snd.written);
        }
    }

    /// The host freed packets with a total of `truesize` bytes. Returns true if a transmission may be permitted now.
    pub(crate) fn handle_freed(&mut self, now: Instant, truesize: u64) -> bool {
        self.queue.free(truesize);
        self.held = false;
        self.usage.repeat_round(now);
        self.queue.wakes(now)
    }

    /// When a freed packet may permit a transmission; `None` if it does not.
    pub(crate) fn wake_of_freed(&self) -> Option<FreedWake> {
        self.queue.wake()
    }

    /// Bytes of truesize in the host's queues (`sk_wmem_alloc`).
    pub(crate) const fn queued(&self) -> u64 {
        self.queue.queued()
    }

    /// The host rejected a packet, or dropped another of ours to accept it. If it was the last one
    /// sent, the state is as before its transmission (`tcp_write_xmit` leaves it at the head of the
    /// queue). In both cases the window is reduced (`tcp_enter_cwr` for `NET_XMIT_CN` and
    /// `NET_XMIT_DROP`).
    pub(crate) fn handle_refused(&mut self, now: Instant, seq: u64, end: u64) {
        self.enter_cwr(now);
        let original = self.board.last().is_some_and(|last| !last.marks.any());
        if original && end == self.snd.next && seq >= self.snd.una && seq < end {
            self.board.unsend(seq);
            self.snd.next = self
                .board
                .last()
                .map_or(self.snd.una, |last| last.end)
                .min(seq)
                .max(self.snd.una);
        }
        self.held = true;
        if self.board.is_empty() {
            self.set_timer(now + Duration::from_millis(500), SenderTimer::Persist);
        }
    }

    /// A segment was received: the reason for a blocked transmission may have ended.
    pub(crate) fn wake(&mut self) {
        self.held = false;
    }

    /// Returns true if the application may write again.
    pub(crate) fn poll_writable(&mut self) -> bool {
        self.buffer.poll_writable(self.snd.buffered())
    }

    /// Bytes of content that the application has written and that were never sent (`tcp_notsent`).
    pub(crate) fn unsent(&self) -> u64 {
        self.snd.unsent()
    }

    /// Returns true if all data are sent and acknowledged, including the FIN.
    pub(crate) fn is_done(&self) -> bool {
        self.snd.finished && self.snd.una > self.snd.written
    }

    /// Acknowledged bytes of content.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.snd.acknowledged()
    }

    /// Next offset to send.
    pub(crate) fn next(&self) -> u64 {
        self.snd.next
    }

    pub(crate) fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// Snapshot; the receiving half adds its buffer and its received bytes.
    pub(crate) fn info(&self, receive_buffer: u64, received: u64) -> Info {
        let sample = &self.last_sample;
        let delivered = ByteSize::from_bytes(u64::from(sample.delivered) * u64::from(self.board.mss()));
        let one = gso::truesize(&self.gso, self.board.mss(), 1);
        Info {
            state: self.recovery.state,
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.deviation(),
            min_rtt: self.rtt.min(),
            rto: self.rtt.rto(),
            in_flight: self.board.in_flight(),
            segments_sent: self.sent.segments,
            retransmits: self.sent.retransmits,
            pacing_rate: self.pacer.rate,
            delivery_rate: sample.interval.and_then(|interval| BitRate::mean(delivered, interval)),
            limit: self.limit,
            host_queue: ByteSize::from_bytes(self.queue.queued()),
            host_queue_limit: self.queue.limit(one, self.pacer.rate, 0).map(ByteSize::from_bytes),
            send_buffer: ByteSize::from_bytes(self.buffer.size()),
            receive_buffer: ByteSize::from_bytes(receive_buffer),
            peer_window: ByteSize::from_bytes(self.snd.window_end.saturating_sub(self.snd.una)),
            acknowledged: self.acknowledged(),
            received,
        }
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
        self.pacer.rate = self.congestion.pacing_rate().or_else(|| {
            let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
            let srtt = self.rtt.srtt()?;
            Some(pacing::rate(
                cwnd,
                ssthresh,
                self.board.packets_out,
                self.board.mss(),
                srtt,
            ))
        });
    }

    /// Records that the application has nothing to send although it could
    /// (`tcp_rate_check_app_limited`).
    fn check_app_limited(&mut self) {
        let in_flight = self.board.in_flight();
        if self.snd.unsent() < u64::from(self.board.mss())
            && self.queue.queued() < 2_304
            && in_flight < self.congestion.cwnd()
            && self.board.lost_out <= self.board.retrans_out
        {
            self.rate.set_app_limited(in_flight);
        }
    }
}

/// Parameters negotiated by the handshake.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NegotiatedParams {
    pub(crate) mss: u32,
    pub(crate) ecn: bool,
    /// Initial window of the peer in bytes.
    pub(crate) window: u64,
    pub(crate) rtt: Option<Duration>,
    /// True if more than one SYN was lost: the window starts with one segment
    /// (`tcp_init_transfer`).
    pub(crate) syn_lost: bool,
}
