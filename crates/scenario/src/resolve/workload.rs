//! Resolution of workloads: the built-in ones, and those of the file.

use super::Names;
use crate::decode::{Context, Named, Section, Spanned};
use crate::kinds;
use crate::plan::StationWorkload;
use crate::plan::WorkloadSection;
use crate::problem::Problem;
use crate::suggest::list;
use netburn_units::Duration;
use netburn_workload::config::{Activity, MIN_REPEAT, MIN_WINDOW};
use netburn_workload::{Config, Kind, ProbeTarget};

/// Workloads that a station can use.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    own: std::collections::BTreeMap<String, StationWorkload>,
}

impl Definitions {
    /// Names of the built-in workloads.
    pub(super) const BUILT_IN: &'static [&'static str] = netburn_workload::config::PRESETS;

    /// Returns the workload with this name; with the name of a definition, if it is one of the file.
    pub(super) fn get(&self, name: &str) -> Option<StationWorkload> {
        let own = self.own.get(name).map(|own| StationWorkload {
            name: name.to_owned(),
            ..own.clone()
        });
        own.or_else(|| built_in_workload(name).map(|config| StationWorkload::new(name, config)))
    }
}

/// Returns the built-in workload with this name.
#[must_use]
pub fn built_in_workload(name: &str) -> Option<Config> {
    Config::preset(name)
}

/// Reports a server that is not a station, and the target of a probe that no server answers.
fn check_server(section: &WorkloadSection, names: &Names, cx: &mut Context) {
    let Some(server) = &section.server else { return };
    if !names.stations.contains(&server.0) {
        let known = || names.stations.iter().map(String::as_str);
        let help = match cx.nearest(&server.0, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of {}", list(known())),
        };
        cx.problem_at(server, format!("unknown station `{}`", server.0), help);
    }
    if let Some(at) = section.target.as_ref().filter(|at| at.value != ProbeTarget::Server) {
        let message = format!("the target `{}` is not a server", at.value);
        cx.problem_at(at, message, "remove `server`, or use `target = \"server\"`".to_owned());
    }
}

pub(super) fn definitions(
    section: Option<&Spanned<Named<WorkloadSection>>>,
    duration: Duration,
    names: &Names,
    cx: &mut Context,
) -> Definitions {
    let mut definitions = Definitions::default();
    for (name, section) in section.iter().flat_map(|named| &named.0) {
        if Definitions::BUILT_IN.contains(&name.as_str()) && !cx.resolved {
            let help = format!("choose another name, such as `[workload.my-{}]`", name.value);
            cx.problem_at(
                name,
                format!("`{}` is the name of a built-in workload", name.value),
                help,
            );
            continue;
        }
        if let Some(workload) = workload(section, duration, cx) {
            check_server(section, names, cx);
            definitions.own.insert(name.value.clone(), workload);
        }
    }
    definitions
}

fn workload(section: &Spanned<WorkloadSection>, duration: Duration, cx: &mut Context) -> Option<StationWorkload> {
    let before = cx.problems.len();
    let kind = section.kind.as_ref()?.value;
    let mut workload = StationWorkload::new("", kind.preset());
    section.apply(&mut workload);
    let config = &mut workload.config;
    check_applicable(section, kind, cx);
    kinds::resolve(config, section, cx);
    check_timeout(section, kind, cx);
    kinds::check_goals(config, section, cx);
    check_activity(config.activity, section, duration, cx);
    if let (Some(dscp), Some(_)) = (&section.dscp, &section.priority)
        && !cx.resolved
    {
        let help = "remove one of them".to_owned();
        cx.problem_at(dscp, "`dscp` and `priority` exclude each other", help);
    }
    // An invalid definition is not used. Stations that refer to it cause no second report.
    (cx.problems.len() == before).then_some(workload)
}

/// Reports a timeout that packets that are not answered can't have.
fn check_timeout(section: &WorkloadSection, kind: &Kind, cx: &mut Context) {
    if kind.is_one_way() {
        let name = if kind.has_stream_keys { "datagrams" } else { "a call" };
        let range = Duration::from_millis(10)..=Duration::from_secs(2);
        kinds::check_time(section.timeout.as_ref(), &range, name, cx);
    }
}

/// Reports keys that do not apply to the kind.
fn check_applicable(section: &WorkloadSection, kind: &Kind, cx: &mut Context) {
    for (name, place, path) in section.present() {
        if !kinds::has_key(kind, name) {
            let message = format!("a workload of kind `{kind}` has no `{name}`");
            let help = format!(
                "remove it; it applies to {}",
                list(kinds::with_key(name).map(|kind| kind.name))
            );
            cx.problems.push(Problem::new(place.clone(), path, message, Some(help)));
        }
    }
}

/// Reports times in which the workload can't run.
fn check_activity(activity: Activity, section: &WorkloadSection, duration: Duration, cx: &mut Context) {
    let start = activity.start;
    if let Some(at) = section.start.as_ref().filter(|_| start >= duration) {
        let message = format!("`start` is not before the end of the load: found {start}");
        cx.problem_at(
            at,
            message,
            format!("expected less than `duration`, which is {duration}"),
        );
        return;
    }
    let length = activity.stop.map(|stop| stop.saturating_sub(start));
    if let (Some(at), Some(length)) = (&section.stop, length)
        && length < MIN_WINDOW
    {
        let message = if length.is_zero() {
            format!("`stop` ({}) is not after `start` ({start})", at.0)
        } else {
            format!("{length} from `start` to `stop` is too short")
        };
        cx.problem_at(at, message, format!("expected at least {}", start + MIN_WINDOW));
        return;
    }
    let Some(repeat) = &section.repeat else { return };
    match length {
        None => {
            let help = "add `stop`: it ends the time that `repeat` repeats".to_owned();
            cx.problem_at(repeat, "`repeat` without `stop`", help);
        }
        Some(length) if repeat.0 < length => {
            let message = format!(
                "`repeat` ({}) is shorter than the time from `start` to `stop`",
                repeat.0
            );
            cx.problem_at(repeat, message, format!("expected at least {}", length.max(MIN_REPEAT)));
        }
        Some(length) if repeat.0 < MIN_REPEAT => {
            let help = format!("expected at least {}", length.max(MIN_REPEAT));
            cx.problem_at(repeat, format!("{} is too short", repeat.0), help);
        }
        Some(_) => {}
    }
}
