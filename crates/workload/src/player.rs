//! A video player's buffer: bytes in, stalls out.

use crate::config::PlayerConfig;
use crate::operation::Stall;
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// A player that waits until enough is buffered, plays at a constant rate, and stands still when it runs empty until
/// enough is buffered again.
///
/// **Call order:** `handle_*` in the order of time; [`poll_timeout`](Self::poll_timeout) says when it will run empty,
/// and [`handle_timeout`](Self::handle_timeout) is due then; [`stop`](Self::stop) once, at the end.
///
/// Media is counted in billionths of a bit, so that what plays in a whole number of nanoseconds is a whole number; the
/// only rounding is that it runs empty at the next whole nanosecond.
#[derive(Debug, Clone)]
pub struct Player {
    /// Bits per second, which is also the media that plays in a nanosecond.
    rate: u128,
    /// Media that must be buffered to begin or go on.
    enough: u128,
    /// The most that is held.
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
    /// It has not begun yet.
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
    /// A player that is switched on at `now` with nothing buffered.
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

    /// How long it took from being switched on until it began to play; `None` until then.
    #[must_use]
    pub fn startup(&self) -> Option<Duration> {
        self.startup
    }

    /// How long it can go on with what it holds, rounded down to a nanosecond.
    #[must_use]
    pub fn buffered(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.level / self.rate).unwrap_or(u64::MAX))
    }

    /// `bytes` of media arrived.
    pub fn handle_bytes(&mut self, now: Instant, bytes: u64) {
        self.play_until(now);
        if self.state == State::Stopped {
            return;
        }
        // Bytes that come at the very instant it would run empty keep it going.
        self.level = self.level.saturating_add(u128::from(bytes) * BYTE).min(self.max_buffer);
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

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.play_until(now);
        if self.state == State::Playing && self.level == 0 {
            self.state = State::Stalled { began: self.at };
        }
    }

    /// It is switched off at `now`; a stall under way ends here. Waiting to start is no stall, but never to have
    /// started is one from beginning to end: whoever watched saw nothing.
    pub fn stop(&mut self, now: Instant) {
        self.play_until(now);
        match self.state {
            State::Stalled { began } => self.close_stall(began, self.at),
            State::StartingUp => self.close_stall(self.began, self.at),
            State::Playing | State::Stopped => {}
        }
        self.state = State::Stopped;
    }

    /// The next stall that has ended. One without length is none.
    pub fn poll_stall(&mut self) -> Option<Stall> {
        self.stalls.pop_front()
    }

    /// When it will run empty if nothing more comes.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Playing => self.empty_at(),
            State::StartingUp | State::Stalled { .. } | State::Stopped => None,
        }
    }

    /// The first whole nanosecond at which nothing is left.
    fn empty_at(&self) -> Option<Instant> {
        let nanos = u64::try_from(self.level.div_ceil(self.rate)).ok()?;
        self.at.checked_add(Duration::from_nanos(nanos))
    }

    /// Plays what is there up to `now`. Where it ran empty before that, a stall began then.
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
