//! Absences of a station: times in which nothing arrives, after which all that waited arrives at once.
//!
//! A full queue delays packets in the order in which they came, so the ends of their delays are as far apart as their
//! beginnings. After an absence they are together. The module looks only at beginnings and ends of probes and of streams of
//! packets, so it works for devices whose driver tells nothing, such as browsers.

use super::RunFacts;
use crate::explain::evidence::Arrival;
use netburn_scenario::Environment;
use netburn_workload::ProbeTarget;
use std::collections::BTreeMap;

/// A time in which nothing arrived, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::explain) struct Absence {
    /// Due time of the first that waited, so the absence began at most one interval before.
    pub(in crate::explain) begin: i64,
    pub(in crate::explain) end: i64,
}

/// Absences that return with a period.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) struct Rhythm {
    /// Period in ns; `None` if the absences are so long that they need none.
    pub(in crate::explain) period: Option<f64>,
    /// Median length in ns.
    pub(in crate::explain) length: i64,
    /// Those that fit the period.
    pub(in crate::explain) absences: Vec<Absence>,
}

/// Share of the late operations and stalls that must be within absences.
pub(in crate::explain) const EXPLAINED: f64 = 0.5;
/// Length from which an absence is more than a delay, in ns.
pub(in crate::explain) const LONG: i64 = 1_000_000_000;
/// Part of a late operation that must be within absences. After an absence, TCP may need a time-out to go on.
const PART: f64 = 0.3;
/// Share of the absences that another station must have too.
const SHARED: f64 = 0.5;
/// Share of the arrivals that must wait, and how closely these follow the beacons.
pub(in crate::explain) const DOZING: f64 = 0.5;
pub(in crate::explain) const LOCKED: f64 = 0.8;
/// Delay above the median from which an arrival is late, in ns. It exceeds the queue of an access point with airtime queue
/// limits (5 to 12 ms for a station, `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L` and `_H` of mac80211).
const LATE: i64 = 15_000_000;
/// Difference of the ends of arrivals that belong to one absence, in ns, and as a share of its length: what waited is sent
/// one after the other.
const TOGETHER: i64 = 10_000_000;
const TOGETHER_SHARE: i64 = 4;
/// Number of absences from which a period is sought, and which are examined at most.
pub(in crate::explain) const MIN_ABSENCES: usize = 5;
const MAX_ABSENCES: usize = 200;
/// Share of the absences that must fit the period.
const FITTING: f64 = 0.8;
/// Largest part of the period within which the ends of these lie.
const ARC: f64 = 0.25;
/// Natural logarithm of the probability, below which chance is no explanation: one in 1,000.
const CHANCE: f64 = -6.9;
/// Periods are tried in steps by which the phase of the last absence moves this part of a period.
const STEP: f64 = 0.1;
/// Number of periods that are tried at most: a bound of the work.
const MAX_PERIODS: f64 = 20_000.0;
/// Shortest period as a multiple of the interval of the probes. A shorter one looks like the interval itself.
const MIN_INTERVALS: i64 = 4;

/// Absences with a period that explain most late operations of a station.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::explain) struct Interruptions {
    pub(in crate::explain) rhythm: Rhythm,
    /// Late operations and stalls within the absences, and all of them.
    pub(in crate::explain) late: usize,
    pub(in crate::explain) of: usize,
    pub(in crate::explain) sharing: Sharing,
    /// True if most absences were so long that several arrivals waited, which then came together, or if arrivals were lost in
    /// them. A single late arrival can also be that of a burst in a queue.
    pub(in crate::explain) is_certain: bool,
}

/// Gaps of a station beyond its Wi-Fi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::explain) struct Outages {
    pub(in crate::explain) gaps: Vec<Absence>,
    /// True if probes to the first hop beyond the router show them, so that it is not the server.
    pub(in crate::explain) is_of_line: bool,
}

/// Other stations with the same absences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::explain) enum Sharing {
    /// Another station of the radio has the same absences.
    Shared,
    /// Another station of the radio does not have them.
    Own,
    /// No other station shows whether it has them.
    Unknown,
}

