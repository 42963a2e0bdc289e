//! Other networks (overlapping BSSs): their share of the airtime.

use super::config::OBSS_FRAME;
use crate::edca::Contender;
use netburn_units::{Duration, RandomStream};

/// Transmissions of networks outside of the scenario (overlapping BSSs). Their frames arrive at
/// random (Poisson), at a rate that yields their share of the time, independent of the scenario's
/// stations.
///
/// Each waiting frame represents a separate station, which contends with best effort and the
/// smallest window: the lowest of n draws counts. So the more frames wait, the more often they win,
/// until they have their share, as with many stations. Waiting frames are sent together, as in
/// aggregates.
#[derive(Debug)]
pub(super) struct Obss {
    pub(super) contender: Contender,
    /// Mean time between frames, in nanoseconds at the normal clock; infinite without other
    /// networks.
    gap: f64,
    /// Clock divider of the PHY.
    clock: u64,
    /// True if the arrival of the next frame is scheduled.
    expected: bool,
    /// Number of waiting frames.
    waiting: u32,
    on_air: bool,
    rng: RandomStream,
}

/// AIFSN of best effort.
pub(super) const OBSS_AIFSN: u32 = 3;
/// Maximum number of waiting frames: further ones are dropped if the channel leaves no more room.
const OBSS_WAITING: u32 = 64;
/// Contention window: CWmin of OFDM PHYs.
const OBSS_WINDOW: u32 = 15;
/// Maximum number of frames sent together.
const OBSS_TOGETHER: u32 = 3;

/// Mean time between frames for a share of the time, at most 0.95.
fn gap(busy: f64) -> f64 {
    if busy > 0.0 {
        OBSS_FRAME.as_nanos() as f64 / busy.min(0.95)
    } else {
        f64::INFINITY
    }
}

impl Obss {
    /// Creates the model for the share `busy`, at most 0.95, of the time.
    pub(super) fn new(contender: Contender, busy: f64, clock: u64, rng: RandomStream) -> Self {
        Obss {
            contender,
            gap: gap(busy),
            clock,
            expected: false,
            waiting: 0,
            on_air: false,
            rng,
        }
    }

    /// Sets the airtime share. Returns true if the next frame must be scheduled.
    pub(super) fn set_share(&mut self, busy: f64) -> bool {
        self.gap = gap(busy);
        !self.expected
    }

    /// Time to the arrival of the next frame, if any.
    pub(super) fn next_gap(&mut self) -> Option<Duration> {
        self.expected = self.gap.is_finite();
        if !self.expected {
            return None;
        }
        // A uniform number above 0, at most 1.
        let uniform = ((self.rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        Some(Duration::from_nanos((-libm::log(uniform) * self.gap) as u64) * self.clock)
    }

    /// Backoff in slots: the minimum of the draws of all waiting frames.
    pub(super) fn backoff(&mut self) -> u32 {
        let mut lowest = OBSS_WINDOW;
        for _ in 0..self.waiting.max(1) {
            lowest = lowest.min(self.rng.below(u64::from(OBSS_WINDOW) + 1) as u32);
            if lowest == 0 {
                break;
            }
        }
        lowest
    }

    /// Adds a frame. Returns true if contention must start.
    pub(super) fn arrive(&mut self) -> bool {
        self.waiting = (self.waiting + 1).min(OBSS_WAITING);
        self.waiting == 1 && !self.on_air
    }

    /// Removes the frames to be sent now. Returns their duration.
    pub(super) fn begin(&mut self) -> Duration {
        let frames = self.waiting.min(OBSS_TOGETHER);
        self.waiting -= frames;
        self.on_air = true;
        OBSS_FRAME * u64::from(frames) * self.clock
    }

    /// Ends the transmission. Returns true if more frames wait.
    pub(super) fn end(&mut self) -> bool {
        self.on_air = false;
        self.waiting > 0
    }
}
