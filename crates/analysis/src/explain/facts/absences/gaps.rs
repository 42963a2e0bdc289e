//! Absences in the arrivals of a station.

use crate::explain::evidence::Arrival;
use std::collections::BTreeMap;

/// A time in which nothing arrived, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::explain) struct Absence {
    /// Due time of the first that waited, so the absence began at most one interval before.
    pub(in crate::explain) begin: i64,
    pub(in crate::explain) end: i64,
}

/// Part of a late operation that must be within absences. After an absence, TCP may need a time-out to go on.
const PART: f64 = 0.3;
/// Delay above the median from which an arrival is late, in ns. It exceeds the queue of an access point with airtime queue
/// limits (5 to 12 ms for a station, `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L` and `_H` of mac80211).
const LATE: i64 = 15_000_000;
/// Difference of the ends of arrivals that belong to one absence, in ns, and as a share of its length: what waited is sent
/// one after the other.
const TOGETHER: i64 = 10_000_000;
const TOGETHER_SHARE: i64 = 4;
/// Number of arrivals of a stream, and of absences, from which they tell something.
pub(in crate::explain) const MIN_ABSENCES: usize = 5;

/// Returns true if a wait, from its begin to its end in ns, was within absences for [`PART`] of its length or more.
pub(super) fn is_within(absences: &[Absence], (from, to): (i64, i64)) -> bool {
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

/// Returns true if a wait, from its begin to its end in ns, was partly within an absence.
pub(in crate::explain::facts) fn touches(absences: &[Absence], (from, to): (i64, i64)) -> bool {
    absences
        .iter()
        .any(|absence| absence.begin <= to && absence.end >= from)
}

/// Returns true if an arrival was lost in half of the absences or more.
pub(super) fn mostly_lost(absences: &[Absence], arrivals: &[Arrival]) -> bool {
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
pub(super) fn late(arrivals: &[Arrival]) -> Vec<(i64, i64)> {
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
pub(in crate::explain::facts) fn absences(arrivals: &[Arrival]) -> Vec<Absence> {
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

/// Of the absences of one station, the share that another station had too, among those in which it had arrivals due; `None`
/// with fewer than [`MIN_ABSENCES`] of these.
pub(super) fn shared(of_one: &[Absence], other: &[Arrival], of_other: &[Absence]) -> Option<f64> {
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

/// Shortest interval of the streams, in ns.
pub(in crate::explain::facts) fn interval_of(arrivals: &[Arrival]) -> i64 {
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

pub(super) fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
