//! Resolution of workloads: the built-in ones, and those of the file.

use super::Names;
use crate::decode::{Context, Named, Section, Spanned};
use crate::plan::StationWorkload;
use crate::problem::Problem;
use crate::scalars::SomeTime;
use crate::sections::{DashSection, PlayerSection, WorkloadSection};
use crate::suggest::list;
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::config::{
    Activity, Dash, MAX_PROBE_INTERVAL, MAX_VOICE_INTERVAL, MIN_PROBE_INTERVAL, MIN_REPEAT, MIN_VOICE_INTERVAL,
    MIN_WINDOW,
};
use netburn_workload::{Config, Goal, Kind, PlayerConfig, ProbeTarget};

/// Workloads that a station can use.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    own: std::collections::BTreeMap<String, StationWorkload>,
}

impl Definitions {
    /// Names of the built-in workloads.
    pub(super) const BUILT_IN: &'static [&'static str] = &netburn_workload::config::PRESETS;

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

/// Built-in workload with the defaults of a kind.
pub(crate) fn preset(kind: Kind) -> Config {
    match kind {
        Kind::Pages => Config::browsing(),
        Kind::Stream => Config::stream_4k(),
        Kind::Calls => Config::voip(),
        Kind::Download => Config::download(),
        Kind::Upload => Config::upload(),
        Kind::Probe => Config::probe(),
        Kind::Voice => Config::voice(),
        Kind::Datagrams => Config::datagrams(),
        Kind::Game => Config::game(),
        Kind::CloudGaming => Config::cloud_gaming(),
        Kind::VideoCall => Config::video_call(),
        Kind::Responsiveness => Config::responsiveness(),
        Kind::Dash => Config::dash(),
    }
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
    let mut workload = StationWorkload::new("", preset(kind));
    section.apply(&mut workload);
    let config = &mut workload.config;
    check_applicable(section, kind, cx);
    check_datagram(section, kind, cx);
    interval(config, section, kind, cx);
    super::streams::resolve(config, section, &preset(kind).datagrams, cx);
    jitter(config, section, cx);
    if let (Some(player), Some(config)) = (&section.player, config.player.filter(|_| kind == Kind::Stream)) {
        check_player(player, config, cx);
    }
    if let (Some(section), Some(dash)) = (&section.dash, &config.dash) {
        check_dash(section, dash, cx);
    }
    check_goals(config, section, kind, cx);
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

/// Reports sizes and times that a datagram or a probe can't have.
fn check_datagram(section: &WorkloadSection, kind: Kind, cx: &mut Context) {
    let (least, name) = match kind {
        Kind::Probe => (64, "a probe"),
        Kind::Voice => (32, "a call"),
        _ => (1, ""),
    };
    let range = ByteSize::from_bytes(least)..=ByteSize::from_bytes(1400);
    let size = section.object_size.as_ref().filter(|_| !name.is_empty());
    if let Some(size) = size.filter(|size| !range.contains(&size.0)) {
        let help = format!("expected {least} B to 1400 B for {name}");
        cx.problem_at(size, format!("{} is out of range", size.0), help);
    }
    let mut within = |time: &Option<Spanned<SomeTime>>, least, most, name| {
        if let Some(time) = time.as_ref().filter(|time| !(least..=most).contains(&time.0)) {
            let help = format!("expected {least} to {most} for {name}");
            cx.problem_at(time, format!("{} is out of range", time.0), help);
        }
    };
    if kind == Kind::Responsiveness {
        within(&section.interval, MIN_PROBE_INTERVAL, MAX_PROBE_INTERVAL, "probes");
    }
    if kind == Kind::Voice {
        within(&section.interval, MIN_VOICE_INTERVAL, MAX_VOICE_INTERVAL, "a call");
    }
    if kind.is_one_way() {
        let name = if kind == Kind::Voice { "a call" } else { "datagrams" };
        within(
            &section.timeout,
            Duration::from_millis(10),
            Duration::from_secs(2),
            name,
        );
    }
}

/// Reports keys that do not apply to the kind.
fn check_applicable(section: &WorkloadSection, kind: Kind, cx: &mut Context) {
    let keys = WorkloadSection::keys();
    for (name, place, path) in section.present() {
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            continue;
        };
        if !key.kinds.is_empty() && !key.kinds.contains(&kind) {
            let message = format!("a workload of kind `{}` has no `{name}`", word(kind));
            let help = format!(
                "remove it; it applies to {}",
                list(key.kinds.iter().map(|kind| word(*kind)))
            );
            cx.problems.push(Problem::new(place.clone(), path, message, Some(help)));
        }
    }
}

