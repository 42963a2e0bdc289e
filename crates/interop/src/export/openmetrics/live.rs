//! The values of a running `netburn watch`. Names agree with those of a finished run, so that one dashboard shows both.

use super::{Labels, Page};
use netburn_record::UnixTime;

/// Levels of the quantiles, with parts per billion.
pub const LEVELS: [(&str, u32); 5] = [
    ("0.5", 500_000_000),
    ("0.75", 750_000_000),
    ("0.9", 900_000_000),
    ("0.95", 950_000_000),
    ("0.99", 990_000_000),
];

/// Values of the probes of one part.
#[derive(Debug, Clone, PartialEq)]
pub struct PartValues {
    /// Name: `near`, `line` or `server`.
    pub name: &'static str,
    /// Probes that were answered, since the start.
    pub answered: u64,
    /// Probes that were lost, since the start.
    pub lost: u64,
    /// Sum of the round trips of all answered probes, in seconds.
    pub sum_s: f64,
    /// Round trips of the last five minutes in seconds, at [`LEVELS`]; `None` for a lost probe, or with too few probes.
    pub quantiles: [Option<f64>; 5],
}

/// All values.
#[derive(Debug, Clone, PartialEq)]
pub struct Values<'a> {
    /// Parts with probes.
    pub parts: Vec<PartValues>,
    /// Texts of the alert rules, and whether their alerts are active.
    pub alerts: &'a [(String, bool)],
    /// Names of the causes of the last complete hour.
    pub causes: &'a [&'a str],
    /// Time of the last load; `None` without any.
    pub last_load: Option<UnixTime>,
    /// True if there is a record.
    pub is_recording: bool,
    /// Version of netburn.
    pub version: &'a str,
}

/// The values as text.
#[must_use]
pub fn text(values: &Values<'_>) -> String {
    let mut page = Page {
        text: String::new(),
        common: vec![("scenario", "watch".to_owned()), ("environment", "fleet".to_owned())],
    };
    let whole = Labels::default();
    page.family("netburn_watch", "info", "The watch of these metrics.", |page| {
        page.sample("_info", &whole.and("version", values.version), Some(1.0));
    });
    let of = |part: &PartValues| whole.and("station", "computer").and("workload", part.name);
    page.family(
        "netburn_operation_latency_seconds",
        "summary",
        "From the due time of an operation to its end. Quantiles: the last five minutes. Sum and count: answered probes.",
        |page| {
            for part in &values.parts {
                let of = of(part);
                for ((quantile, _), value) in LEVELS.iter().zip(part.quantiles) {
                    page.sample("", &of.and("quantile", quantile), value);
                }
                page.sample("_sum", &of, Some(part.sum_s));
                page.sample("_count", &of, Some(part.answered as f64));
            }
        },
    );
    page.family("netburn_operations", "counter", "Operations by outcome.", |page| {
        for part in &values.parts {
            for (outcome, count) in [("finished", part.answered), ("failed", part.lost)] {
                page.sample("_total", &of(part).and("outcome", outcome), Some(count as f64));
            }
        }
    });
    page.gauge("netburn_watch_cause", "Causes of the last complete hour.", |page| {
        for cause in values.causes {
            page.sample("", &whole.and("cause", cause), Some(1.0));
        }
    });
    page.gauge("netburn_watch_alert_active", "Whether an alert is active.", |page| {
        for (rule, is_active) in values.alerts {
            page.sample("", &whole.and("rule", rule), Some(f64::from(u8::from(*is_active))));
        }
    });
    page.gauge(
        "netburn_watch_last_load_timestamp_seconds",
        "End of the last load, since 1970.",
        |page| page.sample("", &whole, values.last_load.map(|at| at.0 as f64 / 1e9)),
    );
    page.gauge("netburn_watch_recording", "Whether there is a record.", |page| {
        page.sample("", &whole, Some(f64::from(u8::from(values.is_recording))));
    });
    page.text.push_str("# EOF\n");
    page.text
}
