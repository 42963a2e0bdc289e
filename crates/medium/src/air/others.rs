//! Networks that the scenario doesn't know: the share of the air that they take.

use super::Air;
use super::Event;
use super::channel::{Flight, Kind};
use super::config::OTHERS_FRAME;
use crate::edca::Contender;
use netburn_units::{Duration, Instant, Stream};

/// Transmissions of networks that the scenario doesn't know. Their frames come at random (Poisson), at a rate that makes up their share of
/// the time whatever the scenario's own stations send.
///
/// Each frame that waits stands for a station of its own, which contends like best effort with the smallest window: of n draws the lowest
/// counts. So the further they fall behind, the more often they win, until they have their share; that is what
/// a crowd does. Frames that had to wait go out together, as aggregates do.
#[derive(Debug)]
pub(super) struct Others {
    contender: Contender,
    /// The mean time from one frame to the next, in nanoseconds at the usual clock; infinite when there are none.
    gap: f64,
    /// How many times slower than usual the PHY is clocked.
    clock: u64,
    /// The next frame's coming is on the calendar.
    expected: bool,
    /// Frames that wait.
    waiting: u32,
    on_air: bool,
    chance: Stream,
}

/// AIFSN of best effort: how the others contend.
pub(super) const OTHERS_AIFSN: u32 = 3;
/// The most frames of others that wait: on a channel that leaves them no more they give up.
const OTHERS_WAITING: u32 = 64;
/// The others' contention window: CWmin of OFDM PHYs.
const OTHERS_WINDOW: u32 = 15;
/// The most that go out together.
const OTHERS_TOGETHER: u32 = 3;

/// The mean time between frames that makes up a share of the time, at most 0.95 of it.
fn gap(busy: f64) -> f64 {
    if busy > 0.0 {
        OTHERS_FRAME.as_nanos() as f64 / busy.min(0.95)
    } else {
        f64::INFINITY
    }
}

impl Others {
    /// They take the share `busy`, at most 0.95, of the time.
    pub(super) fn new(contender: Contender, busy: f64, clock: u64, chance: Stream) -> Self {
        Others {
            contender,
            gap: gap(busy),
            clock,
            expected: false,
            waiting: 0,
            on_air: false,
            chance,
        }
    }

    /// They take another share from now on. Whether their next frame must be put on the calendar.
    pub(super) fn set_share(&mut self, busy: f64) -> bool {
        self.gap = gap(busy);
        !self.expected
    }

    /// How long until the next frame comes, if any does.
    fn next_gap(&mut self) -> Option<Duration> {
        self.expected = self.gap.is_finite();
        if !self.expected {
            return None;
        }
        // A uniform number above 0, at most 1.
        let uniform = ((self.chance.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        Some(Duration::from_nanos((-libm::log(uniform) * self.gap) as u64) * self.clock)
    }

    /// The backoff in slots: the lowest of those that the waiting frames' stations draw.
    fn backoff(&mut self) -> u32 {
        let mut lowest = OTHERS_WINDOW;
        for _ in 0..self.waiting.max(1) {
            lowest = lowest.min(self.chance.below(u64::from(OTHERS_WINDOW) + 1) as u32);
            if lowest == 0 {
                break;
            }
        }
        lowest
    }

    /// One more frame. Whether it is to begin to contend.
    fn arrive(&mut self) -> bool {
        self.waiting = (self.waiting + 1).min(OTHERS_WAITING);
        self.waiting == 1 && !self.on_air
    }

    /// Takes the frames that go out now; how long they last.
    fn begin(&mut self) -> Duration {
        let frames = self.waiting.min(OTHERS_TOGETHER);
        self.waiting -= frames;
        self.on_air = true;
        OTHERS_FRAME * u64::from(frames) * self.clock
    }

    /// They have ended. Whether more wait.
    fn end(&mut self) -> bool {
        self.on_air = false;
        self.waiting > 0
    }
}

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Schedules the others' next frame.
    pub(super) fn others_next(&mut self, now: Instant, channel: usize) {
        if let Some(gap) = self.channels[channel].others.next_gap() {
            self.schedule(now + gap, Event::Others { channel });
        }
    }

    /// The others have one more frame.
    pub(super) fn others_arrive(&mut self, now: Instant, index: usize) {
        let channel = &mut self.channels[index];
        let others = &mut channel.others;
        if others.arrive() {
            let contender = others.contender;
            if channel.contention.must_draw(now, contender) {
                let slots = others.backoff();
                channel.contention.back_off(now, contender, slots, false);
            }
            channel.contention.wait(contender);
        }
        self.others_next(now, index);
    }

    pub(super) fn others_begin(&mut self, now: Instant, channel: usize) {
        let length = self.channels[channel].others.begin();
        self.fly(Flight::new(Kind::Others, None, None, now, length), channel);
    }

    pub(super) fn others_end(&mut self, now: Instant, channel: usize) {
        let channel = &mut self.channels[channel];
        let others = &mut channel.others;
        let (contender, more, slots) = (others.contender, others.end(), others.backoff());
        channel.contention.back_off(now, contender, slots, false);
        if more {
            channel.contention.wait(contender);
        }
    }
}
