//! Buffer of a video player: bytes in, stalls out.

use crate::common::PlayerConfig;
use crate::operation::Stall;
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// A player that buffers, plays at a constant rate, stalls when its buffer is empty, and resumes
/// when enough is buffered.
///
/// **Call order:** `handle_*` in the order of time; [`handle_timeout`](Self::handle_timeout) at the
/// time of [`poll_timeout`](Self::poll_timeout), when the buffer becomes empty;
/// [`stop`](Self::stop) once, at the end.
///
/// Media are counted in billionths of a bit, so that the amount played in an integer number of
/// nanoseconds is an integer. The only rounding: the buffer becomes empty at the next whole
/// nanosecond.
#[derive(Debug, Clone)]
pub struct Player {
    /// Bits per second, which is also the amount of media played in a nanosecond.
    rate: u128,
    /// Media required to start or resume.
    enough: u128,
    /// Maximum of the buffer.
    max_buffer: u128,
    /// Media buffered at `at`.
    level: u128,
    at: Instant,
    began: Instant,
    startup: Option<Duration>,
    state: State,
    stalls: VecDeque<Stall>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Playback has not started yet.
    StartingUp,
    Playing,
    Stalled {
        began: Instant,
    },
    Stopped,
}

/// A byte in billionths of a bit.
const BYTE: u128 = 8 * 1_000_000_000;

impl Player {
    /// Creates a player that starts at `now` with an empty buffer.
    #[must_use]
    pub fn new(config: PlayerConfig, now: Instant) -> Self {
        let rate = u128::from(config.rate.as_bps().max(1));
        let enough = (rate * u128::from(config.start.as_nanos())).max(1);
        Player {
            rate,
            enough,
            max_buffer: (rate * u128::from(config.max_buffer.as_nanos())).max(enough),
            level: 0,
            at: now,
            began: now,
            startup: None,
            state: State::StartingUp,
            stalls: VecDeque::new(),
        }
    }

    /// Time from `new` to the start of playback; `None` until then.
    #[must_use]
    pub fn startup(&self) -> Option<Duration> {
        self.startup
    }

    /// Playback time of the buffer, rounded down to a nanosecond.
    #[must_use]
    pub fn buffered(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.level / self.rate).unwrap_or(u64::MAX))
    }

    /// `bytes` of media were received.
    pub fn handle_bytes(&mut self, now: Instant, bytes: u64) {
        self.put(now, u128::from(bytes) * BYTE);
    }

    /// Media with this playback time were received.
    pub fn handle_media(&mut self, now: Instant, length: Duration) {
        self.put(now, self.rate * u128::from(length.as_nanos()));
    }

    /// Media in billionths of a bit were received.
    fn put(&mut self, now: Instant, media: u128) {
        self.play_until(now);
        if self.state == State::Stopped {
            return;
        }
        // Media that arrive at the instant at which the buffer becomes empty prevent a stall.
        self.level = self.level.saturating_add(media).min(self.max_buffer);
        if self.level < self.enough {
            return;
        }
        match self.state {
            State::StartingUp => {
                self.startup = now.max(self.began).checked_since(self.began);
                self.state = State::Playing;
            }
            State::Stalled { began } => {
                self.close_stall(began, self.at);
                self.state = State::Playing;
            }
            State::Playing | State::Stopped => {}
        }
    }

    /// First time from `now` on at which the buffer has room for media with this playback time, if no other media arrive.
    /// `now`, if it has room already or does not play.
    #[must_use]
    pub fn room_at(&self, now: Instant, length: Duration) -> Instant {
        let level = self.level.saturating_add(self.rate * u128::from(length.as_nanos()));
        let excess = level.saturating_sub(self.max_buffer).div_ceil(self.rate);
        let room = match (self.state, u64::try_from(excess)) {
            (State::Playing, Ok(excess)) => self.at.checked_add(Duration::from_nanos(excess)),
            _ => None,
        };
        room.map_or(now, |room| room.max(now))
    }

    /// Processes the time up to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.play_until(now);
        if self.state == State::Playing && self.level == 0 {
            self.state = State::Stalled { began: self.at };
        }
    }

    /// Stops the player at `now`; a current stall ends here. Initial buffering is not a stall, but
    /// a player that never started has stalled for the whole time: the viewer saw nothing.
    pub fn stop(&mut self, now: Instant) {
        self.play_until(now);
        match self.state {
            State::Stalled { began } => self.close_stall(began, self.at),
            State::StartingUp => self.close_stall(self.began, self.at),
            State::Playing | State::Stopped => {}
        }
        self.state = State::Stopped;
    }

    /// Next stall that has ended. One of zero length is omitted.
    pub fn poll_stall(&mut self) -> Option<Stall> {
        self.stalls.pop_front()
    }

    /// Time at which the buffer becomes empty if no more bytes arrive.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Playing => self.empty_at(),
            State::StartingUp | State::Stalled { .. } | State::Stopped => None,
        }
    }

    /// The first whole nanosecond at which the buffer is empty.
    fn empty_at(&self) -> Option<Instant> {
        let nanos = u64::try_from(self.level.div_ceil(self.rate)).ok()?;
        self.at.checked_add(Duration::from_nanos(nanos))
    }

    /// Plays the buffer up to `now`. If the buffer became empty before, a stall began then.
    fn play_until(&mut self, now: Instant) {
        let Some(span) = now.checked_since(self.at) else {
            return;
        };
        if self.state == State::Playing {
            match self.empty_at().filter(|empty| *empty < now) {
                Some(empty) => {
                    self.level = 0;
                    self.state = State::Stalled { began: empty };
                }
                None => self.level = self.level.saturating_sub(self.rate * u128::from(span.as_nanos())),
            }
        }
        self.at = now;
    }

    fn close_stall(&mut self, began: Instant, ended: Instant) {
        let length = ended.checked_since(began).unwrap_or_default();
        if !length.is_zero() {
            self.stalls.push_back(Stall { began, length });
        }
    }
}
