//! Schedule of a scan: which channels, in which order, and when the client returns to its access
//! point in between.

use super::policy::ScanStyle;
use netburn_medium::config::Band;
use netburn_units::Duration;

/// A channel to visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScanChannel {
    pub(super) band: Band,
    pub(super) number: u16,
    /// True if the client only listens: radar detection or no initiating radiation.
    pub(super) passive: bool,
}

/// Part of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Listens on a channel. Its time includes the time with stopped queues before.
    Listen(ScanChannel, Duration),
    /// Returns to the access point.
    Home(Duration),
}

/// A scan in progress.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    style: ScanStyle,
    channels: Vec<ScanChannel>,
    next: usize,
    /// Length of the absence so far.
    away: Duration,
    /// True if the client returns to its access point in between.
    connected: bool,
    /// True if the last step was on the client's own channel, or there was no step yet.
    at_home: bool,
}

impl Scan {
    pub(super) fn new(style: ScanStyle, channels: Vec<ScanChannel>, connected: bool) -> Self {
        Scan {
            style,
            channels,
            next: 0,
            away: Duration::ZERO,
            connected,
            at_home: true,
        }
    }

    /// Time on a channel.
    fn dwell(&self, channel: ScanChannel) -> Duration {
        if channel.passive {
            self.style.passive
        } else {
            self.style.active
        }
    }

    /// Next step; `waiting`: packets wait in the client. `None`: the scan is complete.
    pub(super) fn next(&mut self, waiting: bool) -> Option<Step> {
        let channel = *self.channels.get(self.next)?;
        // Only a client that returns to its access point flushes, after a return.
        let flush = if self.at_home && self.next > 0 {
            self.style.flush
        } else {
            Duration::ZERO
        };
        let dwell = self.dwell(channel) + flush;
        if self.connected && !self.at_home && (waiting || self.away + dwell > self.style.absence) {
            self.at_home = true;
            self.away = Duration::ZERO;
            return Some(Step::Home(self.style.home));
        }
        self.next += 1;
        self.away += dwell;
        self.at_home = false;
        Some(Step::Listen(channel, dwell))
    }
}

/// Every channel of a dual-band client: 1 to 11; 36 to 48 and 149 to 165; and 16 channels on which
/// it only listens, because of radar detection (52 to 64 and 100 to 144).
pub(super) fn all_channels() -> Vec<ScanChannel> {
    let channel = |band, passive| move |number| ScanChannel { band, number, passive };
    let two = (1..=11).map(channel(Band::Ghz2_4, false));
    let low = (36..=48).step_by(4).map(channel(Band::Ghz5, false));
    let radar = (52..=64)
        .step_by(4)
        .chain((100..=144).step_by(4))
        .map(channel(Band::Ghz5, true));
    let high = (149..=165).step_by(4).map(channel(Band::Ghz5, false));
    two.chain(low).chain(high).chain(radar).collect()
}

#[cfg(test)]
mod tests {
    use super::super::policy::Constants;
    use super::*;
    use netburn_medium::config::{Roaming, RoamingPolicy};

    /// Total, time away and longest absence of a scan in ms.
    fn times(channels: Vec<ScanChannel>, waiting: bool) -> (u64, u64, u64) {
        times_with(Duration::ZERO, channels, waiting)
    }

    fn times_with(flush_delay: Duration, channels: Vec<ScanChannel>, waiting: bool) -> (u64, u64, u64) {
        let roaming = Roaming {
            policy: Some(RoamingPolicy::Linux),
            flush_delay,
            ..Roaming::default()
        };
        let mut scan = Scan::new(Constants::new(&roaming).scan, channels, true);
        let (mut total, mut away, mut absence, mut longest) = (0, 0, 0, 0);
        while let Some(step) = scan.next(waiting) {
            match step {
                Step::Listen(_, dwell) => {
                    absence += dwell.as_millis();
                    away += dwell.as_millis();
                    total += dwell.as_millis();
                    longest = longest.max(absence);
                }
                Step::Home(span) => {
                    total += span.as_millis();
                    absence = 0;
                }
            }
        }
        (total, away, longest)
    }

    fn active(count: u16) -> Vec<ScanChannel> {
        (1..=count)
            .map(|number| ScanChannel {
                band: Band::Ghz2_4,
                number,
                passive: false,
            })
            .collect()
    }

    /// mac80211's rule, worked out by hand. 11 active channels: five pairs of 120 ms and one of
    /// 60, with five returns of 200 ms. With waiting packets each channel is an absence of its own.
    #[test]
    fn durations() {
        assert_eq!(times(active(11), false), (1_660, 660, 120));
        assert_eq!(times(active(11), true), (2_660, 660, 60));
        assert_eq!(times(active(3), false), (380, 180, 120));
        assert_eq!(times(active(3), true), (580, 180, 60));
        assert_eq!(times(active(6), false), (760, 360, 120));
        assert_eq!(times(active(6), true), (1_360, 360, 60));
    }

    /// Stopped queues for 100 ms: the first absence is not affected. Each further channel of 60 ms is an
    /// absence of 160 ms, because another channel would make it longer than 125 ms. Three channels: 120 ms,
    /// 200 ms on the own channel, 160 ms. Six: 120 ms and four times 360 ms. A passive channel: 211 ms.
    #[test]
    fn a_driver_that_cannot_flush() {
        let stopped = |channels| times_with(Duration::from_millis(100), channels, false);
        assert_eq!(stopped(active(3)), (480, 280, 160));
        assert_eq!(stopped(active(6)), (1_560, 760, 160));
        assert_eq!(stopped(all_channels()).2, 211);
    }

    /// 9 active and 16 passive channels in 5 GHz: 2316 ms away. 36 channels in both bands.
    #[test]
    fn whole_bands() {
        let five: Vec<_> = all_channels()
            .into_iter()
            .filter(|channel| channel.band == Band::Ghz5)
            .collect();
        assert_eq!(times(five.clone(), false), (6_316, 2_316, 120));
        assert_eq!(times(five, true), (7_116, 2_316, 111));
        assert_eq!(all_channels().len(), 36);
        assert_eq!(times(all_channels(), false), (7_976, 2_976, 120));
        assert_eq!(times(all_channels(), true), (9_976, 2_976, 111));
    }

    /// Without an access point there is nothing to return to: 20 × 60 + 16 × 111 ms.
    #[test]
    fn a_disconnected_client_does_not_return() {
        let roaming = Roaming::default();
        let mut scan = Scan::new(Constants::new(&roaming).scan, all_channels(), false);
        let steps: Vec<_> = std::iter::from_fn(|| scan.next(true)).collect();
        assert_eq!(steps.len(), 36);
        assert!(steps.iter().all(|step| matches!(step, Step::Listen(..))));
    }
}
