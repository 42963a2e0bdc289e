//! The entry point for a fuzzer.

use crate::snapshot::{Snapshot, describe, radios};
use crate::syslog::LogReading;
use crate::telemetry::{AccessPointTelemetry, Addresses};
use crate::transcript::{Answer, Transcript};
use netburn_record::summary::Summariser;
use netburn_record::{AccessPointEvent, Detail, Observable, Row, RunStatus, Sink};
use netburn_units::{Duration, Instant};

/// The word of the session.
const WORD: &str = "w";

/// Reads bytes as what an access point sends.
///
/// # Panics
/// When something panics, or the rows break a law: answers do not depend on how the bytes arrive, an increase is not
/// negative, a share is at most 1, and no text has a control character.
pub fn check(bytes: &[u8]) {
    let answers = answers(bytes, bytes.len());
    assert_eq!(answers, self::answers(bytes, 7));
    let station = "192.168.77.11".parse().expect("it is an address");
    let mut telemetry = AccessPointTelemetry::new("ap", Addresses::new([(station, 0)]));
    for (answer, second) in answers.iter().zip(0..) {
        let now = Instant::from_secs(second);
        match answer.request.as_str() {
            "about" => telemetry.handle_description(now, describe(answer), radios(answer)),
            "sample" => telemetry.handle_sample(now, Snapshot::from_answer(answer), Duration::ZERO),
            "radios" => telemetry.handle_radios(now, radios(answer)),
            "log" => telemetry.handle_log(now, LogReading::from_answer(answer)),
            _ => telemetry.handle_lost(now, "it is lost"),
        }
        while let Some(row) = telemetry.poll_row() {
            law(&row);
        }
    }
}

/// Reads bytes as a file with dumps. A readable file becomes a run that can be judged.
///
/// # Panics
/// When something panics, or the rows break a law.
pub fn check_dumps(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok((header, rows)) = crate::dumps::read(&text, "fuzz") else {
        return;
    };
    let plan = netburn_scenario::Plan::from_json(&header.plan.to_json()).expect("what is kept can be read again");
    assert_eq!(plan, header.plan);
    let mut summary = Summariser::new(header);
    for row in &rows {
        law(row);
        summary.put(row).expect("it takes everything");
    }
    let summary = summary.finish("fuzz", &RunStatus::Complete);
    assert_eq!(summary.access_points.len(), 1);
}

fn law(row: &Row) {
    match row {
        Row::Observed(row) => {
            assert!(row.span.is_zero() || row.value >= 0, "{row:?}");
            let part = row.part.as_deref().unwrap_or_default();
            assert!(!part.contains(char::is_control) && part.len() <= 100, "{row:?}");
            let is_share = matches!(row.quantity, Observable::ProcessorBusy | Observable::ProcessorSoftirq);
            assert!(!is_share || (0..=1_000_000).contains(&row.value), "{row:?}");
        }
        Row::Event(row) => {
            assert!(matches!(row.detail, Detail::AccessPoint(_)));
            assert!(!row.detail.text().contains(char::is_control), "{row:?}");
            if let Detail::AccessPoint(event) = &row.detail
                && let AccessPointEvent::Described { facts, .. } = &**event
            {
                let texts = facts.iter().flat_map(|(topic, fact)| [topic, fact]);
                assert!(
                    texts.into_iter().all(|text| !text.contains(char::is_control)),
                    "{row:?}"
                );
            }
        }
        row => panic!("no row of an access point: {row:?}"),
    }
}

fn answers(bytes: &[u8], step: usize) -> Vec<Answer> {
    let mut transcript = Transcript::new(WORD);
    let mut answers = Vec::new();
    for part in bytes.chunks(step.max(1)) {
        if transcript.push(part).is_err() {
            break;
        }
        answers.extend(std::iter::from_fn(|| transcript.next_answer()));
    }
    answers
}
