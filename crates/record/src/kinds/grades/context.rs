//! Computes the grades of a probe.

use super::{AimGrade, BufferbloatGrade, Grades, LoadedLatency, Missing, QooGrade};
use crate::aggregate::LoadDirection;
use netburn_quality::grade::aim::{Input, Measured, Use};
use netburn_quality::grade::bufferbloat::{Scale, increase, mean_increase};
use netburn_quality::grade::qoo::{PROFILES, Profile};
use netburn_stats::percentile::{Percentile, needed, supported};
use netburn_stats::{Distribution, P50};
use netburn_units::{BitRate, Duration};
use netburn_workload::{Config, Direction};

/// Directions in which bulk workloads of the run moved data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Moved {
    down: bool,
    up: bool,
}

impl Moved {
    /// Adds a workload of the run if it moved data.
    pub(crate) fn add(&mut self, config: &Config, has_moved: bool) {
        self.down |= has_moved && config.loads(Direction::Down);
        self.up |= has_moved && config.loads(Direction::Up);
    }
}

/// Round trips of a probe in ns, by the directions of the bulk load when they were due.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedRoundTrips {
    download: Vec<u64>,
    upload: Vec<u64>,
    both: Vec<u64>,
}

impl LoadedRoundTrips {
    pub(super) fn put(&mut self, direction: LoadDirection, nanos: u64) {
        match direction {
            LoadDirection::Download => &mut self.download,
            LoadDirection::Upload => &mut self.upload,
            LoadDirection::Both => &mut self.both,
        }
        .push(nanos);
    }

    pub(super) fn extend(&mut self, other: LoadedRoundTrips) {
        self.download.extend(other.download);
        self.upload.extend(other.upload);
        self.both.extend(other.both);
    }
}

/// Differences between successive samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Variation {
    sum: u128,
    pairs: u64,
}

impl Variation {
    /// Differences of samples in ns, in the order in which they were sent.
    pub(crate) fn from_samples(samples: &[u64]) -> Self {
        let pairs = samples.windows(2).map(|pair| u128::from(pair[0].abs_diff(pair[1])));
        Variation {
            sum: pairs.sum(),
            pairs: samples.len().saturating_sub(1) as u64,
        }
    }

    /// Mean of the differences; `None` without any.
    pub(crate) fn mean(self) -> Option<Duration> {
        // The mean of values of 64 bits has 64 bits.
        let mean = self.sum.checked_div(self.pairs.into())?;
        Some(Duration::from_nanos(mean as u64))
    }

    pub(crate) fn add(&mut self, other: Variation) {
        self.sum = self.sum.saturating_add(other.sum);
        self.pairs += other.pairs;
    }
}

/// Values of a station that grades need besides its probes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GradeContext {
    moved: Moved,
    /// Mean and median round trip before the load.
    idle: Option<(Duration, Duration)>,
    /// Mean difference between successive round trips before the load.
    jitter: Option<Duration>,
    /// Rate of the station's own downloads.
    download: Option<BitRate>,
}

impl GradeContext {
    /// Context of the probes of a station: its round trips before the load in ns, the load of the run, and the rate of its
    /// own downloads.
    pub(crate) fn new(idle: &[u64], variation: Variation, moved: Moved, download: Option<BitRate>) -> Self {
        GradeContext {
            moved,
            idle: mean(idle).zip(median(idle)),
            jitter: variation.mean(),
            download,
        }
    }

    /// Grades of a probe. `latency` is the distribution of all its round trips, `lost` the share of lost datagrams.
    pub(super) fn grades(&self, loaded: &LoadedRoundTrips, latency: &Distribution, lost: Option<f64>) -> Grades {
        let (down, up) = (self.moved.down, self.moved.up);
        let phases = Phases {
            download: down.then_some(&loaded.download[..]),
            upload: up.then_some(&loaded.upload[..]),
            both: (down && up).then_some(&loaded.both[..]),
        };
        Grades {
            bufferbloat: self.bufferbloat(&phases),
            qoo: PROFILES.iter().map(|profile| qoo(profile, latency, lost)).collect(),
            aim: self.aim(&phases, lost),
        }
    }

    fn bufferbloat(&self, phases: &Phases<'_>) -> BufferbloatGrade {
        let scale = Scale::DSLREPORTS;
        let idle = self.idle.map(|(mean, _)| mean);
        let loaded = |samples: Option<&[u64]>| {
            let (mean, idle) = mean(samples?).zip(idle)?;
            Some((mean, increase(idle, mean)))
        };
        let shown = |samples: Option<&[u64]>| {
            let (mean, increase) = loaded(samples)?;
            Some(LoadedLatency {
                samples: samples?.len() as u64,
                mean_ms: mean.as_millis_f64(),
                increase_ms: increase.as_millis_f64(),
                letter: scale.letter(increase).as_str().to_owned(),
            })
        };
        let directions = loaded(phases.download).zip(loaded(phases.upload));
        let overall = directions.map(|((_, download), (_, upload))| mean_increase(download, upload));
        let mut missing = Vec::new();
        if idle.is_none() {
            missing.push(Missing::Idle);
        }
        match (enough(phases.download), enough(phases.upload), enough(phases.both)) {
            (false, false, false) => missing.push(Missing::Load),
            (download, upload, _) => {
                missing.extend((!download).then_some(Missing::DownloadAlone));
                missing.extend((!upload).then_some(Missing::UploadAlone));
            }
        }
        BufferbloatGrade {
            scale: scale.name.to_owned(),
            idle_ms: idle.map(Duration::as_millis_f64),
            download: shown(phases.download),
            upload: shown(phases.upload),
            both: shown(phases.both),
            increase_ms: overall.map(Duration::as_millis_f64),
            letter: overall.map(|increase| scale.letter(increase).as_str().to_owned()),
            missing,
        }
    }

