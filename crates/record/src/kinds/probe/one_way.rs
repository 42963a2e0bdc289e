//! One-way delays of probes, between two clocks.

use crate::health::Clock;
use netburn_units::Instant;
use netburn_workload::Operation;

/// Sent, received by the server, returned, received: each by the clock of its device, in ns.
pub(crate) type OneWay = [i64; 4];

/// Times of a probe that the server returned; `None` without the server's timestamps.
pub(crate) fn one_way(operation: &Operation) -> Option<OneWay> {
    let (far, started, finished) = (operation.far?, operation.started?, operation.finished?);
    Some([started.as_nanos(), far.received, far.sent, finished.as_nanos()])
}

/// Relation between the clocks of a station and the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clocks<'a> {
    One,
    Known { station: &'a Clock, server: &'a Clock },
    Unknown,
}

impl<'a> Clocks<'a> {
    /// Clocks of a fleet, if both were compared before and after the run and neither jumped.
    pub(crate) fn known(clocks: &'a [Clock], station: &String) -> Clocks<'a> {
        let sound = |clock: &&Clock| clock.drift_error_ppm.is_some() && clock.jump_ns.is_none();
        let mut sound = clocks.iter().filter(sound);
        let server = sound.clone().find(|clock| clock.stations.is_empty());
        match sound.find(|clock| clock.stations.contains(station)).zip(server) {
            Some((station, server)) => Clocks::Known { station, server },
            None => Clocks::Unknown,
        }
    }

    /// One-way delays up and down of a probe in ns, plus an unknown offset that is the same for all probes.
    pub(crate) fn delays(self, one: &OneWay) -> Option<(i64, i64)> {
        let [sent, there, back, received] = *one;
        let (own, far) = match self {
            Clocks::One => return Some((there.wrapping_sub(sent), received.wrapping_sub(back))),
            Clocks::Known { station, server } => (station, server),
            Clocks::Unknown => return None,
        };
        let common = |clock: &Clock, at| clock.to_common(Instant::from_nanos(at)).as_nanos();
        let up = common(far, there).wrapping_sub(common(own, sent));
        let down = common(own, received).wrapping_sub(common(far, back));
        Some((up, down))
    }
}

/// Delays above the minimum. The offset of two clocks without relative drift is unknown, but delay
/// above the minimum is queueing.
pub(super) fn above_least(delays: &[i64]) -> Vec<u64> {
    let least = delays.iter().min().copied().unwrap_or(0);
    delays.iter().map(|delay| delay.abs_diff(least)).collect()
}