impl RunFacts<'_> {
    /// Absences with a period of a degraded station; `None` if most of its late operations are at other times.
    pub(in crate::explain) fn interruptions(&self, station: usize) -> Option<&Interruptions> {
        let cell = self.interruptions.get(station)?;
        cell.get_or_init(|| self.find_interruptions(station)).as_ref()
    }

    fn find_interruptions(&self, station: usize) -> Option<Interruptions> {
        self.degraded_station(station)?;
        if !self.may_use_wifi(station) {
            return None;
        }
        let seen = &self.evidence.stations[station];
        let own = absences(&seen.arrivals);
        let rhythm = rhythm(&own, &seen.arrivals).or_else(|| long(&own, interval_of(&seen.arrivals)))?;
        let is_absent = |wait: &&(i64, i64)| is_within(&rhythm.absences, **wait);
        // Goals of loss and of quality have no late operations, so all that was late or lost counts.
        let lateness = late(&seen.arrivals);
        let waits = if seen.waits.is_empty() { &lateness } else { &seen.waits };
        let observed = waits.iter().filter(|(from, _)| seen.observes(*from));
        let (late, of) = (observed.clone().filter(is_absent).count(), observed.count());
        let sharing = self.sharing(station, &rhythm.absences);
        // Without a period, other stations or its probes to the access point show that it is not the line.
        let is_known = rhythm.period.is_some() || sharing == Sharing::Own || self.has_near(station);
        (late > 0 && is_known && late as f64 >= EXPLAINED * of as f64).then(|| Interruptions {
            sharing,
            is_certain: rhythm.length >= 2 * interval_of(&seen.arrivals)
                || mostly_lost(&rhythm.absences, &seen.arrivals),
            rhythm,
            late,
            of,
        })
    }

    /// Times of a second or more in which nothing arrived through the line of a station, while its probes to the access point
    /// arrived, so that the Wi-Fi worked. If the station has probes to the first hop beyond the router, only these count.
    pub(in crate::explain) fn outages(&self, station: usize) -> Outages {
        let to = |wanted: &dyn Fn(Option<ProbeTarget>) -> bool| -> Vec<Arrival> {
            let workloads = &self.plan.stations[station].workloads;
            let goes_there = |arrival: &&Arrival| wanted(workloads[usize::from(arrival.stream.0)].config.target());
            let arrivals = self.evidence.stations[station].arrivals.iter();
            arrivals.filter(goes_there).copied().collect()
        };
        let near = to(&|target| target == Some(ProbeTarget::Near));
        let line = to(&|target| target == Some(ProbeTarget::Line));
        let is_of_line = !line.is_empty();
        let far = if is_of_line {
            line
        } else {
            to(&|target| target != Some(ProbeTarget::Near))
        };
        let interval = interval_of(&far);
        let mut gaps = absences(&far);
        gaps.retain(|gap| {
            let during = |arrival: &&Arrival| (gap.begin..gap.end).contains(&arrival.due);
            let due: Vec<&Arrival> = near.iter().filter(during).collect();
            let arrived = due
                .iter()
                .filter(|arrival| arrival.end.is_some_and(|end| end < gap.end))
                .count();
            let wifi_works = due.len() >= MIN_ABSENCES && arrived as f64 >= FITTING * due.len() as f64;
            gap.end - gap.begin >= LONG.max(MIN_INTERVALS * interval) && wifi_works
        });
        Outages { gaps, is_of_line }
    }

    /// Returns false for a station with a wire, and for files of other programs, which do not tell.
    fn may_use_wifi(&self, station: usize) -> bool {
        let is_wired = self.plan.stations[station].link.is_some();
        match self.environment {
            Environment::Simulate | Environment::Lab => self.group_of(station).is_some(),
            Environment::Fleet => !is_wired,
            Environment::Local | Environment::Imported => false,
        }
    }

    fn has_near(&self, station: usize) -> bool {
        let mut workloads = self.plan.stations[station].workloads.iter();
        workloads.any(|workload| workload.config.target() == Some(ProbeTarget::Near))
    }

    fn sharing(&self, station: usize, own: &[Absence]) -> Sharing {
        let Some(group) = self.group_of(station) else {
            return Sharing::Unknown;
        };
        let others = group.members.iter().filter(|other| **other != station);
        let shares = others.filter_map(|other| {
            let arrivals = &self.evidence.stations[*other].arrivals;
            shared(own, arrivals, &absences(arrivals))
        });
        match shares.reduce(f64::max) {
            Some(share) if share >= SHARED => Sharing::Shared,
            Some(_) => Sharing::Own,
            None => Sharing::Unknown,
        }
    }

    /// Degree to which the delays of a degraded station follow the beacons of its access point, from 0 to 1; `None` if few do.
    pub(in crate::explain) fn waits_for_beacons(&self, station: usize) -> Option<f64> {
        self.degraded_station(station)?;
        let (strength, share) = beacon_locked(&self.evidence.stations[station].arrivals)?;
        (share >= DOZING && strength >= LOCKED).then_some(strength)
    }
}

