//! Delays between attempts to connect.

use netburn_units::Duration;

/// Delays that double up to a maximum. Each is shortened by a random part of up to half, so that many devices do not connect at
/// the same time after a power failure.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    /// Creates a sequence of delays from `first` to `max`, before their random parts.
    #[must_use]
    pub const fn new(first: Duration, max: Duration) -> Self {
        Backoff {
            first,
            max,
            next: first,
        }
    }

    /// Begins again with the first delay.
    pub const fn reset(&mut self) {
        self.next = self.first;
    }

    /// Returns the next delay. `below` returns a random duration below its argument.
    pub fn next_delay(&mut self, below: impl FnOnce(Duration) -> Duration) -> Duration {
        let half = self.next / 2;
        self.next = (self.next * 2).min(self.max);
        half + below(half.max(Duration::from_nanos(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_to_the_maximum_and_begin_again() {
        let millis = Duration::from_millis;
        let mut backoff = Backoff::new(millis(250), millis(800));
        let least: Vec<Duration> = (0..4).map(|_| backoff.next_delay(|_| Duration::ZERO)).collect();
        assert_eq!(least, [millis(125), millis(250), millis(400), millis(400)]);
        backoff.reset();
        assert_eq!(backoff.next_delay(|below| below), millis(250));
    }
}
