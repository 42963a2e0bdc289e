//! Buffer of a player over time, from the received media and the stalls.

use super::BufferView;
use netburn_record::aggregate::Buckets;
use netburn_units::{BitRate, Duration};
use netburn_workload::PlayerConfig;
use netburn_workload::config::BIN;

/// Maximum number of steps: a day in steps of 100 ms. A longer run has wider steps.
const MAX_STEPS: u64 = 864_000;

/// One player's media by time step, in one run.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    config: PlayerConfig,
    /// In ns, a multiple of 100 ms.
    step: u64,
    /// Playback time in ns, by step.
    media: Vec<f64>,
    /// Time at which the player was started, and time at which playback began, in ns.
    began: Option<(i64, i64)>,
    /// Stalls: from and to, in ns.
    stalls: Vec<(i64, i64)>,
}

/// The players' buffers of all runs.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    least: Vec<Option<f64>>,
    ends: Vec<(f64, u32)>,
}

impl Arrivals {
    pub(super) fn new(config: PlayerConfig, duration: Duration) -> Self {
        let step = duration.as_nanos().div_ceil(MAX_STEPS).max(1);
        Arrivals {
            config,
            step: step.next_multiple_of(BIN.as_nanos()),
            media: Vec::new(),
            began: None,
            stalls: Vec::new(),
        }
    }

    /// Bytes that arrived in the 100 ms from `at` on.
    pub(super) fn bytes(&mut self, at: i64, bytes: u64) {
        let rate = self.config.rate.max(BitRate::from_bps(1)).as_bps() as f64;
        self.put(at, bytes as f64 * 8e9 / rate);
    }

    /// Media of this playback time were complete at `at`.
    pub(super) fn media(&mut self, at: i64, length: Duration) {
        self.put(at, length.as_nanos() as f64);
    }

    fn put(&mut self, at: i64, nanos: f64) {
        let Ok(place) = usize::try_from(at / self.step as i64) else {
            return;
        };
        if at < 0 || place as u64 > MAX_STEPS {
            return;
        }
        if self.media.len() <= place {
            self.media.resize(place + 1, 0.0);
        }
        self.media[place] += nanos;
    }

    /// Records that the player was started at `at` and began to play `length` later.
    pub(super) fn began(&mut self, at: i64, length: u64) {
        self.began = Some((at, at.saturating_add_unsigned(length)));
    }

    /// Records a stall.
    pub(super) fn stalled(&mut self, at: i64, length: u64) {
        self.stalls.push((at, at.saturating_add_unsigned(length)));
    }

    /// Computes the buffer until `to` into `levels`.
    pub(super) fn integrate(mut self, bins: Buckets, to: i64, levels: &mut Levels) {
        let Some((on, playing)) = self.began else {
            return;
        };
        self.stalls.sort_unstable();
        let holds = self.config.max_buffer.max(self.config.start).as_secs_f64();
        let step = self.step as i64;
        let (mut level, mut stall) = (0.0_f64, 0);
        // Playback continues when no more bytes arrive.
        let ends = u64::try_from(to).unwrap_or(0).div_ceil(self.step).min(MAX_STEPS + 1);
        for place in 0..ends as usize {
            let from = place as i64 * step;
            let until = from + step;
            if until <= on {
                continue;
            }
            let media = self.media.get(place).copied().unwrap_or(0.0);
            while self.stalls.get(stall).is_some_and(|(_, end)| *end <= from) {
                stall += 1;
            }
            let overlap = |from_a: i64, to_a: i64| (until.min(to_a) - from.max(from_a)).max(0);
            let later = self.stalls[stall..].iter().take_while(|(began, _)| *began < until);
            let still: i64 = later.map(|(began, ended)| overlap(*began, *ended)).sum();
            let played = (overlap(playing, i64::MAX) - still).max(0) as f64 / 1e9;
            // The media of a step arrived on average at its middle, so half of the playback comes
            // first.
            let low = (level - played / 2.0).max(0.0);
            level = (low + media / 1e9).min(holds);
            level = (level - played / 2.0).max(0.0);
            // A stalled player has an empty buffer.
            let low = if still > 0 { 0.0 } else { low.min(level) };
            if let Some(bin) = bins.index(from) {
                levels.put(bin, low, level, bins.index(until) != Some(bin));
            }
        }
    }
}