/// Returns true if a wait, from its begin to its end in ns, was within absences for [`PART`] of its length or more.
fn is_within(absences: &[Absence], (from, to): (i64, i64)) -> bool {
    let next = absences.partition_point(|absence| absence.end < from);
    let mut during = absences[next..]
        .iter()
        .take_while(|absence| absence.begin <= to)
        .peekable();
    let touches = during.peek().is_some();
    let absent: i64 = during
        .map(|absence| absence.end.min(to) - absence.begin.max(from))
        .sum();
    touches && absent as f64 >= PART * (to - from) as f64
}

/// Returns true if an arrival was lost in half of the absences or more.
fn mostly_lost(absences: &[Absence], arrivals: &[Arrival]) -> bool {
    let mut lost: Vec<i64> = arrivals
        .iter()
        .filter(|one| one.end.is_none())
        .map(|one| one.due)
        .collect();
    lost.sort_unstable();
    let has_lost = |absence: &&Absence| {
        let next = lost.partition_point(|due| *due < absence.begin);
        lost.get(next).is_some_and(|due| *due < absence.end)
    };
    absences.iter().filter(has_lost).count() * 2 >= absences.len()
}

/// From when to when arrivals were late, in ns. Lost ones have no length.
fn late(arrivals: &[Arrival]) -> Vec<(i64, i64)> {
    let mut streams: BTreeMap<(u16, bool), Vec<i64>> = BTreeMap::new();
    for arrival in arrivals {
        let delays = streams.entry(arrival.stream).or_default();
        delays.extend(arrival.end.map(|end| end - arrival.due));
    }
    let medians: BTreeMap<_, _> = streams
        .into_iter()
        .filter_map(|(stream, delays)| Some((stream, median(delays.into_iter())?)))
        .collect();
    let is_late = |one: &&Arrival| {
        let median = medians.get(&one.stream).copied().unwrap_or_default();
        one.end.is_none_or(|end| end - one.due > median + LATE)
    };
    let late = arrivals.iter().filter(is_late);
    late.map(|one| (one.due, one.end.unwrap_or(one.due))).collect()
}

/// Absences of a station. Returns none if its delays are mostly those of a queue.
pub(in crate::explain) fn absences(arrivals: &[Arrival]) -> Vec<Absence> {
    let mut streams: BTreeMap<(u16, bool), Vec<Arrival>> = BTreeMap::new();
    for arrival in arrivals {
        streams.entry(arrival.stream).or_default().push(*arrival);
    }
    let (mut all, mut queued, mut together) = (Vec::new(), 0_usize, 0_usize);
    for stream in streams.values_mut() {
        stream.sort_unstable();
        let found = of_stream(stream);
        queued += found.queued;
        together += found.together;
        all.extend(found.absences);
    }
    if queued > together {
        return Vec::new();
    }
    // What was on its way when an absence began may still have arrived.
    let underway = streams
        .values()
        .filter_map(|stream| median(delays(stream)))
        .max()
        .unwrap_or(0)
        + TOGETHER;
    let mut ends: Vec<i64> = arrivals.iter().filter_map(|arrival| arrival.end).collect();
    ends.sort_unstable();
    let mut merged = merged(all);
    merged.retain(|absence| {
        let next = ends.partition_point(|end| *end <= absence.begin + underway);
        ends.get(next).is_none_or(|end| *end >= absence.end - TOGETHER)
    });
    merged
}