    fn aim(&self, phases: &Phases<'_>, lost: Option<f64>) -> Vec<AimGrade> {
        let idle = self.idle.map(|(_, median)| median);
        let medians = phases.all().into_iter().flatten().filter_map(median);
        let worst = medians.max();
        let (down, up) = (
            enough(phases.download) || enough(phases.both),
            enough(phases.upload) || enough(phases.both),
        );
        let measured = Measured {
            latency: idle,
            increase: idle
                .zip(worst)
                .filter(|_| down && up)
                .map(|(idle, worst)| increase(idle, worst)),
            jitter: self.jitter,
            lost,
            download: self.download,
        };
        let reason = |input: Input| match input {
            Input::Increase if !down && !up => vec![Missing::Load],
            Input::Increase if !down => vec![Missing::Download],
            Input::Increase if !up => vec![Missing::Upload],
            Input::Download => vec![Missing::OwnDownload],
            Input::Latency | Input::Jitter | Input::Increase | Input::Loss => vec![Missing::Idle],
        };
        let grade = |of: Use| {
            let (score, inputs) = match of.score(&measured) {
                Ok(score) => (Some(score), Vec::new()),
                Err(inputs) => (None, inputs),
            };
            let mut missing: Vec<Missing> = Vec::new();
            for reason in inputs.into_iter().flat_map(reason) {
                if !missing.contains(&reason) {
                    missing.push(reason);
                }
            }
            AimGrade {
                name: of.as_str().to_owned(),
                points: score.map(|score| score.points),
                class: score.map(|score| score.class.as_str().to_owned()),
                missing,
            }
        };
        Use::ALL.map(grade).into()
    }
}

/// Round trips by the direction of the bulk load; `None` if the load moved no data.
#[derive(Debug, Clone, Copy)]
struct Phases<'a> {
    download: Option<&'a [u64]>,
    upload: Option<&'a [u64]>,
    both: Option<&'a [u64]>,
}

impl<'a> Phases<'a> {
    fn all(&self) -> [Option<&'a [u64]>; 3] {
        [self.download, self.upload, self.both]
    }
}

fn qoo(profile: &Profile, latency: &Distribution, lost: Option<f64>) -> QooGrade {
    let score = qoo_score(profile, latency, lost.unwrap_or(0.0));
    QooGrade {
        profile: profile.name.to_owned(),
        source: profile.source.to_owned(),
        path: "round trip".to_owned(),
        score: score.ok(),
        missing: score.err().into_iter().collect(),
    }
}

/// QoO score, 0 to 100, of round trips and of a share of lost packets.
///
/// # Errors
///
/// There are too few round trips for a percentile of the profile.
pub(in crate::kinds) fn qoo_score(profile: &Profile, latency: &Distribution, lost: f64) -> Result<f64, Missing> {
    let levels = profile.latency.iter().map(|required| required.percentile);
    let most = levels.max_by_key(|level| needed(*level));
    if let Some(level) = most.filter(|level| !supported(*level, latency.count)) {
        return Err(Missing::Probes {
            needed: needed(level).unwrap_or(u64::MAX),
            found: latency.count,
        });
    }
    let at = |level| match latency.percentile(level) {
        Percentile::Value(nanos) => Some(Duration::from_nanos(nanos)),
        Percentile::Unbounded | Percentile::Unsupported => None,
    };
    Ok(profile.score(at, lost))
}

/// Returns true if there are enough round trips for a median. A mean of fewer is not computed either.
fn enough(samples: Option<&[u64]>) -> bool {
    samples.is_some_and(|samples| supported(P50, samples.len() as u64))
}

fn mean(samples: &[u64]) -> Option<Duration> {
    let sum: u128 = samples.iter().map(|nanos| u128::from(*nanos)).sum();
    let mean = sum.checked_div(samples.len() as u128)?;
    // The mean of values of 64 bits has 64 bits.
    enough(Some(samples)).then(|| Duration::from_nanos(mean as u64))
}

fn median(samples: &[u64]) -> Option<Duration> {
    let median = Distribution::from_slice(&mut samples.to_vec(), 0, &[P50]);
    median.percentile(P50).value().map(Duration::from_nanos)
}
