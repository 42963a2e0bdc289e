//! Datagrams that return, for `probe`: losses and one-way delays. [`split`]: the delays of a station by the part of the
//! path, from its probes to several hosts.

mod answers;
mod one_way;
mod split;

pub use split::{DelaySummary, SplitSummary};

pub(crate) use answers::SplitCounter;
pub(crate) use one_way::Clocks;
pub(crate) use split::SplitEvidence;

use super::{End, KindCounter, Shared};
use crate::aggregate::{Counted, LoadDirection};
use crate::latency_ms::LatencyMs;
use crate::quantity::{Metric, Unit};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_workload::{Config, ProbeTarget, Tally};
use one_way::{OneWay, above_least, one_way};
use serde::{Deserialize, Serialize};

/// Results of a probe's datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ProbeSummary {
    /// Host that answers: `near`, `line` or `server`. Only in the document if it is not the server.
    #[serde(default, with = "target", skip_serializing_if = "is_server")]
    pub target: ProbeTarget,
    /// Share of the datagrams that were lost.
    pub lost_share: Option<f64>,
    /// Answers that arrived after one that was sent later.
    pub reordered: u64,
    /// One-way delay from station to server above the minimum, that is queueing delay. Only if the
    /// clocks of both ends are known.
    pub queued_up_ms: Option<LatencyMs>,
    /// The same from server to station.
    pub queued_down_ms: Option<LatencyMs>,
}

pub(super) static METRICS: &[Metric<ProbeSummary>] =
    &[
        Metric::new("lost_share", Unit::Share, |of: &ProbeSummary| Some(of.lost_share))
            .gauge("netburn_probe_lost_ratio", "Share of lost datagrams.")
            .at("probe.lost_share")
            .compared(
                "lost %",
                "share of the datagrams that were lost",
                Better::Lower,
                Tolerance::LOSS,
            ),
    ];

/// Answers of the probes of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers {
    /// The highest sequence number that was answered in one run.
    highest: Option<u64>,
    /// Times of one run.
    one_way: Vec<OneWay>,
    /// Answers that arrived after one sent later.
    reordered: u64,
    /// One-way delays in ns above the minimum.
    up: Vec<u64>,
    down: Vec<u64>,
}

impl KindCounter for Answers {
    type Summary = ProbeSummary;

    fn new(config: &Config, _tls: bool) -> Option<Self> {
        config.target().map(|_| Answers::default())
    }

    fn operation(&mut self, _config: &Config, counted: &Counted<'_>, _load: Option<LoadDirection>) {
        let operation = counted.operation;
        if counted.latency.is_none() {
            return;
        }
        match self.highest {
            Some(highest) if operation.sequence < highest => self.reordered += 1,
            _ => self.highest = Some(operation.sequence),
        }
        self.one_way.extend(one_way(operation));
    }

    fn finish(&mut self, of: &End<'_>, _goals: &mut [Tally]) {
        let times = std::mem::take(&mut self.one_way);
        let delays = times.iter().filter_map(|one| of.clocks.delays(one));
        let (up, down): (Vec<i64>, Vec<i64>) = delays.unzip();
        (self.up, self.down) = (above_least(&up), above_least(&down));
    }

    fn add(&mut self, other: Self) {
        self.reordered += other.reordered;
        self.up.extend(other.up);
        self.down.extend(other.down);
    }

    fn summarise(self, of: &Shared<'_>) -> ProbeSummary {
        ProbeSummary {
            target: of.config.target().unwrap_or_default(),
            lost_share: of.counts.lost_share(),
            reordered: self.reordered,
            queued_up_ms: LatencyMs::of_samples(self.up, 0),
            queued_down_ms: LatencyMs::of_samples(self.down, 0),
        }
    }
}

/// Returns true for the usual target of a probe.
fn is_server(target: &ProbeTarget) -> bool {
    *target == ProbeTarget::Server
}

/// Targets of probes by name.
mod target {
    use netburn_workload::ProbeTarget;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(target: &ProbeTarget, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(target.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ProbeTarget, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}