fn delays(stream: &[Arrival]) -> impl Iterator<Item = i64> {
    stream.iter().filter_map(|one| Some(one.end? - one.due))
}

/// Absences that a stream shows, with the numbers of late arrivals that came together and one after the other.
#[derive(Default)]
struct OfStream {
    absences: Vec<Absence>,
    together: usize,
    queued: usize,
}

fn of_stream(stream: &[Arrival]) -> OfStream {
    let mut found = OfStream::default();
    let mut delays: Vec<i64> = delays(stream).collect();
    if delays.len() < MIN_ABSENCES {
        return found;
    }
    delays.sort_unstable();
    let late_from = delays[delays.len() / 2] + LATE;
    let interval = interval(stream);
    let is_late = |one: &Arrival| one.end.is_none_or(|end| end - one.due > late_from);
    let mut place = 0;
    while place < stream.len() {
        if !is_late(&stream[place]) {
            place += 1;
            continue;
        }
        let first = stream[place];
        let mut last = place;
        // Those that were due before the first of them arrived waited for the same end.
        let mut end = first.end;
        while let Some(next) = stream.get(last + 1).filter(|next| is_late(next)) {
            let before = end.unwrap_or(stream[last].due + interval + interval / 2);
            if next.due > before {
                break;
            }
            end = [end, next.end].into_iter().flatten().min();
            last += 1;
        }
        // Of lost ones, the next that arrived tells when the absence was over.
        let end = end.or_else(|| Some(stream.get(last + 1)?.due));
        // After an absence packets are on time again. Behind a queue, later ones are late too.
        let next = &stream[last + 1..];
        let still_late = next.iter().take_while(|one| is_late(one)).count();
        let was_late = place > 0 && is_late(&stream[place - 1]);
        if was_late || still_late > last + 1 - place {
            found.queued += still_late + 1;
            place = last + 1 + still_late;
            continue;
        }
        if let Some(end) = end.filter(|end| *end > first.due) {
            let tolerance = TOGETHER.max((end - first.due) / TOGETHER_SHARE);
            let late = stream[place..=last].iter().filter_map(|one| one.end);
            let after = late.filter(|one| one - end > tolerance).count();
            let count = last + 1 - place;
            found.queued += after;
            found.together += count - after;
            if after * 2 <= count {
                found.absences.push(Absence { begin: first.due, end });
            }
        }
        place = last + 1;
    }
    found
}

/// Median time between the due times of a stream, at least 1 ns.
fn interval(stream: &[Arrival]) -> i64 {
    let mut gaps: Vec<i64> = stream.windows(2).map(|pair| pair[1].due - pair[0].due).collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied().unwrap_or(1).max(1)
}

/// Absences of several streams, of which overlapping ones are the same. The end of one whose arrivals were lost is late by up
/// to an interval, so the earliest end counts.
fn merged(mut all: Vec<Absence>) -> Vec<Absence> {
    all.sort_unstable();
    let (mut merged, mut last_end): (Vec<Absence>, i64) = (Vec::new(), i64::MIN);
    for absence in all {
        match merged.last_mut() {
            Some(last) if absence.begin <= last_end => last.end = last.end.min(absence.end),
            _ => merged.push(absence),
        }
        last_end = last_end.max(absence.end);
    }
    merged
}

