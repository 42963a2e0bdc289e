//! Access points that do not hear each other: links of wireless backhauls and meshes with a signal below the lowest rate.

use crate::decode::{Context, Spanned};
use crate::plan::{Ap, Building, RadioRef};
use netburn_medium::config::{LinkQuality, RadioConfig, Standard};
use netburn_medium::geometry::Position;
use netburn_medium::signal;
use netburn_units::Dbm;

/// One end of a link.
struct End<'a> {
    ap: &'a Ap,
    radio: RadioConfig,
}

/// A signal, and the one that the lowest rate needs.
struct Missing {
    signal: Dbm,
    weakest: Dbm,
}

fn end<'a>(aps: &'a [Ap], radio: &RadioRef) -> Option<End<'a>> {
    let ap = aps.iter().find(|ap| ap.name == radio.ap)?;
    // A rating that can't be decoded is reported elsewhere.
    let radios = ap.all_radios().ok()?;
    let (_, radio) = radios.into_iter().find(|(name, _)| *name == radio.radio)?;
    Some(End { ap, radio })
}

/// Returns the signal of a link if it is too weak for its lowest rate in one direction; `None` if it is not, or if it is
/// unknown.
fn missing(building: Option<&Building>, one: &End<'_>, other: &End<'_>, fixed: Option<Dbm>) -> Option<Missing> {
    let standard = common(&one.radio, &other.radio)?;
    let received = match fixed {
        Some(signal) => signal,
        None => {
            let dbm = weaker(
                building,
                (&one.radio, one.ap.position?),
                (&other.radio, other.ap.position?),
            );
            Dbm::from_hundredths((dbm.clamp(-1e6, 1e6) * 100.0).round() as i32)
        }
    };
    let error = signal::check(received.as_dbm_f64(), &signal::slowest(standard)).err()?;
    Some(Missing {
        signal: received,
        weakest: error.weakest,
    })
}

/// Received power in dBm in the weaker of both directions.
fn weaker(building: Option<&Building>, one: (&RadioConfig, Position), other: (&RadioConfig, Position)) -> f64 {
    let model = building.map(|building| building.model.clone()).unwrap_or_default();
    let loss = model.loss_db(one.0.band, one.1, other.1);
    one.0.power.min(other.0.power).as_dbm_f64() - loss
}

/// Newest standard of a band that both radios have.
fn common(one: &RadioConfig, other: &RadioConfig) -> Option<Standard> {
    let newest = one.standard.generation().min(other.standard.generation());
    let fits = |standard: &Standard| standard.in_band(one.band) && standard.generation() <= newest;
    let all = Standard::ALL.into_iter().filter(fits);
    all.max_by_key(|standard| standard.generation())
}

/// Reports a wireless backhaul whose signal is too weak for every rate.
pub(super) fn check_backhaul<T>(
    at: &Spanned<T>,
    ap: &Ap,
    parent: &RadioRef,
    aps: &[Ap],
    building: Option<&Building>,
    cx: &mut Context,
) {
    let fixed = match ap.backhaul_quality {
        Some(LinkQuality::Signal(signal)) => Some(signal),
        Some(_) => return,
        None => None,
    };
    let Some(theirs) = end(aps, parent) else { return };
    let Ok(own) = ap.all_radios() else { return };
    let same = |(_, radio): &(_, RadioConfig)| (radio.band, radio.channel) == (theirs.radio.band, theirs.radio.channel);
    let Some((_, radio)) = own.into_iter().find(same) else {
        return;
    };
    let own = End { ap, radio };
    if let Some(Missing { signal, weakest }) = missing(building, &theirs, &own, fixed) {
        let message = format!(
            "`{}` can't be reached from `{parent}`: the signal is {signal}, and the lowest rate needs {weakest}",
            ap.name
        );
        let help = match fixed {
            Some(_) => format!("use a `backhaul_signal` of {weakest} or more"),
            None => "place them nearer to each other, or name a nearer parent".to_owned(),
        };
        cx.problem_at(at, message, help);
    }
}

/// Reports the first member of a mesh that the others do not reach from the root.
pub(super) fn check_mesh(
    radios: &[Spanned<RadioRef>],
    root: &str,
    aps: &[Ap],
    building: Option<&Building>,
    cx: &mut Context,
) {
    let ends: Option<Vec<End<'_>>> = radios.iter().map(|at| end(aps, &at.value)).collect();
    let Some(ends) = ends else { return };
    let mut reached: Vec<usize> = (0..ends.len()).filter(|place| ends[*place].ap.name == root).collect();
    let mut next = 0;
    while let Some(from) = reached.get(next).copied() {
        next += 1;
        for to in 0..ends.len() {
            if !reached.contains(&to) && missing(building, &ends[from], &ends[to], None).is_none() {
                reached.push(to);
            }
        }
    }
    if let Some(lost) = (0..ends.len()).find(|place| !reached.contains(place) && !reached.is_empty()) {
        let message = format!(
            "`{}` can't be reached from the root `{root}`: all signals are too weak for the lowest rate",
            ends[lost].ap.name
        );
        cx.problem_at(&radios[lost], message, "place it nearer, or remove it".to_owned());
    }
}
