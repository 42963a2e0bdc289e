//! When it is looked whether kernels have sent more: at once, or, where they send much, after a while.

use netburn_linux::Monotonic;
use netburn_units::Duration;

/// So long it isn't looked where kernels send much.
const REST: Duration = Duration::from_micros(100);
/// So long where the air is taken meanwhile, and what they send has to wait anyway. A network card that receives much interrupts its
/// host some 4,000 times a second or less.
const LONG: Duration = Duration::from_micros(500);
/// They send much when so many frames are remembered. Of what was read a quarter is forgotten every [`WITHIN`], so that a steady
/// sender's last four are remembered: it is five a millisecond.
const MUCH: u32 = 20;
const WITHIN: Duration = Duration::from_millis(1);

/// When it is looked whether kernels have sent more.
///
/// **Call order:** [`handle_look`](Self::handle_look) after every look; the next is due when there is something to be read, or where
/// kernels [send much](Self::much) at [`next`](Self::next).
#[derive(Debug)]
pub(super) struct Looks {
    last: Monotonic,
    frames: u32,
    /// When something was forgotten last.
    since: Monotonic,
}

impl Looks {
    /// Nothing was sent yet.
    pub(super) const fn new(now: Monotonic) -> Looks {
        Looks {
            last: now,
            frames: 0,
            since: now,
        }
    }

    /// So many frames were there.
    pub(super) fn handle_look(&mut self, now: Monotonic, frames: u32) {
        while self.frames > 0 && now.saturating_since(self.since) >= WITHIN {
            self.frames = self.frames * 3 / 4;
            self.since = self.since + WITHIN;
        }
        if self.frames == 0 {
            self.since = now;
        }
        self.frames = self.frames.saturating_add(frames);
        self.last = now;
    }

    /// Whether kernels send so much that microseconds of one packet don't matter.
    pub(super) const fn much(&self) -> bool {
        self.frames >= MUCH
    }

    /// When to look next, where nothing is delivered before `soonest`, and nothing that is sent now.
    pub(super) fn next(&self, soonest: Monotonic) -> Monotonic {
        soonest.clamp(self.last + REST, self.last + LONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Monotonic {
        Monotonic::from_nanos(1_000_000_000 + micros * 1_000)
    }

    /// Whether so many frames every so many µs are much.
    fn is_much(frames: u32, every: i64) -> bool {
        let mut looks = Looks::new(at(0));
        for number in 1..=20_000 / every {
            looks.handle_look(at(number * every), frames);
        }
        looks.much()
    }

    #[test]
    fn it_is_much_from_five_a_millisecond_on_however_often_it_is_looked() {
        for (frames, every, much) in [
            (1, 250, false),
            (1, 160, true),
            (2, 500, false),
            (4, 500, true),
            (40, 5_000, true),
            (10, 5_000, false),
            (1, 20_000, false),
        ] {
            assert_eq!(is_much(frames, every), much, "{frames} frames every {every} µs");
        }
    }

    #[test]
    fn what_was_much_is_forgotten_when_nothing_more_comes() {
        let mut looks = Looks::new(at(0));
        looks.handle_look(at(100), 60);
        assert!(looks.much());
        // 60, 45, 33, 24, 18.
        looks.handle_look(at(3_100), 0);
        assert!(looks.much());
        looks.handle_look(at(4_100), 0);
        assert!(!looks.much());
        // After a long time nothing of it is left.
        looks.handle_look(at(1_000_000), 19);
        assert!(!looks.much());
    }

    #[test]
    fn it_rests_for_longer_while_the_air_is_taken() {
        let mut looks = Looks::new(at(0));
        looks.handle_look(at(1_000), 0);
        for (soonest, next) in [(1_000, 1_100), (1_250, 1_250), (9_000, 1_500)] {
            assert_eq!(looks.next(at(soonest)), at(next));
        }
    }
}