/// The period with which absences return; `None` if chance explains them.
///
/// The ends of `k` of `n` absences lie within a part `w` of a period by chance with a probability of at most
/// C(n, k) · k · w^(k−1), for each period that is tried.
pub(in crate::explain) fn rhythm(absences: &[Absence], arrivals: &[Arrival]) -> Option<Rhythm> {
    let absences = &absences[..absences.len().min(MAX_ABSENCES)];
    if absences.len() < MIN_ABSENCES {
        return None;
    }
    let ends: Vec<f64> = absences.iter().map(|absence| absence.end as f64).collect();
    let length = median(absences.iter().map(|absence| absence.end - absence.begin))?;
    let span = ends[ends.len() - 1] - ends[0];
    let shortest = (MIN_INTERVALS * interval_of(arrivals)).max(2 * length) as f64;
    let shortest = shortest.max(span / STEP / MAX_PERIODS);
    if span < 3.0 * shortest {
        return None;
    }
    let longest = span / 3.0;
    let step = STEP / span;
    let count = ((1.0 / shortest - 1.0 / longest) / step) as usize;
    // Periods that differ by a step less than the arc are not independent of each other.
    let tried = ((count as f64) * STEP).max(1.0).ln();
    let periods = (0..=count).map(|place| 1.0 / (1.0 / longest + place as f64 * step));
    let scored = periods.map(|period| (score(&ends, period).0, period));
    let (_, coarse) = scored.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let period = refined(&ends, coarse);
    let (chance, from, width) = score(&ends, period);
    // A narrower arc has more independent places and periods.
    if chance + tried - width.max(1e-4).ln() > CHANCE {
        return None;
    }
    let fits = |absence: &&Absence| (absence.end as f64 / period - from).rem_euclid(1.0) <= width;
    Some(Rhythm {
        period: Some(period),
        length,
        absences: absences.iter().filter(fits).copied().collect(),
    })
}

/// Absences that are too rare for a period, but each of a second or more; `None` with fewer than two.
fn long(absences: &[Absence], interval: i64) -> Option<Rhythm> {
    let long: Vec<Absence> = absences
        .iter()
        .filter(|absence| absence.end - absence.begin >= LONG.max(MIN_INTERVALS * interval))
        .copied()
        .collect();
    let length = median(long.iter().map(|absence| absence.end - absence.begin))?;
    (long.len() >= 2).then_some(Rhythm {
        period: None,
        length,
        absences: long,
    })
}

/// Natural logarithm of the probability that chance puts the ends into the best arc, with the arc's begin and width as
/// parts of the period.
fn score(ends: &[f64], period: f64) -> (f64, f64, f64) {
    let mut phases: Vec<f64> = ends.iter().map(|end| (end / period).rem_euclid(1.0)).collect();
    phases.sort_by(f64::total_cmp);
    let n = phases.len();
    let least = (FITTING * n as f64).ceil() as usize;
    let mut best = (0.0, 0.0, 1.0);
    let mut choices = 0.0_f64;
    for k in (least..=n).rev() {
        let arcs = (0..n).map(|first| {
            let last = first + k - 1;
            let turn = if last >= n { 1.0 } else { 0.0 };
            (phases[last % n] + turn - phases[first], phases[first])
        });
        let Some((width, from)) = arcs.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            continue;
        };
        let width = width.max(1e-6);
        let chance = choices + (k as f64).ln() + (k - 1) as f64 * width.ln();
        if width <= ARC && chance < best.0 {
            best = (chance, from, width);
        }
        // C(n, k − 1) = C(n, k) · k / (n − k + 1).
        choices += (k as f64 / (n - k + 1) as f64).ln();
    }
    best
}

/// A period by least squares through the ends that fit a first estimate.
fn refined(ends: &[f64], coarse: f64) -> f64 {
    let mut period = coarse;
    for _ in 0..3 {
        let (_, from, width) = score(ends, period);
        let phase = |end: f64| end / period - from;
        let fitting = ends.iter().copied().filter(|end| phase(*end).rem_euclid(1.0) <= width);
        let points: Vec<(f64, f64)> = fitting.map(|end| (phase(end).floor(), end)).collect();
        let n = points.len() as f64;
        let (mean_cycle, mean_end) = (
            points.iter().map(|(cycle, _)| cycle).sum::<f64>() / n,
            points.iter().map(|(_, end)| end).sum::<f64>() / n,
        );
        let both = points
            .iter()
            .map(|(cycle, end)| (cycle - mean_cycle) * (end - mean_end));
        let square = points.iter().map(|(cycle, _)| (cycle - mean_cycle).powi(2));
        let (both, square) = (both.sum::<f64>(), square.sum::<f64>());
        if square > 0.0 && both > 0.0 {
            period = both / square;
        }
    }
    period
}

/// Shortest interval of the streams, in ns.
fn interval_of(arrivals: &[Arrival]) -> i64 {
    let mut dues: BTreeMap<(u16, bool), Vec<Arrival>> = BTreeMap::new();
    for arrival in arrivals {
        dues.entry(arrival.stream).or_default().push(*arrival);
    }
    let each = dues.values_mut().map(|stream| {
        stream.sort_unstable();
        interval(stream)
    });
    each.min().unwrap_or(1)
}

