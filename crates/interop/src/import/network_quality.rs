//! Import of `networkQuality -c`, which is in macOS.
//!
//! The document has no times of single measurements: the run has them at equal distances. Its throughputs are those that
//! networkQuality prints. Requests of self probes are workloads with the names of the draft
//! (draft-ietf-ippm-responsiveness). Of a foreign probe, the document has the request without its handshakes, which takes
//! one round trip: it is a `foreign-request`. Requests before the load are idle latency.
//!
//! With `-s` the download comes first, and the upload follows it. Such a document has the foreign probes of each.

use super::bounded::Bounded;
use super::common::local_nanos;
use super::file_error::FileError;
use super::http_probes::{MAX_RATE, MAX_RESPONSE, MAX_SECONDS, Part, Probes};
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
const MAX_VALUES: usize = 100_000;
/// Length of a load in seconds, if the document has none.
const USUAL_SECONDS: f64 = 10.0;

type Values = Bounded<f64, MAX_VALUES>;

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
    il_h2_req_resp: Values,
    lud_foreign_h2_req_resp: Values,
    lud_foreign_dl_h2_req_resp: Values,
    lud_foreign_ul_h2_req_resp: Values,
    lud_self_h2_req_resp: Values,
    lud_self_dl_h2: Values,
    lud_self_ul_h2: Values,
    error_code: Option<i64>,
}

fn read(content: &Content<'_>, file: &str) -> Result<Imported, FileError> {
    let document: Document = serde_json::from_slice(content.bytes())?;
    if let Some(code) = document.error_code {
        return Err(FileError::Empty(format!("networkQuality reports the error {code}")));
    }
    let times = Times::new(&document)?;
    let window = |part: Part| times.is_sequential.then_some(part);
    let mut probes = Probes::default();
    for (key, rate, down, part) in [
        ("dl_throughput", document.dl_throughput, true, times.down),
        ("ul_throughput", document.ul_throughput, false, times.up),
    ] {
        let Some(rate) = rate else { continue };
        if !(0.0..=8.0 * MAX_RATE).contains(&rate) {
            return Err(FileError::value(
                key,
                format!("found {rate} bit/s, expected at most 1 Tbit/s"),
            ));
        }
        if rate > 0.0 {
            let bytes = rate / 8.0 * (part.to - part.from);
            probes.load(down, &[(part.from, part.to, bytes)], window(part));
        }
    }
    let (d, Times { whole, down, up, .. }) = (&document, times);
    let lists = [
        (
            "foreign-request",
            "lud_foreign_h2_req_resp",
            &d.lud_foreign_h2_req_resp,
            whole,
        ),
        (
            "foreign-request-down",
            "lud_foreign_dl_h2_req_resp",
            &d.lud_foreign_dl_h2_req_resp,
            down,
        ),
        (
            "foreign-request-up",
            "lud_foreign_ul_h2_req_resp",
            &d.lud_foreign_ul_h2_req_resp,
            up,
        ),
        ("self", "lud_self_h2_req_resp", &d.lud_self_h2_req_resp, whole),
        ("self-down", "lud_self_dl_h2", &d.lud_self_dl_h2, down),
        ("self-up", "lud_self_ul_h2", &d.lud_self_ul_h2, up),
    ];
    for (name, key, values, part) in lists {
        if !values.0.is_empty() {
            probes.requests(Some(name), &spread(key, &values.0, part)?, window(part));
        }
    }
    // Idle requests are as far apart as loaded ones would be.
    let idle = Part {
        from: -down.to,
        to: 0.0,
    };
    if !d.il_h2_req_resp.0.is_empty() {
        probes.requests(None, &spread("il_h2_req_resp", &d.il_h2_req_resp.0, idle)?, None);
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
        left_out: left_out(&document, &times),
        ..Source::default()
    };
    probes.imported(whole.to, host, source)
}

/// Times of the loads in seconds of the run.
#[derive(Debug, Clone, Copy)]
struct Times {
    whole: Part,
    down: Part,
    up: Part,
    /// True if the upload follows the download.
    is_sequential: bool,
    /// True if the document has the length of the loads.
    is_known: bool,
}

impl Times {
    fn new(document: &Document) -> Result<Self, FileError> {
        let date = |text: &str| local_nanos(text, [0, 1, 2]);
        let dates = date(&document.start_date).zip(date(&document.end_date));
        let between = dates.map(|(start, end)| end.saturating_sub(start) as f64 / 1e9);
        let per_direction = [
            &document.lud_foreign_dl_h2_req_resp,
            &document.lud_foreign_ul_h2_req_resp,
        ];
        let is_sequential = per_direction.iter().any(|list| !list.0.is_empty());
        let parts = if is_sequential { 2.0 } else { 1.0 };
        let known = document.dl_phase_duration.or(between.map(|whole| whole / parts));
        let length = known.unwrap_or(USUAL_SECONDS);
        // The bytes of a run are those of tenths of a second, so that no tenth has both loads.
        let length = if is_sequential {
            ((length * 10.0).round() / 10.0).max(0.1)
        } else {
            length
        };
        let whole = match between {
            Some(whole) if is_sequential && whole > length => whole,
            _ => length * parts,
        };
        if !(known.is_none_or(|known| known > 0.0) && whole <= MAX_SECONDS) {
            return Err(FileError::value(
                "start_date and end_date",
                format!("found {whole} s, expected a test of at most a day"),
            ));
        }
        let part = |from, to| Part { from, to };
        Ok(Times {
            whole: part(0.0, whole),
            down: part(0.0, length),
            up: part(if is_sequential { length } else { 0.0 }, whole),
            is_sequential,
            is_known: known.is_some(),
        })
    }
}

/// Start and length of each request in seconds, at equal distances within a part of the run.
fn spread(key: &str, values: &[f64], part: Part) -> Result<Vec<(f64, f64)>, FileError> {
    let step = (part.to - part.from) / values.len() as f64;
    let request = |(place, ms): (usize, &f64)| {
        if (0.0..=MAX_RESPONSE * 1e3).contains(ms) {
            Ok((part.from + step * place as f64, ms / 1e3))
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
fn left_out(document: &Document, times: &Times) -> Vec<String> {
    let mut left_out =
        vec!["the times of the requests, which the file does not have; the run spreads them evenly".to_owned()];
    if !times.is_known {
        left_out.push(format!(
            "the length of the test, which the file does not have; the run has {:.0} s",
            times.whole.to
        ));
    }
    if times.is_sequential && document.dl_phase_duration.is_none() {
        left_out.push("the end of the download, which the file does not have; the run has it in the middle".to_owned());
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
