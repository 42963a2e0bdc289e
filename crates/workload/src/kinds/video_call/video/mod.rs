//! One end of a video call: a sender of frames whose rate follows [GCC](crate::kinds::video_call::gcc), and a receiver of frames.
//!
//! - `sender`: frames become packets, which are paced at 2.5 times the rate. Lost packets are sent again.
//! - `receiver`: complete frames, and feedback about the packets that arrived.
//!
//! The model is that of draft-ietf-rmcat-gcc-02 with transport-wide feedback
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01). Every transmission of a packet has a transport number of its
//! own. A feedback is sent 100 ms after the previous one, 20 ms after it if a packet is missing, or when 150 packets have
//! arrived. Each feedback repeats the content of the previous one, so one lost feedback has no effect. The sender sends a missing packet
//! again, as an answer to a NACK (RFC 4585), until the frame is too old. All frames have the same size at a given
//! rate: there are no key frames. There are no probes: libwebrtc reaches the rate of the path within about one second
//! by probes, this model by GCC's increase of 8 % per second.

mod receiver;
mod sender;

use crate::common::PacketStream;
use crate::kinds::video_call::Adaptation;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use receiver::Receiver;
use sender::Sender;
use std::collections::VecDeque;

/// Maximum number of transport numbers in a feedback.
pub const MAX_REPORTED: usize = 300;

/// Length of a feedback without ages, in bytes of the UDP payload. Each age has 4 bytes.
pub const FEEDBACK_HEADER: u64 = 32;

/// Settings of the sender of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoConfig {
    /// Frames at the maximum rate: interval, maximum packets and maximum size of a packet. Its rate is the maximum
    /// rate.
    pub stream: PacketStream,
    /// Minimum rate and start rate.
    pub adaptation: Adaptation,
    /// Age of a frame from which on its packets are not sent any more.
    pub timeout: Duration,
}

/// A packet of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaPacket {
    /// Number of the transmission, from 0. A packet that is sent again has a new one.
    pub transport: u64,
    /// Number of the frame.
    pub frame: u32,
    /// Place in the frame, from 0.
    pub index: u16,
    /// Packets of the frame, 1 to 1000.
    pub count: u16,
    /// UDP payload.
    pub size: ByteSize,
}

/// Feedback of a receiver: which transmissions have arrived, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// Time at which the feedback was made, by the receiver's clock.
    pub stamp: Instant,
    /// Transport number of the first age.
    pub from: u64,
    /// Times from the arrivals to `stamp`; `None` for a transmission that has not arrived. At most [`MAX_REPORTED`].
    pub ages: Vec<Option<Duration>>,
}

impl Feedback {
    /// Length of the UDP payload.
    #[must_use]
    pub fn size(&self) -> ByteSize {
        ByteSize::from_bytes(FEEDBACK_HEADER + 4 * self.ages.len() as u64)
    }
}

/// A datagram to send to the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VideoTransmit {
    /// A packet of a frame.
    Media(MediaPacket),
    /// Feedback.
    Feedback(Feedback),
}

/// A frame all of whose packets have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteFrame {
    /// Number of the frame.
    pub number: u32,
    /// UDP payload of its packets.
    pub size: ByteSize,
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VideoWake {
    /// The pacer sends the next packet.
    Pace,
    /// A feedback is due.
    Feedback,
}

/// One end of a video call.
///
/// **Call order:** after every `handle_*` and [`send_frame`](Self::send_frame), drain
/// [`poll_transmit`](Self::poll_transmit) and [`poll_frame`](Self::poll_frame), then call
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout). Times do not decrease.
#[derive(Debug)]
pub struct VideoEnd {
    sender: Sender,
    receiver: Receiver,
    out: VecDeque<VideoTransmit>,
    complete: VecDeque<CompleteFrame>,
}

impl VideoEnd {
    /// Creates an end that has sent and received nothing.
    #[must_use]
    pub fn new(config: VideoConfig) -> Self {
        VideoEnd {
            sender: Sender::new(config),
            receiver: Receiver::default(),
            out: VecDeque::new(),
            complete: VecDeque::new(),
        }
    }

    /// Encodes a frame at the current rate and queues its packets. Returns its size. Numbers increase.
    pub fn send_frame(&mut self, now: Instant, number: u32) -> ByteSize {
        let size = self.sender.send_frame(now, number);
        self.sender.handle_timeout(now, &mut self.out);
        size
    }

    /// Processes a packet of the other end. Duplicates and invalid ones are ignored.
    pub fn handle_media(&mut self, now: Instant, packet: &MediaPacket) {
        self.complete.extend(self.receiver.handle_media(now, packet));
    }

    /// Processes a feedback of the other end. One that is older than a previous one is ignored.
    pub fn handle_feedback(&mut self, now: Instant, feedback: &Feedback) {
        self.sender.handle_feedback(now, feedback);
        self.sender.handle_timeout(now, &mut self.out);
    }

    /// Handles all timeouts up to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.sender.handle_timeout(now, &mut self.out);
        let feedback = self.receiver.handle_timeout(now);
        self.out.extend(feedback.map(VideoTransmit::Feedback));
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<VideoTransmit> {
        self.out.pop_front()
    }

    /// Returns the next frame that became complete at the last [`handle_media`](Self::handle_media).
    pub fn poll_frame(&mut self) -> Option<CompleteFrame> {
        self.complete.pop_front()
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout) and its reason.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, VideoWake)> {
        let pace = self.sender.poll_timeout().map(|at| (at, VideoWake::Pace));
        let feedback = self.receiver.poll_timeout().map(|at| (at, VideoWake::Feedback));
        pace.into_iter().chain(feedback).min()
    }

    /// Rate at which the next frame is encoded.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.sender.rate()
    }
}
