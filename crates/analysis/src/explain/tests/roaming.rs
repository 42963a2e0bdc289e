//! Advice for stations that roam.

use super::*;
use netburn_record::{LinkChange, LinkEvent};

fn event(at_ms: i64, kind: EventKind, length: u64, change: LinkChange) -> Row {
    let text = "event".to_owned();
    Row::Event(EventRow {
        station: Some(0),
        workload: None,
        at: Instant::from_millis(at_ms),
        length,
        kind,
        detail: LinkEvent { change, text }.into(),
    })
}

fn advice(events: Vec<Row>) -> String {
    let late = (100..140).map(|n| frame(n * 100, 900));
    let well = (0..100).map(|n| frame(n * 100, 10));
    let rows: Vec<Row> = late.chain(well).chain(events).collect();
    let causes = causes_of(&rows, &[]);
    assert_eq!(kinds(&causes), [Kind::Roaming], "{causes:#?}");
    causes[0].advice.clone()
}

/// A client that answers a request with "no" is disassociated when the timer ends, and then is without a link for three
/// seconds. More requests do not help it.
#[test]
fn the_advice_fits_clients_that_reject_requests() {
    let (from, to) = (Some("hall".to_owned()), Some("attic".to_owned()));
    let roam = || {
        event(
            10_000,
            EventKind::Roam,
            3_000_000_000,
            LinkChange::Roamed {
                from: from.clone(),
                to: to.clone(),
            },
        )
    };
    let answer = |accepted| {
        event(
            1_000,
            EventKind::Steering,
            0,
            LinkChange::TransitionAnswered { accepted },
        )
    };
    let left = || {
        event(
            9_990,
            EventKind::Steering,
            0,
            LinkChange::Disassociated { from: from.clone() },
        )
    };
    let rejects = advice(vec![answer(false), left(), roam()]);
    assert!(
        rejects.starts_with("The station rejects transition requests"),
        "{rejects}"
    );
    for other in [
        vec![roam()],
        vec![answer(true), roam()],
        vec![answer(false), roam()],
        vec![answer(true), left(), roam()],
    ] {
        let advice = advice(other);
        assert!(
            advice.starts_with("Fast transition (802.11r) shortens the gap"),
            "{advice}"
        );
    }
}