impl Levels {
    pub(super) fn new(bins: Buckets) -> Self {
        Levels {
            least: vec![None; bins.count()],
            ends: vec![(0.0, 0); bins.count()],
        }
    }

    fn put(&mut self, bin: usize, low: f64, end: f64, last: bool) {
        let least = &mut self.least[bin];
        *least = Some(least.map_or(low, |before| before.min(low)));
        if last {
            self.ends[bin].0 += end;
            self.ends[bin].1 += 1;
        }
    }

    pub(super) fn finish(self, config: &PlayerConfig) -> BufferView {
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        BufferView {
            holds_s: config.max_buffer.as_secs_f64(),
            starts_with_s: config.start.as_secs_f64(),
            least_s: self.least,
            end_s: self.ends.into_iter().map(mean).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: i64 = 100_000_000;

    /// 20 Mbit/s are 250 kB per 100 ms. For 2 s twice this rate arrives: 4 s of media. Playback
    /// begins at 1 s with 2 s, so the buffer is 3 s at 2 s. Then nothing arrives: it is empty at 5
    /// s, and the player stalls until 6 s, when 2 s arrive at once.
    #[test]
    fn a_buffer_fills_plays_and_runs_empty_by_hand() {
        let bins = Buckets::covering(Duration::from_secs(8), Duration::from_secs(1));
        let mut arrivals = Arrivals::new(PlayerConfig::default(), Duration::from_secs(8));
        (0..20).for_each(|tenth| arrivals.bytes(tenth * TENTH, 500_000));
        arrivals.bytes(59 * TENTH, 5_000_000);
        arrivals.began(0, 1_000_000_000);
        arrivals.stalled(50 * TENTH, 1_000_000_000);
        let mut levels = Levels::new(bins);
        arrivals.integrate(bins, 70 * TENTH, &mut levels);
        let view = levels.finish(&PlayerConfig::default());
        let close = |got: &Option<f64>, want: f64| (got.unwrap() - want).abs() < 1e-9;
        for (second, want) in [2.0, 3.0, 2.0, 1.0, 0.0, 2.0, 1.0].into_iter().enumerate() {
            assert!(close(&view.end_s[second], want), "{second}: {:?}", view.end_s);
        }
        assert_eq!(view.least_s[5], Some(0.0));
        assert_eq!(view.end_s[7], None, "no playback");
        assert_eq!((view.holds_s, view.starts_with_s), (10.0, 2.0));
    }

    /// 4 s of media arrive in the first two seconds and no byte later: the buffer is empty from 5 s
    /// to the end.
    #[test]
    fn a_player_without_data_runs_empty() {
        let bins = Buckets::covering(Duration::from_secs(8), Duration::from_secs(1));
        let mut arrivals = Arrivals::new(PlayerConfig::default(), Duration::from_secs(8));
        (0..20).for_each(|tenth| arrivals.bytes(tenth * TENTH, 500_000));
        arrivals.began(0, 1_000_000_000);
        arrivals.stalled(50 * TENTH, 2_000_000_000);
        let mut levels = Levels::new(bins);
        arrivals.integrate(bins, 70 * TENTH, &mut levels);
        let view = levels.finish(&PlayerConfig::default());
        for (second, want) in [2.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0].into_iter().enumerate() {
            let end = view.end_s[second].unwrap();
            assert!((end - want).abs() < 1e-9, "{second}: {end}");
        }
        assert_eq!(view.end_s[7], None, "no playback");
    }

    #[test]
    fn the_buffer_has_a_maximum() {
        let bins = Buckets::covering(Duration::from_millis(100), Duration::from_millis(100));
        let mut arrivals = Arrivals::new(PlayerConfig::default(), Duration::from_secs(1));
        arrivals.bytes(0, 1 << 40);
        arrivals.began(0, 0);
        let mut levels = Levels::new(bins);
        arrivals.integrate(bins, TENTH, &mut levels);
        let end = levels.finish(&PlayerConfig::default()).end_s[0].unwrap();
        assert!((end - 9.95).abs() < 1e-9, "{end}: 10 s less the rest of a tenth");
    }
}
