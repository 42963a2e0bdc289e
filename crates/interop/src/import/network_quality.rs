//! Import of `networkQuality -c`, which is in macOS.
//!
//! The document has no times of single measurements: the run has them at equal distances. Its throughputs are those that
//! networkQuality prints. Requests of foreign and self probes are workloads with the names of the draft
//! (draft-ietf-ippm-responsiveness). Requests before the load are idle latency.

use super::common::local_nanos;
use super::file_error::FileError;
use super::http_probes::{MAX_RATE, MAX_RESPONSE, MAX_SECONDS, Probes};
use super::tool::{Content, Tool};
use super::{ImportError, Imported};
use netburn_record::header::{Host, Source};
use serde::Deserialize;

pub(super) const TOOL: Tool = Tool {
    files: "a result of networkQuality (`-c`)",
    recognises: |content| {
        content.has_keys(&["dl_throughput"])
            || content.has_keys(&["base_rtt", "dl_flows"])
            || content.has_keys(&["end_date", "error_code"])
    },
    read: |content, file| read(content, file).map_err(|error| ImportError::file("networkQuality", error)),
};

/// Most values of a list.
const MAX_VALUES: usize = 1_000_000;
/// Length of the test in seconds, if the document has none.
const USUAL_SECONDS: f64 = 10.0;

/// Rates are in bit/s, and times in ms.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Document {
    base_rtt: Option<f64>,
    responsiveness: Option<f64>,
    dl_throughput: Option<f64>,
    ul_throughput: Option<f64>,
    dl_phase_duration: Option<f64>,
    start_date: String,
    end_date: String,
    os_version: String,
    test_endpoint: String,
    il_h2_req_resp: Vec<f64>,
    lud_foreign_h2_req_resp: Vec<f64>,
    lud_foreign_dl_h2_req_resp: Vec<f64>,
    lud_foreign_ul_h2_req_resp: Vec<f64>,
    lud_self_h2_req_resp: Vec<f64>,
    lud_self_dl_h2: Vec<f64>,
    lud_self_ul_h2: Vec<f64>,
    error_code: Option<i64>,
}

fn read(content: &Content<'_>, file: &str) -> Result<Imported, FileError> {
    let document: Document = serde_json::from_slice(content.bytes())?;
    if let Some(code) = document.error_code {
        return Err(FileError::Empty(format!("networkQuality reports the error {code}")));
    }
    let (seconds, is_known) = seconds(&document)?;
    let mut probes = Probes::default();
    for (key, rate, down) in [
        ("dl_throughput", document.dl_throughput, true),
        ("ul_throughput", document.ul_throughput, false),
    ] {
        let Some(rate) = rate else { continue };
        if !(0.0..=8.0 * MAX_RATE).contains(&rate) {
            return Err(FileError::value(
                key,
                format!("found {rate} bit/s, expected at most 1 Tbit/s"),
            ));
        }
        if rate > 0.0 {
            probes.load(down, &[(0.0, seconds, rate / 8.0 * seconds)]);
        }
    }
    let lists = [
        (
            Some("foreign"),
            "lud_foreign_h2_req_resp",
            &document.lud_foreign_h2_req_resp,
        ),
        (
            Some("foreign-down"),
            "lud_foreign_dl_h2_req_resp",
            &document.lud_foreign_dl_h2_req_resp,
        ),
        (
            Some("foreign-up"),
            "lud_foreign_ul_h2_req_resp",
            &document.lud_foreign_ul_h2_req_resp,
        ),
        (Some("self"), "lud_self_h2_req_resp", &document.lud_self_h2_req_resp),
        (Some("self-down"), "lud_self_dl_h2", &document.lud_self_dl_h2),
        (Some("self-up"), "lud_self_ul_h2", &document.lud_self_ul_h2),
        (None, "il_h2_req_resp", &document.il_h2_req_resp),
    ];
    for (name, key, values) in lists {
        if !values.is_empty() {
            probes.requests(name, &spread(key, values, name.is_some(), seconds)?);
        }
    }
    let host = Host {
        os: format!("macOS {}", document.os_version.trim_start_matches("Version "))
            .trim_end()
            .to_owned(),
        ..Host::default()
    };
    let to = match document.test_endpoint.as_str() {
        "" => String::new(),
        endpoint => format!(" to {endpoint}"),
    };
    let source = Source {
        program: "networkQuality".to_owned(),
        test: format!("responsiveness{to}"),
        file: file.to_owned(),
        left_out: left_out(&document, is_known),
        ..Source::default()
    };
    probes.imported(seconds, host, source)
}

/// Length of the load in seconds, and true if the document has it.
fn seconds(document: &Document) -> Result<(f64, bool), FileError> {
    let date = |text: &str| local_nanos(text, [0, 1, 2]);
    let dates = date(&document.start_date).zip(date(&document.end_date));
    let between = dates.map(|(start, end)| end.saturating_sub(start) as f64 / 1e9);
    match document.dl_phase_duration.or(between) {
        None => Ok((USUAL_SECONDS, false)),
        Some(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => Ok((seconds, true)),
        Some(seconds) => Err(FileError::value(
            "start_date and end_date",
            format!("found {seconds} s, expected a test of at most a day"),
        )),
    }
}

/// Start and length of each request in seconds, at equal distances: during the load, or before it.
fn spread(key: &str, values: &[f64], loaded: bool, seconds: f64) -> Result<Vec<(f64, f64)>, FileError> {
    if values.len() > MAX_VALUES {
        return Err(FileError::TooMany {
            what: "values of a list",
            most: MAX_VALUES,
        });
    }
    // Idle requests are as far apart as loaded ones would be.
    let step = seconds / values.len() as f64;
    let start = if loaded { 0.0 } else { -seconds };
    let request = |(place, ms): (usize, &f64)| {
        if (0.0..=MAX_RESPONSE * 1e3).contains(ms) {
            Ok((start + step * place as f64, ms / 1e3))
        } else {
            Err(FileError::value(
                format!("{key}[{place}]"),
                format!("found {ms} ms, expected 0 ms to 10 min"),
            ))
        }
    };
    values.iter().enumerate().map(request).collect()
}

/// Content of the document that the run does not have, as texts.
fn left_out(document: &Document, has_length: bool) -> Vec<String> {
    let mut left_out =
        vec!["the times of the requests, which the file does not have; the run spreads them evenly".to_owned()];
    if !has_length {
        left_out.push("the length of the test, which the file does not have; the run has 10 s".to_owned());
    }
    left_out.push("handshakes of TCP and TLS".to_owned());
    if let Some(rpm) = document.responsiveness.filter(|rpm| rpm.is_finite()) {
        left_out.push(format!("the score of networkQuality: {rpm:.0} round trips per minute"));
    }
    if let Some(rtt) = document.base_rtt.filter(|rtt| rtt.is_finite()) {
        left_out.push(format!("the idle round-trip time of networkQuality: {rtt:.1} ms"));
    }
    left_out
}
