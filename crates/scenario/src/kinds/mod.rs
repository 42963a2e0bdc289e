//! Keys of the kinds of workloads: for each kind, the keys that it has beside those of all kinds, the settings that they
//! set, and the checks of combinations.

mod bulk;
mod dash;
mod packets;
mod pages;
mod periodic;
mod probe;
mod responsiveness;
mod stream;
mod video_call;

use crate::decode::{Context, FromNode, Section, Spanned};
use crate::keys::Keys;
use crate::node::Node;
use crate::plan::StationWorkload;
use crate::plan::WorkloadSection;
use crate::scalars::{Rate, SomeTime};
use crate::value::PlanValue;
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::config::Grid;
use netburn_workload::kinds::{KINDS, KindSettings, Transport};
use netburn_workload::{Config, Goal, Kind};
use serde_json::Value;
use std::ops::RangeInclusive;

/// Keys that settings have, with their values.
trait KindKeys {
    /// Names of the keys.
    fn keys(&self) -> &'static [&'static str];

    /// Sets the values of the present keys.
    fn apply(&mut self, section: &WorkloadSection);

    /// Values of the keys.
    fn encode(&self) -> Keys;
}

/// Resolution of the keys of a kind, and its checks.
trait KindSection: KindKeys {
    /// Sets the settings from the present keys, and reports invalid values.
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context);

    /// Reports default goals that the settings can't meet.
    fn check_default_goals(&self, _goals: &[Goal], _section: &WorkloadSection, _cx: &mut Context) {}

    /// Reports a rate as a goal that the settings can't meet.
    fn check_rate(&self, _goal: &Spanned<Goal>, _at_least: BitRate, _cx: &mut Context) {}
}

/// Declares the keys of settings: those that set a field, and others.
macro_rules! keys {
    ($settings:ty { $($key:ident => $($field:ident).+),+ $(,)? } $(and $other:ident)*) => {
        impl $crate::kinds::KindKeys for $settings {
            fn keys(&self) -> &'static [&'static str] {
                &[$(stringify!($key),)+ $(stringify!($other)),*]
            }

            fn apply(&mut self, section: &$crate::plan::WorkloadSection) {
                $($crate::kinds::set(&mut self.$($field).+, section.$key.as_ref());)+
            }

            fn encode(&self) -> $crate::keys::Keys {
                let section = $crate::plan::WorkloadSection::default();
                $crate::keys::Keys::default()
                    $(.with(stringify!($key), $crate::kinds::json(&self.$($field).+, section.$key.as_ref())))+
            }
        }
    };
}
use keys;

fn set<K, T: PlanValue<K>>(field: &mut T, key: Option<&Spanned<K>>) {
    if let Some(key) = key {
        *field = T::from_key(&key.value);
    }
}

/// The value as that of a key. `_key` has the type of the key.
fn json<K, T: PlanValue<K>>(value: &T, _key: Option<&Spanned<K>>) -> Value {
    value.to_json()
}

/// Declares the settings that have keys.
macro_rules! sections {
    ($($settings:ident),+ $(,)?) => {
        fn section_of(settings: &KindSettings) -> &dyn KindSection {
            match settings {
                $(KindSettings::$settings(settings) => settings),+
            }
        }

        fn section_of_mut(settings: &mut KindSettings) -> &mut dyn KindSection {
            match settings {
                $(KindSettings::$settings(settings) => settings),+
            }
        }
    };
}

sections! { Pages, Stream, Periodic, Bulk, Probe, Packets, VideoCall, Responsiveness, DashClient }

/// Returns true if a kind has a key, which may be one of all kinds.
pub(crate) fn has_key(kind: &Kind, key: &str) -> bool {
    let has = |kind: &Kind| section_of(&(kind.default_settings)()).keys().contains(&key);
    match key {
        "repeat" => kind.can_repeat,
        "cc" => kind.transport == Transport::Http,
        _ => has(kind) || !KINDS.iter().any(|kind| has(kind)),
    }
}

/// Kinds that have a key.
pub(crate) fn with_key(key: &str) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().copied().filter(move |kind| has_key(kind, key))
}

