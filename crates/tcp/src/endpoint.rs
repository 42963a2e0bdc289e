//! One end of a connection: the handshake, both halves, and the end.

mod outgoing;

use crate::config::EndpointConfig;
use crate::congestion::Congestion;
use crate::event::{Event, Failure, Timer, Unmodelled};
use crate::info::Info;
use crate::receiver::Receiver;
use crate::segment::{Flags, Packet, Segment, Transmit};
use crate::sender::{Agreed, Sender, SenderTimer};
use netburn_units::{Duration, Instant};

/// The first time-out of a SYN (RFC 6298 §2.1); each repetition doubles it.
const SYN_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a SYN is sent again (`tcp_syn_retries`), and its answer (`tcp_synack_retries`).
const SYN_RETRIES: u32 = 6;
const SYN_ACK_RETRIES: u32 = 5;

/// One end of a connection, full duplex.
///
/// After every call of a `handle_*` method, [`write`](Self::write), [`finish`](Self::finish) or [`abort`](Self::abort):
/// drain [`poll_transmit`](Self::poll_transmit), then [`poll_event`](Self::poll_event) (and `poll_transmit` again if you
/// wrote), then come back at [`poll_timeout`](Self::poll_timeout) or when something happens. `now` never goes back.
///
/// The host must give back every [`Packet`]'s `truesize`: with [`handle_freed`](Self::handle_freed) when it has left,
/// with [`handle_dropped_locally`](Self::handle_dropped_locally) when a queue of the host refuses or drops it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    config: EndpointConfig,
    phase: Phase,
    sender: Sender,
    receiver: Receiver,
    handshake: Handshake,
    /// A reset is to be sent.
    reset_due: bool,
    connected: bool,
    peer_finished: bool,
    ended: Option<Event>,
    told: Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Listen,
    SynSent,
    SynReceived,
    Established,
    /// Reset, aborted or given up.
    Dead,
}

/// The SYN, or its answer, under way.
#[derive(Debug, Clone)]
struct Handshake {
    due: bool,
    sent: u32,
    sent_at: Option<Instant>,
    until: Option<Instant>,
    /// What the peer's SYN said.
    mss: u32,
    ecn: bool,
    window: u64,
}

/// What has been reported.
#[derive(Debug, Clone, Default)]
struct Told {
    connected: bool,
    received: u64,
    acknowledged: u64,
    finished: bool,
    ended: bool,
}

impl Endpoint {
    /// Opens a connection: a SYN is due at once.
    ///
    /// # Errors
    /// When the congestion control can't be modelled.
    pub fn connect(config: &EndpointConfig, now: Instant) -> Result<Self, Unmodelled> {
        let mut endpoint = Self::new(config, now, Phase::SynSent)?;
        endpoint.handshake.due = true;
        Ok(endpoint)
    }

    /// Waits for a SYN.
    ///
    /// # Errors
    /// When the congestion control can't be modelled.
    pub fn listen(config: &EndpointConfig, now: Instant) -> Result<Self, Unmodelled> {
        Self::new(config, now, Phase::Listen)
    }

    fn new(config: &EndpointConfig, now: Instant, phase: Phase) -> Result<Self, Unmodelled> {
        let congestion = Congestion::new(&config.congestion, config.initial_window.max(1), config.random)
            .ok_or_else(|| Unmodelled(config.congestion.clone()))?;
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
            told: Told::default(),
        })
    }

    /// The application hands over `bytes` to be sent. Says how many were taken: what the send buffer has room for. When
    /// not all were, [`Event::Writable`] follows.
    pub fn write(&mut self, _now: Instant, bytes: u64) -> u64 {
        if self.phase == Phase::Dead {
            0
        } else {
            self.sender.write(bytes)
        }
    }

    /// The application has no more: a FIN follows the last byte.
    pub fn finish(&mut self, _now: Instant) {
        self.sender.finish();
    }

    /// Gives the connection up: a reset goes to the peer.
    pub fn abort(&mut self, _now: Instant) {
        if self.phase == Phase::Dead {
            return;
        }
        self.reset_due = matches!(self.phase, Phase::SynReceived | Phase::Established) && self.ended.is_none();
        self.die(Event::Closed);
    }

    /// A segment came from the peer. `ce`: a queue on the way marked it (RFC 3168).
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
            // The answer to our SYN again: our acknowledgement was lost.
            Phase::Established if syn => self.receiver.acknowledge_now(),
            Phase::Established => self.handle_established(now, segment, ce),
        }
    }

    /// Packets of `truesize` bytes together have left the host.
    pub fn handle_freed(&mut self, _now: Instant, truesize: u64) {
        self.sender.handle_freed(truesize);
    }

    /// A queue of this host refused a packet, or dropped one to take another. It need not be given back by
    /// [`handle_freed`](Self::handle_freed) as well. The window is reduced; if the packet was the last one sent, it is as
    /// if it hadn't been sent.
    pub fn handle_dropped_locally(&mut self, now: Instant, packet: &Packet) {
        self.sender.handle_freed(u64::from(packet.truesize));
        if self.phase == Phase::Established && packet.segment.is_data() {
            self.sender
                .handle_refused(now, packet.segment.seq, packet.segment.end());
        }
    }

    /// Does what is due at `now`; see [`poll_timeout`](Self::poll_timeout).
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

    /// The next thing to send: one packet, or a burst of several.
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

    /// What the application should know.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.connected && !self.told.connected {
            self.told.connected = true;
            return Some(Event::Connected);
        }
        let received = self.receiver.received();
        if received > self.told.received {
            self.told.received = received;
            return Some(Event::Received(received));
        }
        let acknowledged = self.sender.acknowledged();
        if acknowledged > self.told.acknowledged {
            self.told.acknowledged = acknowledged;
            return Some(Event::Acknowledged(acknowledged));
        }
        if self.phase != Phase::Dead && self.sender.poll_writable() {
            return Some(Event::Writable);
        }
        if self.peer_finished && !self.told.finished {
            self.told.finished = true;
            return Some(Event::Finished);
        }
        if !self.told.ended && self.ended.is_some() {
            self.told.ended = true;
            return self.ended;
        }
        None
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and what for.
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

    /// A look at it.
    #[must_use]
    pub fn info(&self) -> Info {
        self.sender.info(self.receiver.buffer(), self.receiver.received())
    }

    /// Whether it is established and neither side has ended it.
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
            &Agreed {
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
