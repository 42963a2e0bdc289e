//! Rows about the DSCP with which the datagrams of each load arrived.

use super::Shared;
use crate::datagram::Arrivals;
use netburn_record::row::baseline_target;
use netburn_record::{DscpArrivals, EventKind, EventRow, Row};
use netburn_units::Instant;
use netburn_workload::Direction;

/// Adds the rows of all loads at the end of a drive. A load without marks, sent or received, has no row.
pub(in crate::drive) fn record(shared: &Shared, now: Instant) {
    for (index, load) in shared.loads.iter().enumerate() {
        let Some(Arrivals { up, down }) = load.arrivals() else {
            continue;
        };
        let mut scheduler = shared.scheduler.borrow_mut();
        let (station, workload) = scheduler.place(index);
        if baseline_target(workload).is_some() {
            continue;
        }
        let sent = scheduler.config(index).marking().dscp;
        for (direction, counts) in [(Direction::Up, up), (Direction::Down, down)] {
            let arrivals = DscpArrivals::new(direction, sent, counts.iter());
            if let Some(arrivals) = arrivals.filter(DscpArrivals::is_marked) {
                scheduler.put(Row::Event(EventRow {
                    station: Some(station),
                    workload: Some(workload),
                    at: now,
                    length: 0,
                    kind: EventKind::Dscp,
                    detail: arrivals.into(),
                }));
            }
        }
    }
}
