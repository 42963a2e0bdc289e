//! The rows of a session on their way from the measurement to the browser's store. Each flush stores the new rows with the
//! state of the session, so that a reload continues with both.

use crate::delivery::Delivery;
use crate::event::{CountedBatch, Event};
use crate::host::Host;
use crate::measurement::Measurement;
use crate::saved_session::{SavedSession, Stage};
use netburn_protocol::clock::Stamp;
use netburn_units::Duration;

/// Interval at which rows are stored and sent.
const FLUSH_INTERVAL: Duration = Duration::from_millis(200);
/// The results that only this page shows are stored once in this number of flushes.
const RESULTS_EVERY: u64 = 20;

/// The flushes of a session's rows.
pub(crate) struct Flusher {
    pub(crate) delivery: Delivery,
    next: Stamp,
    count: u64,
    /// True if another flush follows the write that is in progress.
    again: bool,
}

/// Rows and state of the measurement, for one flush.
pub(crate) struct Taken {
    batches: Vec<CountedBatch>,
    /// State of the measurement, during the run.
    pub(crate) measured: Option<serde_json::Value>,
    /// Results that only the page displays, if they are due.
    results: Option<serde_json::Value>,
}

impl Flusher {
    /// Creates a flusher without rows.
    pub(crate) fn new(host: &Host, run: &str) -> Flusher {
        Flusher {
            delivery: Delivery::new(run),
            next: host.now.after(FLUSH_INTERVAL),
            count: 0,
            again: false,
        }
    }

    /// Continues with the stored rows of a run, whose last sequence number was `sequence`.
    pub(crate) fn restore(host: &Host, run: &str, sequence: u64) -> Flusher {
        Flusher {
            delivery: Delivery::restore(host, run, sequence),
            // The state is stored already.
            count: 1,
            ..Flusher::new(host, run)
        }
    }

    /// Returns whether all rows so far are in the store, as far as they have room.
    pub(crate) fn is_idle(&self) -> bool {
        !self.again && !self.delivery.is_writing()
    }

    /// Returns whether rows can be stored now. If not, another flush follows the write that is in progress.
    pub(crate) fn begin(&mut self) -> bool {
        self.again |= self.delivery.is_writing();
        !self.delivery.is_writing()
    }

    /// Takes the rows of the measurement. Returns `None` if there is nothing to store.
    pub(crate) fn take(&self, host: &mut Host, measurement: &mut Measurement, stage: Stage) -> Option<Taken> {
        // The saved state comes first, so that the batches have every row of it.
        let measured = if stage == Stage::Running {
            measurement.input(host, Event::Save).saved
        } else {
            None
        };
        let batches = measurement.input(host, Event::Flush).batches;
        let is_delivering = stage == Stage::Delivering;
        if batches.is_empty() && self.count > 0 && !is_delivering {
            return None;
        }
        let results = if self.count.is_multiple_of(RESULTS_EVERY) || is_delivering {
            measurement.input(host, Event::Results).saved
        } else {
            None
        };
        Some(Taken {
            batches,
            measured,
            results,
        })
    }

    /// Stores rows with the state of the session.
    pub(crate) fn write(&mut self, host: &mut Host, taken: Taken, state: SavedSession) {
        let run = state.invitation.run.clone();
        let mut entries = self.delivery.add(taken.batches);
        let sequence = self.delivery.sequence;
        entries.push(SavedSession { sequence, ..state }.entry());
        let results = taken.results.map(|results| results.to_string());
        entries.extend(results.map(|results| (format!("results.{run}"), Some(results))));
        self.delivery.write(host, entries);
    }

    /// Stores the rows of the end of a session, without a state.
    pub(crate) fn write_rest(&mut self, host: &mut Host, measurement: &mut Measurement) {
        let batches = measurement.input(host, Event::Flush).batches;
        let entries = self.delivery.add(batches);
        if !entries.is_empty() {
            host.put(entries);
        }
    }

    /// The rows of the last flush can be sent.
    pub(crate) fn end(&mut self) {
        self.count += 1;
        self.delivery.handle_persisted();
    }

    /// Returns whether another flush was requested during the last write.
    pub(crate) fn take_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }

    /// Returns whether a flush is due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Stamp) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now.after(FLUSH_INTERVAL);
        }
        is_due
    }

    pub(crate) fn poll_timeout(&self) -> Stamp {
        self.delivery.poll_timeout().map_or(self.next, |at| at.min(self.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Loaded;
    use crate::measurement::RunClock;
    use crate::server::Prepared;
    use netburn_protocol::messages::{Message, ToAgent};

    /// A measurement of run `r` that has begun, with a state of its session.
    fn running(host: &mut Host) -> (Measurement, SavedSession) {
        let text = r#"{"type": "assign", "stations": [0], "target": {"address": "192.0.2.1:4480", "datagram_port": 4480},
            "plan": {"name": "x", "seed": 1, "station": {"tv": {"workload": ["voip"]}}}}"#;
        let ToAgent::Assign(assign) = ToAgent::from_text(text).unwrap() else {
            panic!("an assignment")
        };
        let mut measurement = Measurement::default();
        measurement.assign(assign).unwrap();
        measurement.prepare(host, Prepared::default());
        measurement.clock = Some(RunClock { zero: 0, began: 0 });
        measurement.begin(host, None, None, false);
        let state = r#"{"invitation": {"run": "r", "name": "tv", "token": "secret"}, "stage": "Running", "is_late": false,
            "origins": [], "at": 0, "sequence": 0}"#;
        (measurement, serde_json::from_str(state).unwrap())
    }

    #[test]
    fn a_flush_stores_rows_with_the_state_and_at_times_the_results() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let (mut measurement, state) = running(&mut host);
        let mut flusher = Flusher::new(&host, "r");
        let stored = |host: &Host| {
            let entries = host.entries("").into_iter().map(|(key, _)| key);
            entries.collect::<Vec<String>>()
        };
        // The first one has no rows.
        let taken = flusher.take(&mut host, &mut measurement, Stage::Running).unwrap();
        flusher.write(&mut host, taken, state.clone());
        assert_eq!(stored(&host), ["results.r", "run.r"]);
        flusher.end();
        assert!(flusher.take(&mut host, &mut measurement, Stage::Running).is_none());
        measurement.warn(&mut host, Stamp(0), "a warning");
        let taken = flusher.take(&mut host, &mut measurement, Stage::Running).unwrap();
        assert!(taken.measured.is_some() && taken.results.is_none());
        flusher.write(&mut host, taken, state);
        assert_eq!(stored(&host), ["results.r", "rows.r.1", "run.r"]);
        let saved = host
            .entry("run.r")
            .map(|text| serde_json::from_str::<SavedSession>(text));
        assert_eq!(saved.unwrap().unwrap().sequence, 1);
        assert!(
            flusher.take(&mut host, &mut measurement, Stage::Delivering).is_some(),
            "the results of the end"
        );
    }

    #[test]
    fn one_flush_follows_a_write_that_is_in_progress() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let (mut measurement, state) = running(&mut host);
        let mut flusher = Flusher::new(&host, "r");
        assert!(flusher.begin());
        let taken = flusher.take(&mut host, &mut measurement, Stage::Running).unwrap();
        flusher.write(&mut host, taken, state);
        assert!(!flusher.begin() && !flusher.begin() && !flusher.is_idle());
        assert!(flusher.delivery.handle_timeout(Stamp(2_000_000_000)));
        assert!(flusher.take_again() && !flusher.take_again() && flusher.is_idle());
    }
}
