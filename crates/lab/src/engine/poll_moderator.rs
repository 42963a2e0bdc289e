//! Times at which the devices are polled: immediately, or after a delay under high packet rates (interrupt moderation).

use netburn_platform::Monotonic;
use netburn_units::Duration;

/// Delay between two polls under load.
const MIN_DELAY: Duration = Duration::from_micros(100);
/// Delay between two polls under load while the modelled channel is busy, so that new packets are queued anyway.
/// Network cards under load raise at most about 4,000 interrupts per second.
const MAX_DELAY: Duration = Duration::from_micros(500);
/// Load threshold in frames of a counter that decays by a quarter every [`DECAY_INTERVAL`]. At a steady rate, the
/// counter contains the last 4 ms: the threshold is 5 frames per ms.
const LOAD_THRESHOLD: u32 = 20;
const DECAY_INTERVAL: Duration = Duration::from_millis(1);

/// Decides when the devices are polled next.
///
/// **Call order:** call [`on_poll`](Self::on_poll) after every poll. The next poll is due when a device is readable
/// or, [under load](Self::is_loaded), at [`next`](Self::next).
#[derive(Debug)]
pub(super) struct PollModerator {
    last: Monotonic,
    frames: u32,
    /// Time of the last decay.
    since: Monotonic,
}

impl PollModerator {
    /// Creates a moderator without load.
    pub(super) const fn new(now: Monotonic) -> PollModerator {
        PollModerator {
            last: now,
            frames: 0,
            since: now,
        }
    }

    /// Records a poll that read `frames` frames.
    pub(super) fn on_poll(&mut self, now: Monotonic, frames: u32) {
        while self.frames > 0 && now.saturating_since(self.since) >= DECAY_INTERVAL {
            self.frames = self.frames * 3 / 4;
            self.since = self.since + DECAY_INTERVAL;
        }
        if self.frames == 0 {
            self.since = now;
        }
        self.frames = self.frames.saturating_add(frames);
        self.last = now;
    }

    /// Returns whether packet rates are so high that a delay of microseconds has no effect.
    pub(super) const fn is_loaded(&self) -> bool {
        self.frames >= LOAD_THRESHOLD
    }

    /// Returns the time of the next poll, if no packet can be delivered before `earliest`.
    pub(super) fn next(&self, earliest: Monotonic) -> Monotonic {
        earliest.clamp(self.last + MIN_DELAY, self.last + MAX_DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Monotonic {
        Monotonic::from_nanos(1_000_000_000 + micros * 1_000)
    }

    /// Returns whether `frames` frames every `every` µs are a load.
    fn load_at(frames: u32, every: i64) -> bool {
        let mut moderator = PollModerator::new(at(0));
        for number in 1..=20_000 / every {
            moderator.on_poll(at(number * every), frames);
        }
        moderator.is_loaded()
    }

    #[test]
    fn five_frames_per_millisecond_are_a_load_at_any_polling_rate() {
        for (frames, every, is_loaded) in [
            (1, 250, false),
            (1, 160, true),
            (2, 500, false),
            (4, 500, true),
            (40, 5_000, true),
            (10, 5_000, false),
            (1, 20_000, false),
        ] {
            assert_eq!(load_at(frames, every), is_loaded, "{frames} frames every {every} µs");
        }
    }

    #[test]
    fn the_load_decays_without_frames() {
        let mut moderator = PollModerator::new(at(0));
        moderator.on_poll(at(100), 60);
        assert!(moderator.is_loaded());
        // 60, 45, 33, 24, 18.
        moderator.on_poll(at(3_100), 0);
        assert!(moderator.is_loaded());
        moderator.on_poll(at(4_100), 0);
        assert!(!moderator.is_loaded());
        // After a long time, the counter is zero.
        moderator.on_poll(at(1_000_000), 19);
        assert!(!moderator.is_loaded());
    }

    #[test]
    fn polls_are_delayed_longer_while_the_channel_is_busy() {
        let mut moderator = PollModerator::new(at(0));
        moderator.on_poll(at(1_000), 0);
        for (earliest, next) in [(1_000, 1_100), (1_250, 1_250), (9_000, 1_500)] {
            assert_eq!(moderator.next(at(earliest)), at(next));
        }
    }
}
