//! Difference of the clocks of client and server.

use netburn_units::{Duration, Instant};

/// Assumed largest drift of two clocks: 50 µs per second.
const DRIFT: u64 = 20_000;

/// Times of one exchange: sent and received by the client's clock, in between by the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// The client sent a request.
    pub sent: Instant,
    /// The server received it.
    pub far_received: Instant,
    /// The server sent the reply.
    pub far_sent: Instant,
    /// The client received the reply.
    pub received: Instant,
}

/// Estimate of the server's clock minus the client's.
///
/// The offset of an exchange is exact if both directions take the same time. Otherwise the error is at most half of the
/// round trip. The estimate is that of the exchange with the smallest error bound: half of its round trip, plus 50 ppm of
/// its age for the drift of the clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offset(Option<Best>);

#[derive(Debug, Clone, Copy)]
struct Best {
    at: Instant,
    nanos: i128,
    error: Duration,
}

impl Offset {
    /// Records an exchange. One whose times contradict each other is ignored.
    pub fn put(&mut self, exchange: &Exchange) {
        let [sent, far_received, far_sent, received] = [
            exchange.sent,
            exchange.far_received,
            exchange.far_sent,
            exchange.received,
        ]
        .map(Instant::as_nanos);
        let (total, inside) = (
            exchange.received.checked_since(exchange.sent),
            exchange.far_sent.checked_since(exchange.far_received),
        );
        let Some(round_trip) = total.zip(inside).and_then(|(total, inside)| total.checked_sub(inside)) else {
            return;
        };
        let error = round_trip / 2;
        if self.0.is_some_and(|best| best.error_at(exchange.received) < error) {
            return;
        }
        let forth = i128::from(far_received) - i128::from(sent);
        let back = i128::from(far_sent) - i128::from(received);
        self.0 = Some(Best {
            at: exchange.received,
            nanos: (forth + back) / 2,
            error,
        });
    }

    /// Converts a time of the client's clock to the server's; `None` without an exchange.
    #[must_use]
    pub fn to_server(&self, at: Instant) -> Option<Instant> {
        shifted(at, self.0?.nanos)
    }

    /// Converts a time of the server's clock to the client's; `None` without an exchange.
    #[must_use]
    pub fn to_client(&self, at: Instant) -> Option<Instant> {
        shifted(at, -self.0?.nanos)
    }
}

impl Best {
    fn error_at(&self, now: Instant) -> Duration {
        let age = now.checked_since(self.at).unwrap_or_default();
        self.error + age / DRIFT
    }
}

fn shifted(at: Instant, nanos: i128) -> Option<Instant> {
    let shifted = i128::from(at.as_nanos()) + nanos;
    i64::try_from(shifted).ok().map(Instant::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(sent: i64, far_received: i64, far_sent: i64, received: i64) -> Exchange {
        let at = Instant::from_millis;
        Exchange {
            sent: at(sent),
            far_received: at(far_received),
            far_sent: at(far_sent),
            received: at(received),
        }
    }

    /// The server is 1000 ms ahead. Forth and back take 10 ms each, so the estimate is exact. Then 10 ms forth and 50 ms
    /// back: the offset would be 20 ms less, and the round trip is longer. After 10,000 s the first exchange has a bound of
    /// 10 + 500 ms, and the second one counts.
    #[test]
    fn the_exchange_with_the_smallest_bound_counts() {
        let mut offset = Offset::default();
        assert_eq!(offset.to_server(Instant::ZERO), None);
        offset.put(&exchange(0, 1_010, 1_015, 25));
        assert_eq!(
            offset.to_server(Instant::from_millis(5)),
            Some(Instant::from_millis(1_005))
        );
        offset.put(&exchange(100, 1_110, 1_110, 160));
        assert_eq!(
            offset.to_client(Instant::from_millis(1_005)),
            Some(Instant::from_millis(5))
        );
        let later = 10_000_000;
        offset.put(&exchange(later, later + 1_010, later + 1_010, later + 60));
        assert_eq!(offset.to_server(Instant::ZERO), Some(Instant::from_millis(980)));
    }

    #[test]
    fn impossible_exchanges_are_ignored() {
        let mut offset = Offset::default();
        offset.put(&exchange(10, 0, 0, 5));
        offset.put(&exchange(0, 10, 5, 20));
        offset.put(&exchange(0, 10, 40, 20));
        assert_eq!(offset.to_server(Instant::ZERO), None);
    }
}