fn word(kind: Kind) -> &'static str {
    crate::enums::word_of(crate::enums::KINDS, &kind)
}

/// Content bytes of one operation.
pub(crate) fn operation_size(config: &Config) -> ByteSize {
    let size = config.object_size.checked_mul(config.objects.into());
    size.unwrap_or(ByteSize::from_bytes(u64::MAX))
}

/// Rate from which `interval` is computed without both keys; `None` for kinds with a default interval or without one.
pub(crate) fn default_rate(kind: Kind) -> Option<BitRate> {
    match kind {
        Kind::Stream => Some(BitRate::from_mbps(25)),
        Kind::Calls => Some(BitRate::from_mbps(1)),
        Kind::Pages
        | Kind::Download
        | Kind::Upload
        | Kind::Probe
        | Kind::Voice
        | Kind::Datagrams
        | Kind::Game
        | Kind::CloudGaming
        | Kind::VideoCall
        | Kind::Responsiveness
        | Kind::Dash => None,
    }
}

fn interval(config: &mut Config, section: &WorkloadSection, kind: Kind, cx: &mut Context) {
    if matches!(kind, Kind::Download | Kind::Upload | Kind::Dash) || kind.has_streams() {
        config.interval = None;
        return;
    }
    if let (Some(rate), Some(_)) = (&section.rate, &section.interval) {
        cx.problem_at(
            rate,
            "`rate` and `interval` exclude each other",
            "remove one of them".to_owned(),
        );
        return;
    }
    let size = operation_size(config);
    let default = match default_rate(kind) {
        Some(rate) => rate.time_for(size),
        None => config.interval,
    };
    let max = Duration::from_secs(30 * 86_400);
    match (&section.rate, &section.interval) {
        (_, Some(_)) => {}
        (Some(rate), _) => match rate.0.time_for(size).filter(|time| *time <= max) {
            Some(every) => config.interval = Some(every),
            None => {
                let message = format!("the interval exceeds 30 days: one operation of {size} at {}", rate.0);
                cx.problem_at(rate, message, "use a higher `rate` or smaller objects".to_owned());
            }
        },
        (None, None) => config.interval = default,
    }
}

