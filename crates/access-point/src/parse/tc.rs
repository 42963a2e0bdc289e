//! Output of `tc -s -j qdisc` (tc(8)).

use crate::names::is_interface;
use crate::state::QueueState;
use serde::Deserialize;

/// Longest name of a kind or a place.
const MAX_NAME: usize = 32;
/// Most queues that are read.
const MAX_QUEUES: usize = 256;
/// A queue of an interface. All fields are optional, because each kind prints others.
#[derive(Deserialize)]
struct Qdisc {
    kind: String,
    dev: String,
    /// Place below another queue. Several queues can have one handle.
    #[serde(default)]
    parent: String,
    #[serde(default)]
    root: bool,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    drops: u64,
    #[serde(default)]
    backlog: u64,
    #[serde(default)]
    qlen: u64,
    ecn_mark: Option<u64>,
    #[serde(default)]
    tins: Vec<Tin>,
}

#[derive(Deserialize, Default)]
struct Options {
    /// CAKE: bytes in a second, or a word.
    #[serde(default)]
    bandwidth: Option<serde_json::Value>,
    /// tbf: bytes in a second.
    #[serde(default)]
    rate: Option<serde_json::Value>,
}

/// A tin of CAKE (tc-cake(8)).
#[derive(Deserialize)]
struct Tin {
    #[serde(default)]
    sent_bytes: u64,
    #[serde(default)]
    backlog_bytes: u64,
    #[serde(default)]
    avg_delay_us: u64,
    #[serde(default)]
    drops: u64,
    #[serde(default)]
    ecn_mark: u64,
}

/// Queues; `None` if this `tc` prints no JSON.
pub(crate) fn queues(text: &str) -> Option<Vec<QueueState>> {
    let qdiscs: Vec<serde_json::Value> = serde_json::from_str(text.trim()).ok()?;
    let mut queues = Vec::new();
    for value in qdiscs {
        if queues.len() >= MAX_QUEUES {
            break;
        }
        // A kind whose fields have other types is left out.
        let Ok(qdisc) = serde_json::from_value::<Qdisc>(value) else {
            continue;
        };
        let is_short = |text: &str| text.len() <= MAX_NAME && text.bytes().all(|byte| byte.is_ascii_graphic());
        let is_valid = is_interface(&qdisc.dev) && is_short(&qdisc.kind) && is_short(&qdisc.parent);
        if qdisc.kind == "noqueue" || !is_valid {
            continue;
        }
        let name = if qdisc.root {
            format!("{} {}", qdisc.dev, qdisc.kind)
        } else {
            format!("{} {} {}", qdisc.dev, qdisc.kind, qdisc.parent)
        };
        for (number, tin) in (1..=8).zip(&qdisc.tins) {
            queues.push(QueueState {
                name: format!("{name} tin {number}"),
                sent_bytes: tin.sent_bytes,
                bytes: tin.backlog_bytes,
                packets: None,
                drops: tin.drops,
                marks: Some(tin.ecn_mark),
                delay_us: Some(tin.avg_delay_us),
                rate: None,
            });
        }
        // CAKE prints the marks of each tin only.
        let marks = qdisc.tins.iter().map(|tin| tin.ecn_mark).reduce(u64::saturating_add);
        let rate = qdisc.options.bandwidth.as_ref().or(qdisc.options.rate.as_ref());
        queues.push(QueueState {
            name,
            sent_bytes: qdisc.bytes,
            bytes: qdisc.backlog,
            packets: Some(qdisc.qlen),
            drops: qdisc.drops,
            marks: qdisc.ecn_mark.or(marks),
            delay_us: None,
            rate: rate
                .and_then(serde_json::Value::as_u64)
                .and_then(|bytes| bytes.checked_mul(8)),
        });
    }
    Some(queues)
}
