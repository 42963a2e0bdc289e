//! Laws of the probes and the load of `responsiveness`.

use crate::config::{Config, LOAD_OBJECT};
use crate::kinds::responsiveness::PROBE_OBJECT;
use crate::kinds::responsiveness::Part;
use crate::machine::{Connection, Direction, Request, RequestId};
use crate::operation::{Operation, Outcome};
use crate::schedule::BACKOFF;
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;

/// Ended operations by number.
type Ended = BTreeMap<u64, Operation>;

/// Checks a request. Returns its persistent connection if it transfers load. `freed`: the connection whose load ended in this call,
/// maybe after the request.
pub(super) fn check_begin(
    config: &Config,
    request: &Request,
    active: &BTreeMap<RequestId, Option<u32>>,
    freed: Option<u32>,
) -> Option<u32> {
    let down = config.load().down;
    match (Part::from_sequence(request.id.operation), request.connection) {
        (Part::Foreign, Connection::New) => {
            assert_eq!((request.size, request.direction), (PROBE_OBJECT, Direction::Down));
            None
        }
        (Part::Own, Connection::Kept(slot)) => {
            assert_eq!((request.size, request.direction), (PROBE_OBJECT, Direction::Down));
            assert!(
                freed == Some(slot) || active.values().any(|held| *held == Some(slot)),
                "no load on the connection: {request:?}"
            );
            None
        }
        (Part::Load, Connection::Kept(slot)) => {
            assert!(slot < config.load().count(), "{request:?}");
            let direction = if slot < down { Direction::Down } else { Direction::Up };
            assert_eq!((request.size, request.direction), (LOAD_OBJECT, direction));
            assert!(
                !active.values().any(|held| *held == Some(slot)),
                "loaded twice: {request:?}"
            );
            Some(slot)
        }
        other => panic!("an invalid connection: {other:?}"),
    }
}

fn in_part(ended: &Ended, part: Part) -> impl Iterator<Item = &Operation> {
    ended
        .values()
        .filter(move |operation| Part::from_sequence(operation.sequence) == part)
}

/// Checks that every number of each part ends exactly once.
pub(super) fn check_numbers(ended: &Ended) {
    for part in [Part::Foreign, Part::Own, Part::Load] {
        let numbers: Vec<u64> = in_part(ended, part).map(|operation| operation.sequence).collect();
        let expected: Vec<u64> = (0..numbers.len() as u64).map(|number| part.operation(number)).collect();
        assert_eq!(numbers, expected, "every number of {part:?} ends exactly once");
    }
}

/// Checks that in each window the probes of each kind are on one grid, with the same phase in each window, and that each load
/// connection starts with the window and continues when its object ends, or a while after a failure.
pub(super) fn check_dues(config: &Config, ended: &Ended, windows: &[(Instant, Instant)]) {
    let interval = config.interval().expect("probes have an interval");
    let mut checked = 0;
    let mut phases = [None; 2];
    for (from, to) in windows {
        let inside = |operation: &&Operation| operation.due >= *from && operation.due < *to;
        for (part, phase) in [Part::Foreign, Part::Own].into_iter().zip(&mut phases) {
            let probes: Vec<&Operation> = in_part(ended, part).filter(inside).collect();
            let Some(first) = probes.first() else { continue };
            let since = first.due.since(*from);
            assert_eq!(
                *phase.get_or_insert(since),
                since,
                "each window has the same phase: {first:?}"
            );
            for (number, probe) in (0..).zip(&probes) {
                assert_eq!(
                    probe.due,
                    first.due + interval_of(config, interval) * number,
                    "{probe:?}"
                );
            }
            let after = first.due + interval_of(config, interval) * probes.len() as u64;
            assert!(after >= *to, "a probe is missing before {to:?}");
            checked += probes.len();
        }
        let loads: Vec<&Operation> = in_part(ended, Part::Load).filter(inside).collect();
        let mut expected = vec![*from; config.load().count() as usize];
        for load in &loads {
            let place = expected.iter().position(|due| *due == load.due);
            let place = place.unwrap_or_else(|| panic!("no connection continues at {load:?}: {expected:?}"));
            expected.swap_remove(place);
            if let Some(finished) = load.finished {
                let well = load.outcome == Outcome::Finished;
                expected.push(finished + if well { Duration::ZERO } else { BACKOFF });
            }
        }
        checked += loads.len();
    }
    assert_eq!(checked, ended.len(), "an operation is due in no window");
}

/// Time between two probes of one kind: with load, twice the time from a foreign to a self probe.
fn interval_of(config: &Config, interval: Duration) -> Duration {
    if config.load().count() > 0 {
        interval / 2 * 2
    } else {
        interval
    }
}
