//! One end of a connection: handshake, both directions, and close.

mod outgoing;

use crate::config::EndpointConfig;
use crate::congestion::Congestion;
use crate::event::{Event, Failure, Timer, UnsupportedCongestionControl};
use crate::info::Info;
use crate::receiver::Receiver;
use crate::segment::{Flags, Packet, Segment, Transmit};
use crate::sender::{NegotiatedParams, Sender, SenderTimer};
use crate::tsq::FreedWake;
use netburn_units::{Duration, Instant};

/// Initial timeout of a SYN (RFC 6298 §2.1); doubled for each retry.
const SYN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of retries of a SYN (`tcp_syn_retries`), and of a SYN-ACK (`tcp_synack_retries`).
const SYN_RETRIES: u32 = 6;
const SYN_ACK_RETRIES: u32 = 5;

/// One end of a connection, full duplex.
///
/// After every call of a `handle_*` method, [`write`](Self::write), [`finish`](Self::finish) or
/// [`abort`](Self::abort), do three steps:
///
/// 1. Drain [`poll_transmit`](Self::poll_transmit).
/// 2. Drain [`poll_event`](Self::poll_event), and `poll_transmit` again after a write.
/// 3. Wait for [`poll_timeout`](Self::poll_timeout) or an input.
///
/// `now` never decreases.
///
/// The host must return every [`Packet`]'s `truesize`: with [`handle_freed`](Self::handle_freed)
/// after it has left, with [`handle_dropped_locally`](Self::handle_dropped_locally) if a queue of
/// the host rejects or drops it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    config: EndpointConfig,
    phase: Phase,
    sender: Sender,
    receiver: Receiver,
    handshake: Handshake,
    /// True if a reset has to be sent.
    reset_due: bool,
    connected: bool,
    peer_finished: bool,
    ended: Option<Event>,
    reported: Reported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Listen,
    SynSent,
    SynReceived,
    Established,
    /// Reset, aborted or timed out.
    Dead,
}

/// The SYN or SYN-ACK in flight.
#[derive(Debug, Clone)]
struct Handshake {
    due: bool,
    sent: u32,
    sent_at: Option<Instant>,
    until: Option<Instant>,
    /// Values of the peer's SYN.
    mss: u32,
    ecn: bool,
    window: u64,
}

/// Values reported so far.
#[derive(Debug, Clone, Default)]
struct Reported {
    connected: bool,
    received: u64,
    acknowledged: u64,
    finished: bool,
    ended: bool,
}

impl Endpoint {
    /// Opens a connection: a SYN is due immediately.
    ///
    /// # Errors
    /// If the congestion control has no model.
    pub fn connect(config: &EndpointConfig, now: Instant) -> Result<Self, UnsupportedCongestionControl> {
        let mut endpoint = Self::new(config, now, Phase::SynSent)?;
        endpoint.handshake.due = true;
        Ok(endpoint)
    }

    /// Waits for a SYN.
    ///
    /// # Errors
    /// If the congestion control has no model.
    pub fn listen(config: &EndpointConfig, now: Instant) -> Result<Self, UnsupportedCongestionControl> {
        Self::new(config, now, Phase::Listen)
    }

    fn new(config: &EndpointConfig, now: Instant, phase: Phase) -> Result<Self, UnsupportedCongestionControl> {
        let congestion = Congestion::new(&config.congestion, config.initial_window.max(1), config.random)
            .ok_or_else(|| UnsupportedCongestionControl(config.congestion.clone()))?;
        let congestion = if config.ack_aggregation {
            congestion
        } else {
            congestion.without_ack_aggregation()
        };
        let mut config = config.clone();
        config.mss = config.mss.clamp(88, 65_000);
        Ok(Self {
            sender: Sender::new(&config, congestion, now),
            receiver: Receiver::new(&config),
            handshake: Handshake {
                due: false,
                sent: 0,
                sent_at: None,
                until: None,
                mss: config.mss,
                ecn: config.ecn,
                window: 0,
            },
            config,
            phase,
            reset_due: false,
            connected: false,
            peer_finished: false,
            ended: None,
            reported: Reported::default(),
        })
    }

    /// The application writes `bytes`. Returns the number of accepted bytes, which the send buffer
    /// has room for. If not all were accepted, [`Event::Writable`] follows.
    pub fn write(&mut self, _now: Instant, bytes: u64) -> u64 {
        if self.phase == Phase::Dead {
            0
        } else {
            self.sender.write(bytes)
        }
    }