/// Of the absences of one station, the share that another station had too, among those in which it had arrivals due; `None`
/// with fewer than [`MIN_ABSENCES`] of these.
pub(in crate::explain) fn shared(of_one: &[Absence], other: &[Arrival], of_other: &[Absence]) -> Option<f64> {
    let mut dues: Vec<i64> = other.iter().map(|arrival| arrival.due).collect();
    dues.sort_unstable();
    let had_due = |absence: &&Absence| {
        let next = dues.partition_point(|due| *due < absence.begin);
        dues.get(next).is_some_and(|due| *due <= absence.end - TOGETHER)
    };
    let seen: Vec<&Absence> = of_one.iter().filter(had_due).collect();
    let overlaps = |absence: &&&Absence| {
        let next = of_other.partition_point(|other| other.end < absence.begin);
        of_other.get(next).is_some_and(|other| other.begin <= absence.end)
    };
    let both = seen.iter().filter(overlaps).count();
    (seen.len() >= MIN_ABSENCES).then(|| both as f64 / seen.len() as f64)
}

/// Beacon interval that access points have as delivered, in ns (100 TU of 1,024 µs, 802.11-2020 9.4.1.3).
const BEACON: f64 = 102_400_000.0;
/// Part of a run in which the clocks of an access point and of a station drift by less than a hundredth of a beacon
/// interval, in ns: 20 s at 50 ppm.
const DRIFT: i64 = 20_000_000_000;
/// Delay above the smallest one from which an arrival may have waited for a beacon, in ns.
const WAITED: i64 = 5_000_000;
/// Number of such arrivals for a result.
const MIN_WAITED: usize = 20;

/// Degree to which the ends of delayed arrivals follow the beacons of an access point, from 0 (not at all) to 1, and their
/// share of all arrivals. A device that dozes learns from beacons what waits for it (802.11-2020 11.2.3). `None` with too
/// few of them, or if they are due with the beacons.
pub(in crate::explain) fn beacon_locked(arrivals: &[Arrival]) -> Option<(f64, f64)> {
    let mut streams: BTreeMap<(u16, bool), Vec<Arrival>> = BTreeMap::new();
    for arrival in arrivals {
        streams.entry(arrival.stream).or_default().push(*arrival);
    }
    // Packets that the device itself sends wake it, so another stream may not wait.
    let each = streams.values().filter_map(|stream| locked_stream(stream));
    each.max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1)))
}

fn locked_stream(arrivals: &[Arrival]) -> Option<(f64, f64)> {
    let least = arrivals.iter().filter_map(|one| Some(one.end? - one.due)).min()?;
    let waited: Vec<(i64, i64)> = arrivals
        .iter()
        .filter_map(|one| Some((one.due, one.end?)))
        .filter(|(due, end)| end - due >= least + WAITED)
        .collect();
    if waited.len() < MIN_WAITED {
        return None;
    }
    let ends = strength(waited.iter().map(|(_, end)| *end));
    let dues = strength(waited.iter().map(|(due, _)| *due));
    // Those that are due at one phase end at one phase with any delay.
    (dues < ends / 2.0).then(|| (ends, waited.len() as f64 / arrivals.len() as f64))
}

/// Length of the mean of the phases in a beacon interval as vectors of length 1 (the circular mean resultant length), in parts
/// of the run, weighted by their numbers.
fn strength(times: impl Iterator<Item = i64>) -> f64 {
    let mut parts: BTreeMap<i64, (f64, f64, f64)> = BTreeMap::new();
    for time in times {
        let angle = (time as f64 / BEACON).rem_euclid(1.0) * std::f64::consts::TAU;
        let part = parts.entry(time.div_euclid(DRIFT)).or_default();
        *part = (part.0 + angle.cos(), part.1 + angle.sin(), part.2 + 1.0);
    }
    let length = parts.values().map(|(x, y, _)| x.hypot(*y)).sum::<f64>();
    let count = parts.values().map(|(_, _, n)| n).sum::<f64>();
    length / count.max(1.0)
}

fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests;
