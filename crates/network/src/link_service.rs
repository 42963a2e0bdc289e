//! Times at which a link can send: outages, and traces of its capacity.

use netburn_scenario::plan::{Outage, Trace};
use netburn_units::{Duration, Instant};

/// Outages and the trace of one direction.
#[derive(Debug, Clone)]
pub struct Service {
    /// Begin and end of each outage, in order.
    outages: Vec<(Instant, Instant)>,
    trace: Option<Opportunities>,
}

#[derive(Debug, Clone)]
struct Opportunities {
    trace: Trace,
    /// Number of the last opportunity that was used, and its bytes that are left.
    last: Option<(i64, u32)>,
}

impl Service {
    /// Returns the service of a link; `None` without outages and trace. Times of outages and of the trace count from
    /// the start of the load.
    #[must_use]
    pub fn new(outages: &[Outage], trace: Option<&Trace>) -> Option<Self> {
        if outages.is_empty() && trace.is_none() {
            return None;
        }
        let mut outages: Vec<_> = outages
            .iter()
            .map(|outage| {
                (
                    Instant::ZERO + outage.start,
                    Instant::ZERO + outage.start + outage.length,
                )
            })
            .collect();
        outages.sort_unstable();
        Some(Service {
            outages,
            trace: trace.map(|trace| Opportunities {
                trace: trace.clone(),
                last: None,
            }),
        })
    }

    /// Returns true if the link has a trace.
    #[must_use]
    pub const fn has_trace(&self) -> bool {
        self.trace.is_some()
    }

    /// First instant from `at` that is not in an outage.
    #[must_use]
    pub fn available(&self, at: Instant) -> Instant {
        let within = |at: Instant, outage: &(Instant, Instant)| if outage.0 <= at { at.max(outage.1) } else { at };
        self.outages.iter().fold(at, within)
    }

    /// End of the transmission of `bytes` that begins at `at`; `None` without a trace. Bytes of an opportunity that are
    /// left serve only packets at the same instant.
    pub fn finish(&mut self, at: Instant, bytes: u32) -> Option<Instant> {
        let mut opportunities = self.trace.take()?;
        let mut needed = bytes;
        let end = loop {
            let from = opportunities.first(at);
            let (number, left) = match opportunities.last {
                Some((number, left)) if left > 0 && opportunities.time(number) == at => (number, left),
                Some((number, _)) => (from.max(number + 1), Trace::OPPORTUNITY),
                None => (from, Trace::OPPORTUNITY),
            };
            let time = opportunities.time(number);
            if self.available(time) != time {
                // An opportunity in an outage is lost.
                opportunities.last = Some((number, 0));
                continue;
            }
            let used = left.min(needed);
            needed -= used;
            opportunities.last = Some((number, left - used));
            if needed == 0 {
                break time;
            }
        };
        self.trace = Some(opportunities);
        Some(end)
    }
}

impl Opportunities {
    /// Time of an opportunity; the trace also repeats before time 0.
    fn time(&self, number: i64) -> Instant {
        let times = self.trace.times();
        let (round, index) = (
            number.div_euclid(times.len() as i64),
            number.rem_euclid(times.len() as i64),
        );
        let millis = round * i64::from(self.trace.length()) + i64::from(times[index as usize]);
        Instant::from_millis(millis)
    }

    /// Number of the first opportunity from `at`.
    fn first(&self, at: Instant) -> i64 {
        let length = Duration::from_millis(u64::from(self.trace.length())).as_nanos() as i64;
        let (round, within) = (at.as_nanos().div_euclid(length), at.as_nanos().rem_euclid(length));
        let times = self.trace.times();
        let index = times.partition_point(|time| i64::from(*time) * 1_000_000 < within);
        let mut number = round * times.len() as i64 + index as i64;
        // The end of a round is the start of the next one.
        while self.time(number - 1) >= at {
            number -= 1;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(outages: &[(u64, u64)], trace: &str) -> Service {
        let outages: Vec<Outage> = outages
            .iter()
            .map(|(start, length)| Outage {
                start: Duration::from_millis(*start),
                length: Duration::from_millis(*length),
            })
            .collect();
        Service::new(&outages, Some(&Trace::parse(trace).unwrap())).unwrap()
    }

    fn finish(service: &mut Service, millis: i64, bytes: u32) -> i64 {
        service.finish(Instant::from_millis(millis), bytes).unwrap().as_nanos() / 1_000_000
    }

    /// Opportunities at 2, 5, 5 and 10 ms, then at 12, 15, 15 and 20 ms. From 0 ms, 1500 bytes end at 2 ms and 2000 at 5
    /// ms. 1000 bytes of the opportunity at 5 ms are left for packets at that instant, and a second one follows at 5 ms.
    /// The bytes that are left at 5 ms are lost for a packet at 6 ms.
    #[test]
    fn a_trace_by_hand() {
        let mut service = service(&[], "2\n5\n5\n10\n");
        assert_eq!(finish(&mut service, 1, 1_500), 2);
        assert_eq!(finish(&mut service, 2, 2_000), 5);
        assert_eq!(finish(&mut service, 5, 1_000), 5);
        assert_eq!(finish(&mut service, 6, 100), 10);
        assert_eq!(finish(&mut service, 11, 4_500), 15);
        // Before time 0 the trace repeats too: −8, −5, −5, 0.
        let mut early = super::tests::service(&[], "2\n5\n5\n10\n");
        assert_eq!(finish(&mut early, -7, 1_500), -5);
    }

    /// The opportunities in an outage from 4 to 14 ms are lost: those at 5, 5, 10 and 12 ms.
    #[test]
    fn opportunities_in_an_outage_are_lost() {
        let mut service = service(&[(4, 10)], "2\n5\n5\n10\n");
        assert_eq!(finish(&mut service, 3, 1_500), 15);
        assert_eq!(finish(&mut service, 15, 1_500), 15);
        assert_eq!(finish(&mut service, 15, 1_500), 20);
        let at = |millis| service.available(Instant::from_millis(millis)).as_nanos() / 1_000_000;
        assert_eq!([at(3), at(4), at(13), at(14)], [3, 14, 14, 14]);
    }
}
