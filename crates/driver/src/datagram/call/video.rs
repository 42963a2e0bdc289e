//! One end of a video call with its encoding.

use super::media::{self, MediaDatagram};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::kinds::video_call::video::{VideoConfig, VideoEnd, VideoTransmit};
use netburn_workload::{Adaptation, PacketStream};

/// Parameters of the senders of a video call, beside their streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoParameters {
    /// Minimum rate and start rate.
    pub adaptation: Adaptation,
    /// Age of a frame from which on its packets are not sent any more; more than 0, at most 2 s.
    pub timeout: Duration,
}

/// Maximum `timeout`.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(2);

impl VideoParameters {
    /// Returns true if the parameters are valid for frames of this stream.
    pub fn is_valid(&self, stream: &PacketStream) -> bool {
        let timeout = !self.timeout.is_zero() && self.timeout <= MAX_TIMEOUT;
        timeout && self.adaptation.validate(stream).is_ok()
    }
}

/// A complete frame of the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Number of the frame.
    pub number: u32,
    /// UDP payload of its packets.
    pub size: ByteSize,
    /// Due time of the frame by the server's clock, if the server sent it.
    pub due: Instant,
}

/// One end of a video call.
#[derive(Debug)]
pub struct CallVideo {
    call: u64,
    end: VideoEnd,
}

impl CallVideo {
    /// Creates an end that sends the frames of `stream`.
    pub fn new(call: u64, stream: PacketStream, parameters: VideoParameters) -> Self {
        let end = VideoEnd::new(VideoConfig {
            stream,
            adaptation: parameters.adaptation,
            timeout: parameters.timeout,
        });
        CallVideo { call, end }
    }

    /// Encodes a frame and returns its size.
    pub fn send_frame(&mut self, now: Instant, number: u32) -> ByteSize {
        self.end.send_frame(now, number)
    }

    /// Processes a datagram of the other end. Returns the frame that it completes.
    pub fn handle_datagram(&mut self, now: Instant, datagram: &MediaDatagram) -> Option<Arrived> {
        match datagram {
            MediaDatagram::Media { packet, due, .. } => {
                self.end.handle_media(now, packet);
                let frame = self.end.poll_frame()?;
                Some(Arrived {
                    number: frame.number,
                    size: frame.size,
                    due: *due,
                })
            }
            MediaDatagram::Feedback { feedback, .. } => {
                self.end.handle_feedback(now, feedback);
                None
            }
        }
    }

    /// Handles the timeout at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.end.poll_timeout().map(|(at, _)| at)
    }

    /// Returns the next datagram to send. `due` returns the due time of a frame by the server's clock.
    pub fn poll_transmit(&mut self, due: impl Fn(u32) -> Option<Instant>) -> Option<Vec<u8>> {
        Some(match self.end.poll_transmit()? {
            VideoTransmit::Media(packet) => {
                let due = due(packet.frame).unwrap_or(Instant::ZERO);
                media::media(self.call, &packet, due)
            }
            VideoTransmit::Feedback(feedback) => media::feedback(self.call, &feedback),
        })
    }
}
