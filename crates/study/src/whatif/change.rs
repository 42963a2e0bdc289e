//! A change of several plans.

use super::WhatIf;
use netburn_medium::config::QueueLimit;
use netburn_medium::queue::{Place, QueueKind};
use netburn_scenario::{Document, Environment, Plan, ScenarioError};

/// A change, with the changed plan of each run.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The change.
    pub what_if: WhatIf,
    /// Changed plans, one for each run; a single one is that of all runs.
    plans: Vec<Plan>,
}

impl Change {
    /// The change of equally likely `models` of one network: its keys and values are set in each of them. `None` if one of
    /// them can't be changed.
    ///
    /// The change has the [limits](with_limits) of its queues.
    #[must_use]
    pub fn on_each(what_if: WhatIf, models: &[Plan]) -> Option<Self> {
        let set = with_limits(&what_if.set);
        let plans = models.iter().map(|model| changed(model, &set));
        Some(Change {
            plans: plans.collect::<Result<Vec<Plan>, _>>().ok()?,
            what_if: WhatIf { set, ..what_if },
        })
    }

    /// The changed plan of a run.
    pub(super) fn plan(&self, run: usize) -> &Plan {
        &self.plans[run % self.plans.len()]
    }
}

/// The change of a single plan.
impl From<WhatIf> for Change {
    fn from(what_if: WhatIf) -> Self {
        Change {
            plans: vec![what_if.plan.clone()],
            what_if,
        }
    }
}

/// A plan with these keys and values.
///
/// # Errors
/// A key does not exist, or a value is invalid.
pub fn changed(plan: &Plan, set: &[(String, String)]) -> Result<Plan, ScenarioError> {
    let mut document = Document::from_json(&plan.to_json());
    for (key, value) in set {
        document.set(key, value)?;
    }
    Ok(document.resolve_for(Environment::Simulate)?.0)
}

/// Keys and values, with the default limit of each queue discipline that is set at an access point without a limit.
///
/// The limit of a queue belongs to its discipline: a fitted model has the limit of a FIFO, and with it another discipline would
/// be a wrong queue.
#[must_use]
pub fn with_limits(set: &[(String, String)]) -> Vec<(String, String)> {
    let missing = set.iter().filter_map(|(key, value)| limit(key, value));
    let missing = missing.filter(|(key, _)| set.iter().all(|(own, _)| own != key));
    set.iter().cloned().chain(missing).collect()
}

/// The default limit of a queue discipline that is set at an access point.
fn limit(key: &str, value: &str) -> Option<(String, String)> {
    let name = key.strip_prefix("ap.")?.strip_suffix(".queue")?;
    if name.contains('.') {
        return None;
    }
    let kind = QueueKind::all_on(Place::Radio)
        .into_iter()
        .find(|kind| kind.name() == value)?;
    let limit = match kind.default_limit() {
        QueueLimit::Packets(most) => format!("{most} packets"),
        QueueLimit::Bytes(most) => most.to_string(),
    };
    Some((format!("ap.{name}.queue_limit"), limit))
}

/// A plan once for each run, with the seeds of its repeats.
#[must_use]
pub fn repeated(plan: &Plan, runs: usize) -> Vec<Plan> {
    let seeded = (0..runs.max(1) as u64).map(|run| Plan {
        seed: plan.seed.repeat(run),
        ..plan.clone()
    });
    seeded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_analysis::explain::Kind;
    use netburn_analysis::explain::causes::Effort;
    use netburn_units::Seed;

    /// A model with this access point.
    fn model(ap: &str) -> Plan {
        let text = format!(
            "[ap.home]\n{ap}\nwan = {{ down = \"50 Mbit/s\", up = \"10 Mbit/s\" }}\n[ap.home.radio.5g]\n\
             [station.laptop]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"browsing\"\n"
        );
        Document::from_toml("model", &text).unwrap().resolve().unwrap()
    }

    fn change(set: &[(&str, &str)], models: &[Plan]) -> Option<Change> {
        let what_if = WhatIf {
            cause: Kind::DownloadBloat,
            effort: Effort::Firmware,
            label: "change".to_owned(),
            set: set
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            plan: models[0].clone(),
        };
        Change::on_each(what_if, models)
    }

    #[test]
    fn each_model_is_changed_and_keeps_the_rest() {
        let models = [
            model("queue = \"fifo\"\nqueue_limit = \"80 packets\""),
            model("queue = \"fq-codel\""),
        ];
        let change = change(&[("ap.home.queue", "airtime")], &models).unwrap();
        for (number, model) in models.iter().enumerate() {
            let ap = &change.plan(number).aps[0];
            assert_eq!(ap.queue, QueueKind::Airtime);
            // Not the 80 packets of the FIFO.
            assert_eq!(ap.queue_limit, QueueKind::Airtime.default_limit());
            assert_eq!(ap.wan, model.aps[0].wan);
        }
        let keys: Vec<&str> = change.what_if.set.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["ap.home.queue", "ap.home.queue_limit"]);
    }

    #[test]
    fn a_queue_with_its_own_limit_keeps_it() {
        let set = [("ap.home.queue", "fifo"), ("ap.home.queue_limit", "64 packets")];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(with_limits(&set), set);
        assert_eq!(with_limits(&set[..1]).len(), 2);
    }

    #[test]
    fn a_change_of_the_line_leaves_the_queue_of_the_access_point() {
        let models = [model("queue = \"fifo\"\nqueue_limit = \"80 packets\"")];
        let line = [
            ("ap.home.wan.discipline_down", "cake"),
            ("ap.home.wan.shaper_down", "90 %"),
        ];
        let change = change(&line, &models).unwrap();
        assert_eq!(change.plan(0).aps[0].queue_limit, models[0].aps[0].queue_limit);
        assert_eq!(change.what_if.set.len(), 2);
    }

    #[test]
    fn a_change_that_one_model_rejects_is_none() {
        let other = Plan {
            aps: Vec::new(),
            ..model("")
        };
        assert_eq!(change(&[("ap.home.queue", "airtime")], &[model(""), other]), None);
    }

    #[test]
    fn repeats_differ_in_their_seeds_only() {
        let plan = Plan {
            seed: Seed(7),
            ..model("")
        };
        let repeats = repeated(&plan, 3);
        assert_eq!(repeats[0], plan);
        for (number, repeat) in repeats.iter().enumerate().skip(1) {
            assert!(repeats[..number].iter().all(|other| other.seed != repeat.seed));
            assert_eq!(
                Plan {
                    seed: plan.seed,
                    ..repeat.clone()
                },
                plan
            );
        }
        assert_eq!(repeated(&plan, 0).len(), 1);
    }
}
