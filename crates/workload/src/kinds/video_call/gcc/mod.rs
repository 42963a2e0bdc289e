//! Google congestion control (GCC) of a real-time sender. The structure is that of draft-ietf-rmcat-gcc-02. Where libwebrtc
//! has another rule or constant, it is that of libwebrtc, because browsers use it.
//!
//! - `groups`: packets that were sent together, and the variation of their delay (section 5.2).
//! - `trend`: growth of the delay; libwebrtc has it instead of the Kalman filter (section 5.3).
//! - `detector`: over-use of the bottleneck (section 5.4).
//! - `aimd`: rate by the detector's signal (section 5.5).
//! - `loss`: rate by the share of lost packets (section 6).
//! - `received`: rate at which packets arrive.
//!
//! Both controllers run at the sender, as in libwebrtc, with the arrival times that the receiver
//! reports. The rate is the lower one of both.

mod aimd;
mod detector;
mod groups;
mod loss;
mod received;
mod trend;

pub use detector::Signal;

use aimd::Aimd;
use detector::Detector;
use groups::Groups;
use loss::LossController;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use received::Received;
use trend::Trend;

/// After this time without feedback, earlier delays do not count. libwebrtc has the same timeout.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Range of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GccConfig {
    /// Rate until the first feedback.
    pub start: BitRate,
    /// Minimum rate.
    pub min: BitRate,
    /// Maximum rate.
    pub max: BitRate,
}

/// A packet in a feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketReport {
    /// Time of sending, by the sender's clock.
    pub sent: Instant,
    /// Time of the arrival, by the receiver's clock. `None`: the packet is lost.
    pub arrived: Option<Instant>,
    /// Length of the packet.
    pub size: ByteSize,
}

/// Rate control of one sender.
///
/// **Call order:** call [`handle_feedback`](Self::handle_feedback) for each feedback of the receiver, with times that do not
/// decrease. [`rate`](Self::rate) is the rate at which the sender encodes.
#[derive(Debug, Clone)]
pub struct Gcc {
    config: GccConfig,
    /// Last feedback with an arrival.
    last_feedback: Option<Instant>,
    groups: Groups,
    trend: Trend,
    detector: Detector,
    aimd: Aimd,
    loss: LossController,
    received: Received,
    signal: Signal,
}

impl Gcc {
    /// Creates a controller with the start rate.
    #[must_use]
    pub fn new(config: GccConfig) -> Self {
        let start = config.start.clamp(config.min, config.max.max(config.min));
        Gcc {
            config,
            last_feedback: None,
            groups: Groups::default(),
            trend: Trend::default(),
            detector: Detector::default(),
            aimd: Aimd::new(bps(start)),
            loss: LossController::new(bps(start)),
            received: Received::default(),
            signal: Signal::Normal,
        }
    }

    /// Processes the packets of a feedback, in the order of sending. Each packet is reported once. `round_trip` is the time
    /// from sending to the arrival of the feedback.
    pub fn handle_feedback(&mut self, now: Instant, round_trip: Duration, packets: &[PacketReport]) {
        let lost = packets.iter().filter(|packet| packet.arrived.is_none()).count();
        if lost < packets.len() {
            let last = self.last_feedback.replace(now);
            let pause = last.and_then(|last| now.checked_since(last));
            if pause.is_some_and(|pause| pause > TIMEOUT) {
                self.reset_delays();
            }
        }
        for packet in packets {
            let Some(arrived) = packet.arrived else { continue };
            self.received.put(arrived, packet.size);
            if let Some(variation) = self.groups.put(packet.sent, arrived) {
                let trend = self.trend.update(&variation);
                self.signal = self.detector.update(trend, variation.at_ms, variation.sent_ms);
            }
        }
        let range = (bps(self.config.min), bps(self.config.max.max(self.config.min)));
        self.loss.update(now, lost, packets.len(), range);
        if lost < packets.len() {
            let received = self.received.rate();
            self.aimd.update(now, self.signal, received, round_trip, range);
        }
    }

    fn reset_delays(&mut self) {
        self.groups = Groups::default();
        self.trend = Trend::default();
        self.detector = Detector::default();
        self.signal = Signal::Normal;
    }

    /// Returns the rate.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        let lower = self.aimd.rate().min(self.loss.rate());
        BitRate::from_bps(lower as u64).clamp(self.config.min, self.config.max.max(self.config.min))
    }

    /// Returns the last signal of the over-use detector.
    #[must_use]
    pub fn signal(&self) -> Signal {
        self.signal
    }
}

fn bps(rate: BitRate) -> f64 {
    rate.as_bps() as f64
}

/// `later` − `earlier` in ms, which may be negative.
fn millis_between(later: Instant, earlier: Instant) -> f64 {
    match later.checked_since(earlier) {
        Some(span) => span.as_millis_f64(),
        None => -earlier.since(later).as_millis_f64(),
    }
}
