//! Segments sent by an endpoint.

use super::{Endpoint, Phase, SYN_TIMEOUT};
use crate::segment::{Flags, SackBlocks, Segment, Transmit};
use crate::sender::Outgoing;
use netburn_units::Instant;

impl Endpoint {
    pub(super) fn acknowledgement(&mut self, now: Instant) -> Transmit {
        let mut segment = self.blank(now, Flags::default());
        self.receiver.fill(&mut segment, true);
        self.bare(segment)
    }

    pub(super) fn data(&mut self, now: Instant, outgoing: &Outgoing) -> Transmit {
        let mut segment = self.blank(now, Flags::default());
        self.receiver.fill(&mut segment, outgoing.window_probe);
        segment.seq = outgoing.start;
        segment.length = outgoing.length;
        let mut flags = segment.flags;
        for (set, flag) in [
            (outgoing.fin, Flags::FIN),
            (outgoing.cwr, Flags::CWR),
            (outgoing.window_probe, Flags::PROBE),
        ] {
            if set {
                flags = flags.with(flag);
            }
        }
        segment.flags = flags;
        if !outgoing.window_probe {
            self.receiver.on_data_sent(now);
        }
        Transmit {
            segment,
            mss: self.handshake.mss,
            packets: outgoing.segments,
            // Neither a retransmission nor a pure acknowledgement (RFC 3168 §6.1.4, §6.1.5).
            ect: self.handshake.ecn && !outgoing.retransmission && outgoing.length > 0,
            truesize: outgoing.truesize,
        }
    }

    pub(super) fn transmit_syn(&mut self, now: Instant) -> Transmit {
        let answer = self.phase == Phase::SynReceived;
        let mut flags = Flags::SYN;
        let mut echo = 0;
        if answer {
            flags = flags.with(Flags::ACK);
            echo = self.receiver.echo();
            if self.handshake.ecn {
                flags = flags.with(Flags::ECE);
            }
        } else if self.config.ecn && self.handshake.sent == 0 {
            // A retry has no ECN, because a device on the path may not support it (RFC 3168
            // §6.1.1.1).
            flags = flags.with(Flags::ECE).with(Flags::CWR);
        }
        let wait = SYN_TIMEOUT * (1 << self.handshake.sent.min(10));
        self.handshake.sent += 1;
        self.handshake.sent_at = Some(now);
        self.handshake.until = Some(now + wait);
        let segment = Segment {
            window: self.receiver.first_window(),
            mss: self.config.mss,
            echo,
            ..self.blank(now, flags)
        };
        self.bare(segment)
    }

    pub(super) fn transmit_reset(&self, now: Instant) -> Transmit {
        self.bare(self.blank(now, Flags::RST))
    }

    fn blank(&self, now: Instant, flags: Flags) -> Segment {
        Segment {
            flags,
            seq: self.sender.next(),
            length: 0,
            ack: 0,
            window: 0,
            sack: SackBlocks::default(),
            timestamp: now.as_nanos().div_euclid(1_000_000),
            echo: 0,
            mss: 0,
        }
    }

    fn bare(&self, segment: Segment) -> Transmit {
        Transmit {
            segment,
            mss: self.handshake.mss,
            packets: 1,
            ect: false,
            truesize: 0,
        }
    }
}