    /// Bytes that the application has written and that were never sent: what TCP_NOTSENT_LOWAT (tcp(7)) limits.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    /// The application has no more data: a FIN follows the last byte.
    pub fn finish(&mut self, _now: Instant) {
        self.sender.finish();
    }

    /// Aborts the connection: a reset is sent to the peer.
    pub fn abort(&mut self, _now: Instant) {
        if self.phase == Phase::Dead {
            return;
        }
        self.reset_due = matches!(self.phase, Phase::SynReceived | Phase::Established) && self.ended.is_none();
        self.die(Event::Closed);
    }

    /// Processes a segment from the peer. `ce`: a queue on the path marked it (RFC 3168).
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment, ce: bool) {
        if segment.flags.contains(Flags::RST) {
            match self.phase {
                Phase::Listen | Phase::Dead => {}
                Phase::SynSent => self.die(Event::Failed(Failure::Refused)),
                Phase::SynReceived | Phase::Established => self.die(Event::Failed(Failure::Reset)),
            }
            return;
        }
        let syn = segment.flags.contains(Flags::SYN);
        let ack = segment.flags.contains(Flags::ACK);
        match self.phase {
            Phase::Dead => self.reset_due = true,
            Phase::Listen if syn && !ack => {
                self.take_syn(segment);
                let asks = segment.flags.contains(Flags::ECE.with(Flags::CWR));
                self.handshake.ecn = self.config.ecn && asks;
                self.handshake.due = true;
                self.phase = Phase::SynReceived;
            }
            Phase::Listen => {}
            Phase::SynSent if syn && ack => {
                self.take_syn(segment);
                self.handshake.ecn = self.config.ecn && segment.flags.contains(Flags::ECE);
                self.establish(now);
                self.receiver.acknowledge_now();
            }
            Phase::SynSent => {}
            Phase::SynReceived if syn => self.handshake.due = true,
            Phase::SynReceived if ack => {
                self.establish(now);
                self.handle_established(now, segment, ce);
            }
            Phase::SynReceived => {}
            // A repeated SYN-ACK: our acknowledgement was lost.
            Phase::Established if syn => self.receiver.acknowledge_now(),
            Phase::Established => self.handle_established(now, segment, ce),
        }
    }

    /// Packets with a total of `truesize` bytes have left the host. Returns false if this lets
    /// [`poll_transmit`](Self::poll_transmit) send nothing.
    pub fn handle_freed(&mut self, now: Instant, truesize: u64) -> bool {
        self.sender.handle_freed(now, truesize)
    }

    /// When [`handle_freed`](Self::handle_freed) returns true while the host holds packets; `None` if it does not before the
    /// next [`poll_transmit`](Self::poll_transmit).
    #[must_use]
    pub fn wake_of_freed(&self) -> Option<FreedWake> {
        self.sender.wake_of_freed()
    }

    /// Bytes of truesize that the host has not returned yet (`sk_wmem_alloc`).
    #[must_use]
    pub const fn queued(&self) -> u64 {
        self.sender.queued()
    }

    /// A queue of this host rejected a packet, or dropped one to accept another. Don't return it by
    /// [`handle_freed`](Self::handle_freed) as well. The window is reduced; if the packet was the
    /// last one sent, the state is as before its transmission.
    pub fn handle_dropped_locally(&mut self, now: Instant, packet: &Packet) {
        self.sender.handle_freed(now, u64::from(packet.truesize));
        if self.phase == Phase::Established && packet.segment.is_data() {
            self.sender
                .handle_refused(now, packet.segment.seq, packet.segment.end());
        }
    }

    /// Processes the timer that is due at `now`; see [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
        match self.phase {
            Phase::SynSent | Phase::SynReceived => {
                if self.handshake.until.is_some_and(|until| until <= now) {
                    self.handshake.until = None;
                    let retries = if self.phase == Phase::SynSent {
                        SYN_RETRIES
                    } else {
                        SYN_ACK_RETRIES
                    };
                    if self.handshake.sent > retries {
                        self.die(Event::Failed(Failure::Unreachable));
                    } else {
                        self.handshake.due = true;
                    }
                }
            }
            Phase::Established => {
                self.receiver.handle_timeout(now, self.sender.rto());
                if !self.sender.handle_timeout(now) {
                    self.die(Event::Failed(Failure::TimedOut));
                }
            }
            Phase::Listen | Phase::Dead => {}
        }
    }

    /// Next packet or burst to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if std::mem::take(&mut self.reset_due) {
            return Some(self.transmit_reset(now));
        }
        match self.phase {
            Phase::Listen | Phase::Dead => None,
            Phase::SynSent | Phase::SynReceived => {
                std::mem::take(&mut self.handshake.due).then(|| self.transmit_syn(now))
            }
            Phase::Established => self.transmit_established(now),
        }
    }

    /// Next event for the application.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.connected && !self.reported.connected {
            self.reported.connected = true;
            return Some(Event::Connected);
        }
        let received = self.receiver.received();
        if received > self.reported.received {
            self.reported.received = received;
            return Some(Event::Received(received));
        }
        let acknowledged = self.sender.acknowledged();
        if acknowledged > self.reported.acknowledged {
            self.reported.acknowledged = acknowledged;
            return Some(Event::Acknowledged(acknowledged));
        }
        if self.phase != Phase::Dead && self.sender.poll_writable() {
            return Some(Event::Writable);
        }
        if self.peer_finished && !self.reported.finished {
            self.reported.finished = true;
            return Some(Event::Finished);
        }
        if !self.reported.ended && self.ended.is_some() {
            self.reported.ended = true;
            return self.ended;
        }
        None
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout), and its timer.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, Timer)> {
        match self.phase {
            Phase::Listen | Phase::Dead => None,
            Phase::SynSent | Phase::SynReceived => Some((self.handshake.until?, Timer::Handshake)),
            Phase::Established => {
                let sending = self.sender.poll_timeout().map(|(at, timer)| (at, name(timer)));
                let answering = self.receiver.poll_timeout().map(|at| (at, Timer::DelayedAck));
                match (sending, answering) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                }
            }
        }
    }

    /// Snapshot of the endpoint, as `TCP_INFO`.
    #[must_use]
    pub fn info(&self) -> Info {
        self.sender.info(self.receiver.buffer(), self.receiver.received())
    }

    /// Returns true if the connection is established and neither side has finished.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.phase == Phase::Established && self.ended.is_none()
    }

    fn take_syn(&mut self, segment: &Segment) {
        self.handshake.mss = self.config.mss.min(segment.mss.max(88));
        self.handshake.window = segment.window;
        self.receiver.take_timestamp(segment);
    }

    fn establish(&mut self, now: Instant) {
        let handshake = &self.handshake;
        let first = handshake.sent_at.filter(|_| handshake.sent == 1);
        self.sender.establish(
            now,
            &NegotiatedParams {
                mss: handshake.mss,
                ecn: handshake.ecn,
                window: handshake.window,
                rtt: first.and_then(|at| now.checked_since(at)),
                syn_lost: handshake.sent > 2,
            },
        );
        self.receiver.establish(now, handshake.mss, handshake.ecn);
        self.handshake.until = None;
        self.handshake.due = false;
        self.phase = Phase::Established;
        self.connected = true;
    }

    fn handle_established(&mut self, now: Instant, segment: &Segment, ce: bool) {
        self.sender.wake();
        self.receiver.take_timestamp(segment);
        if segment.flags.contains(Flags::ACK) {
            self.sender.handle_ack(now, segment);
        }
        let (srtt, rto) = (self.sender.srtt(), self.sender.rto());
        let received = self.receiver.handle(now, segment, ce, srtt, rto);
        self.peer_finished |= received.finished;
        if self.ended.is_none() && self.sender.is_done() && self.receiver.is_finished() {
            self.ended = Some(Event::Closed);
        }
    }

    fn transmit_established(&mut self, now: Instant) -> Option<Transmit> {
        if self.receiver.wants_ack() && self.receiver.has_blocks() {
            return Some(self.acknowledgement(now));
        }
        if let Some(outgoing) = self.sender.poll(now) {
            return Some(self.data(now, &outgoing));
        }
        self.receiver.wants_ack().then(|| self.acknowledgement(now))
    }

    fn die(&mut self, event: Event) {
        self.phase = Phase::Dead;
        self.ended.get_or_insert(event);
    }
}

fn name(timer: Option<SenderTimer>) -> Timer {
    match timer {
        Some(SenderTimer::Retransmission) => Timer::Retransmission,
        Some(SenderTimer::TailLossProbe) => Timer::TailLossProbe,
        Some(SenderTimer::Reordering) => Timer::Reordering,
        Some(SenderTimer::Persist) => Timer::Persist,
        None => Timer::Pacing,
    }
}