fn jitter(config: &mut Config, section: &WorkloadSection, cx: &mut Context) {
    let max = config.interval.map(|every| every / 2);
    match (&section.jitter, max) {
        (Some(jitter), Some(max)) if jitter.0 > max => {
            let help = format!("expected up to half of `interval`: {max}");
            cx.problem_at(jitter, format!("{} is too large", jitter.0), help);
        }
        (None, Some(max)) => config.jitter = config.jitter.min(max),
        _ => {}
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

fn check_player(section: &PlayerSection, player: PlayerConfig, cx: &mut Context) {
    if player.start > player.max_buffer {
        let message = format!(
            "`start` ({}) exceeds `max_buffer` ({})",
            player.start, player.max_buffer
        );
        let help = || "expected `start` up to `max_buffer`".to_owned();
        match (&section.start, &section.max_buffer) {
            (Some(start), _) => cx.problem_at(start, message, help()),
            (None, Some(max_buffer)) => cx.problem_at(max_buffer, message, help()),
            (None, None) => {}
        }
    }
}

/// Reports an invalid value of adaptive streaming at the key that sets it, or at the section if that value is a default.
fn check_dash(section: &Spanned<DashSection>, dash: &Dash, cx: &mut Context) {
    let Err((key, problem)) = dash.validate() else { return };
    let message = format!("invalid `{key}`: {problem}");
    let at = section.present().into_iter().find(|(name, ..)| *name == key);
    let (place, path) = at.map_or((&section.place, section.path.as_str()), |(_, place, path)| {
        (place, path)
    });
    cx.problems.push(Problem::new(place.clone(), path, message, None));
}

fn check_goals(config: &Config, section: &WorkloadSection, kind: Kind, cx: &mut Context) {
    let Some(goals) = &section.goal else {
        // A lower rate cannot meet the goal of the preset.
        if let (Kind::Stream, Some(rate)) = (kind, &section.rate)
            && rate.0 < BitRate::from_mbps(20)
        {
            let message = format!("the default goal of a stream is 20 Mbit/s, and `rate` is {}", rate.0);
            let help = "set a goal, such as `goal = [\"8 Mbit/s\", \"no stall\"]`, and a `player` with that rate";
            cx.problem_at(rate, message, help.to_owned());
        }
        if let (Some(dash), Some(section)) = (&config.dash, &section.dash)
            && let Some((least, _)) = config.goals.iter().find_map(Goal::rate)
            && dash.highest() < least
        {
            let message = format!(
                "the default goal is segments of {least}, and the highest bit rate is {}",
                dash.highest()
            );
            let help = "set a goal, such as `goal = [\"3 Mbit/s\", \"no stall\"]`";
            cx.problem_at(section, message, help.to_owned());
        }
        return;
    };
    let requested = config
        .interval
        .and_then(|every| BitRate::mean(operation_size(config), every));
    for goal in &goals.0 {
        let wrong = match goal.value {
            Goal::Latency { .. } if matches!(kind, Kind::Pages | Kind::Calls | Kind::Probe) || kind.has_streams() => {
                None
            }
            Goal::Latency { .. } => {
                Some("a time is a goal for `pages`, `calls`, `probe` and kinds with `up` and `down`")
            }
            Goal::Loss { .. } if kind.has_streams() => None,
            Goal::Loss { .. } => Some("a loss is a goal for kinds with `up` and `down`, such as `datagrams`"),
            Goal::NoFreeze if kind.is_adaptive() => None,
            Goal::NoFreeze => Some("`no freeze` is a goal for `video-call`"),
            Goal::Frames if kind.has_frames() => None,
            Goal::Frames => Some("`frames on time` is a goal for `cloud-gaming`"),
            Goal::NoGap if kind == Kind::Game => None,
            Goal::NoGap => Some("`no gap` is a goal for `game`"),
            Goal::Quality { .. } if kind == Kind::Voice => None,
            Goal::Quality { .. } => Some("a rating is a goal for `voice`"),
            Goal::Rpm { .. } if kind == Kind::Responsiveness => None,
            Goal::Rpm { .. } => Some("round trips per minute are a goal for `responsiveness`"),
            Goal::NoStall if matches!(kind, Kind::Stream | Kind::Dash) => None,
            Goal::NoStall => Some("`no stall` is a goal for `stream` and `dash`, which have a player"),
            Goal::Rate { .. } if matches!(kind, Kind::Stream | Kind::Download | Kind::Upload | Kind::Dash) => None,
            Goal::Rate { .. } => Some("a rate is a goal for `stream`, `dash`, `download` and `upload`"),
        };
        if let Some(help) = wrong {
            let message = format!("a workload of kind `{}` does not support this goal", word(kind));
            cx.problem_at(goal, message, help.to_owned());
            continue;
        }
        if let (Goal::Rate { at_least, .. }, Some(dash)) = (goal.value, &config.dash)
            && at_least > dash.highest()
        {
            let message = format!("{at_least} cannot be met: the highest bit rate is {}", dash.highest());
            cx.problem_at(goal, message, "extend the `ladder`, or lower the goal".to_owned());
        }
        // Intervals are compared, because both are rounded in the same way.
        let size = operation_size(config);
        if let (Goal::Rate { at_least, .. }, Some(every), Some(requested)) = (goal.value, config.interval, requested)
            && at_least.time_for(size).is_some_and(|needed| needed < every)
            && !cx.resolved
        {
            let message = format!("{at_least} cannot be met: the workload requests {requested}");
            cx.problem_at(goal, message, "request more, or lower the goal".to_owned());
        }
    }
}
