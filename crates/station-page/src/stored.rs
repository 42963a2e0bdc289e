//! Messages with rows or a report, which are kept as JSON. Rows that a reload interrupts are sent without parsing them, so the
//! module does not contain the readers of rows and reports.

use netburn_protocol::messages::Message;
use netburn_protocol::messages::standing::{FromMember, LateResultsEnd};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the number of rows in a batch; `None` if it is no batch.
pub(crate) fn count(batch: &str) -> Option<usize> {
    let tables: BTreeMap<String, Vec<IgnoredAny>> = serde_json::from_str(batch).ok()?;
    Some(tables.values().map(Vec::len).sum())
}

/// Returns the message `rows`.
pub(crate) fn rows(sequence: u64, batch: &str) -> String {
    format!(r#"{{"type":"rows","sequence":{sequence},"batch":{batch}}}"#)
}

/// Returns the message `health`.
pub(crate) fn health(report: &Value) -> String {
    format!(r#"{{"type":"health","health":{report}}}"#)
}

/// Returns the message `late-results`. The name of the run and the proof have no characters that JSON escapes.
pub(crate) fn late_results(run: &str, proof: &str, sequence: u64, batch: &str) -> String {
    format!(r#"{{"type":"late-results","run":"{run}","proof":"{proof}","sequence":{sequence},"batch":{batch}}}"#)
}

/// Returns the message `late-results-end`. `end` has no report.
pub(crate) fn late_results_end(end: LateResultsEnd, report: Option<&Value>) -> String {
    let mut text = FromMember::LateResultsEnd(end).to_text();
    if let Some(report) = report {
        text.pop();
        text.push_str(&format!(r#","health":{report}}}"#));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::standing::{LateResults, proof};
    use netburn_protocol::messages::{Batch, HealthMessage, Rows, ToController};
    use netburn_record::{Health, IntervalRow, OperationRow, Role, Row};

    #[test]
    fn messages_are_those_of_the_protocol() {
        let mut batch = Batch::default();
        batch.push(&Row::Interval(IntervalRow::default()));
        batch.push(&Row::Operation(OperationRow::default()));
        batch.push(&Row::Operation(OperationRow::default()));
        let text = serde_json::to_string(&batch).unwrap();
        assert_eq!(count(&text), Some(3));
        assert_eq!(
            [count("{}"), count("[]"), count(r#"{"operations":1}"#)],
            [Some(0), None, None]
        );
        let message = ToController::Rows(Rows {
            sequence: 7,
            batch: batch.clone(),
        });
        assert_eq!(rows(7, &text), message.to_text());
        let late = LateResults {
            run: "r-1".to_owned(),
            proof: proof("secret"),
            sequence: 7,
            batch,
        };
        let message = FromMember::LateResults(late.clone());
        assert_eq!(late_results(&late.run, &late.proof, 7, &text), message.to_text());

        let report = serde_json::to_value(Health::new("tv", Role::Agent)).unwrap();
        let message = ToController::Health(HealthMessage {
            health: Health::new("tv", Role::Agent),
        });
        assert_eq!(health(&report), message.to_text());
        let end = LateResultsEnd {
            run: "r-1".to_owned(),
            error: Some("\"".to_owned()),
            ..LateResultsEnd::default()
        };
        let with_report = LateResultsEnd {
            health: Some(Health::new("tv", Role::Agent)),
            ..end.clone()
        };
        let text = late_results_end(end, Some(&report));
        assert_eq!(
            FromMember::from_text(&text),
            Ok(FromMember::LateResultsEnd(with_report))
        );
    }
}