/// Keys of a workload with their values, in the order of the manual.
pub(crate) fn encode(workload: &StationWorkload) -> Keys {
    let kind = workload.config.kind();
    let mut keys = WorkloadSection::encode(workload).and(section_of(&workload.config.settings).encode());
    keys.put("kind", kind.name);
    let names = WorkloadSection::keys().into_iter().map(|key| key.name);
    keys.ordered(names.filter(|name| has_key(kind, name)))
}

/// Sets the settings of a workload from the keys of its kind, and reports invalid values.
pub(crate) fn resolve(config: &mut Config, section: &WorkloadSection, cx: &mut Context) {
    section_of_mut(&mut config.settings).resolve(section, cx);
}

/// Reports goals of a workload that its settings can't meet.
pub(crate) fn check_goals(config: &Config, section: &WorkloadSection, cx: &mut Context) {
    let of_kind = section_of(&config.settings);
    let Some(goals) = &section.goal else {
        of_kind.check_default_goals(&config.goals, section, cx);
        return;
    };
    for goal in &goals.0 {
        if !(config.kind().supports)(&goal.value) {
            let message = format!("a workload of kind `{}` does not support this goal", config.kind());
            cx.problem_at(goal, message, goal.value.supporting_kinds());
        } else if let Goal::Rate { at_least, .. } = goal.value {
            of_kind.check_rate(goal, at_least, cx);
        }
    }
}

/// Sets the due times of operations of `size` from `rate`, `interval` and `jitter`. Without both, the interval follows from
/// `default`, if there is one.
fn grid(grid: &mut Grid, size: ByteSize, default: Option<BitRate>, section: &WorkloadSection, cx: &mut Context) {
    let max = Duration::from_secs(30 * 86_400);
    match (&section.rate, &section.interval) {
        (Some(rate), Some(_)) => exclude(rate, cx),
        (None, Some(_)) => {}
        (Some(rate), None) => match rate.0.time_for(size).filter(|time| *time <= max) {
            Some(every) => grid.interval = every,
            None => {
                let message = format!("the interval exceeds 30 days: one operation of {size} at {}", rate.0);
                cx.problem_at(rate, message, "use a higher `rate` or smaller objects".to_owned());
            }
        },
        (None, None) => {
            if let Some(rate) = default {
                grid.interval = Grid::at_rate(rate, size).interval;
            }
        }
    }
    jitter(grid, section, cx);
}

/// Reports a jitter that is too large. The default is smaller in a short interval.
fn jitter(grid: &mut Grid, section: &WorkloadSection, cx: &mut Context) {
    let max = grid.interval / 2;
    match &section.jitter {
        Some(jitter) if jitter.0 > max => {
            let help = format!("expected up to half of `interval`: {max}");
            cx.problem_at(jitter, format!("{} is too large", jitter.0), help);
        }
        Some(_) => {}
        None => grid.jitter = grid.jitter.min(max),
    }
}

/// Reports a rate beside an interval.
fn exclude(rate: &Spanned<Rate>, cx: &mut Context) {
    let message = "`rate` and `interval` exclude each other";
    cx.problem_at(rate, message, "remove one of them".to_owned());
}

/// Reports a size of datagrams that is out of range. `name` is what has it.
fn check_size(section: &WorkloadSection, range: &RangeInclusive<ByteSize>, name: &str, cx: &mut Context) {
    if let Some(size) = section.object_size.as_ref().filter(|size| !range.contains(&size.0)) {
        let (least, most) = (range.start().as_bytes(), range.end().as_bytes());
        let help = format!("expected {least} B to {most} B for {name}");
        cx.problem_at(size, format!("{} is out of range", size.0), help);
    }
}

/// Reports a time that is out of range.
pub(crate) fn check_time(
    time: Option<&Spanned<SomeTime>>,
    range: &RangeInclusive<Duration>,
    name: &str,
    cx: &mut Context,
) {
    if let Some(time) = time.filter(|time| !range.contains(&time.0)) {
        let help = format!("expected {} to {} for {name}", range.start(), range.end());
        cx.problem_at(time, format!("{} is out of range", time.0), help);
    }
}

impl FromNode for &'static Kind {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let words: Vec<(&str, &'static Kind)> = KINDS.iter().map(|kind| (kind.name, *kind)).collect();
        crate::scalars::word(node, cx, &words)
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        schemars::json_schema!({ "type": "string", "enum": words })
    }
}
