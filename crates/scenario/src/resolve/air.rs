//! Access points, their radios, and networks.

use super::Names;
use crate::decode::{Context, Named, Section, Spanned};
use crate::plan::{Ap, Backhaul, DEFAULT_SCAN_AWAY, Network, Plan, Radio, RadioName, RadioRef};
use crate::plan::{ApSection, NetworkSection, RadioSection};
use crate::scalars::SizeOrOff;
use crate::suggest::list;
use netburn_medium::config::{Band, LinkQuality, RadioConfig, Security, Standard, Steering, SteeringPolicy};
use netburn_units::{ByteSize, Duration};

pub(super) fn ap(name: &Spanned<String>, section: &Spanned<ApSection>, cx: &mut Context) -> Ap {
    let rating = section.rating.as_ref().map(|at| at.value);
    let mut radios = Vec::new();
    if let Some(named) = &section.radio {
        for (radio_name, radio_section) in &named.0 {
            match RadioName::parse(radio_name) {
                Some(known) => radios.push(radio(known, radio_section, rating.is_some(), cx)),
                None => {
                    let help = "expected `2g`, `5g` or `6g`; a second radio in a band is `5g-2`";
                    cx.problem_at(radio_name, "invalid radio name", help.to_owned());
                }
            }
        }
    }
    let any = section.radio.as_ref().is_some_and(|named| !named.0.is_empty());
    // An invalid `radio` or `rating` was reported already.
    let reported = cx
        .problems
        .iter()
        .any(|problem| problem.path.starts_with(&format!("{}.r", name.path)));
    if rating.is_none() && !any && !reported && section.wan.is_none() && section.observe.is_none() {
        let help = format!("add `rating = \"AC1750\"`, or a radio: `[ap.{}.radio.5g]`", name.value);
        cx.problem_at(name, "the access point has no radios", help);
    }
    let mut ap = Ap::new(&name.value);
    section.apply(&mut ap);
    ap.radios = radios;
    check_scans(&ap, section, cx);
    if section.queue_limit.is_none() {
        ap.queue_limit = ap.queue.default_limit();
    }
    backhaul_quality(&mut ap, section, cx);
    if let (Some(wan), Some(at)) = (&ap.wan, &section.wan) {
        super::line::check(wan, &at.value, cx);
    }
    ap
}

/// Checks the scans of an access point.
fn check_scans(ap: &Ap, section: &ApSection, cx: &mut Context) {
    let away = ap.scan_away.unwrap_or(DEFAULT_SCAN_AWAY);
    match (&section.scan_interval, &section.scan_away) {
        (None, Some(at)) => {
            let help = "add `scan_interval`, such as `scan_interval = \"120 s\"`";
            cx.problem_at(at, "the access point does not scan", help.to_owned());
        }
        (Some(at), _) if at.0 <= away => {
            let message = format!("`scan_interval` is not longer than `scan_away`: found {}", at.0);
            cx.problem_at(at, message, format!("expected more than `scan_away`, which is {away}"));
        }
        _ => {}
    }
}

/// Reads the quality of a wireless backhaul.
fn backhaul_quality(ap: &mut Ap, section: &ApSection, cx: &mut Context) {
    let signal = section.backhaul_signal.as_ref();
    let mcs = section.backhaul_mcs.as_ref();
    if let (Some(mcs), Some(_)) = (mcs, signal) {
        let help = "use one of `backhaul_signal` and `backhaul_mcs`";
        cx.problem_at(mcs, "`backhaul_signal` already sets the link quality", help.to_owned());
    }
    let quality = signal.map(|at| LinkQuality::Signal(at.0));
    ap.backhaul_quality = quality.or(mcs.map(|at| LinkQuality::Mcs(to_u8(at.0))));
    if let (true, Some(wan)) = (ap.backhaul.is_wireless(), &section.wan) {
        let help = "move `wan` to the access point with the wire, or to `[router]`";
        let message = "an access point with a wireless backhaul has no WAN link";
        cx.problem_at(wan, message, help.to_owned());
    }
}

/// Checks the links between access points: the parent, its channel, the signal, and loops.
pub(super) fn check_backhauls(sections: &Named<ApSection>, plan: &Plan, names: &Names, cx: &mut Context) {
    let aps = &plan.aps[..];
    for (name, section) in &sections.0 {
        let Some(at) = &section.backhaul else { continue };
        let Some(ap) = aps.iter().find(|ap| ap.name == name.value) else {
            continue;
        };
        let parent = match &at.value.0 {
            Backhaul::Wired => continue,
            Backhaul::Port(other) => {
                super::router::check_port(at, ap, other, sections, (plan, names), cx);
                check_loop(at, ap, aps, cx);
                continue;
            }
            Backhaul::Best(own) => {
                check_parents(at, ap, *own, aps, cx);
                continue;
            }
            Backhaul::Radio(parent) => parent,
        };
        if parent.ap == ap.name {
            let help = "name a radio of another access point, or use `\"wired\"`";
            cx.problem_at(at, "the access point is its own parent", help.to_owned());
            continue;
        }
        let before = cx.problems.len();
        check_radio(at, parent, aps, names, cx);
        let other = aps.iter().find(|other| other.name == parent.ap);
        let (Some(other), true) = (other, cx.problems.len() == before) else {
            continue;
        };
        if check_loop(at, ap, aps, cx) {
            continue;
        }
        check_own_radio(at, ap, other, parent, cx);
        super::reach::check_backhaul(at, ap, parent, aps, plan.building.as_ref(), cx);
        let placed = ap.position.is_some() && other.position.is_some();
        if ap.backhaul_quality.is_none() && !placed {
            let without = if ap.position.is_none() { ap } else { other };
            let help = format!(
                "add `backhaul_signal = \"-55 dBm\"`, or a `position` to `[ap.{}]`",
                without.name
            );
            cx.problem_at(at, "the signal of the link is unknown", help);
        }
    }
}

/// Checks an access point that selects its parent: its own radio, its position, and the access points with the same
/// radio.
fn check_parents<T>(at: &Spanned<T>, ap: &Ap, own: RadioName, aps: &[Ap], cx: &mut Context) {
    let has = |ap: &Ap| {
        // A rating that can't be decoded is reported elsewhere.
        ap.all_radios()
            .map_or(true, |radios| radios.iter().any(|(name, _)| *name == own))
    };
    if !has(ap) {
        let help = format!("add `[ap.{}.radio.{own}]`, or use another radio", ap.name);
        cx.problem_at(at, format!("`{}` has no radio `{own}`", ap.name), help);
        return;
    }
    let others = || aps.iter().filter(|other| other.name != ap.name && has(other));
    if others().next().is_none() {
        let help = "name a radio of another access point, such as `main.5g`, or use `\"wired\"`";
        let message = format!("no other access point has a radio `{own}`");
        cx.problem_at(at, message, help.to_owned());
        return;
    }
    if ap.backhaul_quality.is_some() {
        let help = "name the other access point, such as `main.5g`, or remove the quality of the link";
        let message = "the quality of the links is fixed, so none is better than another";
        cx.problem_at(at, message, help.to_owned());
        return;
    }
    let placed = std::iter::once(ap).chain(others());
    if let Some(without) = placed.into_iter().find(|ap| ap.position.is_none()) {
        let help = format!("add a `position` to `[ap.{}]`", without.name);
        cx.problem_at(at, "the signals of the links are unknown", help);
    }
}

/// Reports an access point without a radio on its parent's channel.
fn check_own_radio<T>(at: &Spanned<T>, ap: &Ap, other: &Ap, parent: &RadioRef, cx: &mut Context) {
    // A rating that can't be decoded is reported elsewhere.
    let (Ok(own), Ok(theirs)) = (ap.all_radios(), other.all_radios()) else {
        return;
    };
    let Some((_, theirs)) = theirs.iter().find(|(name, _)| *name == parent.radio) else {
        return;
    };
    let same = |config: &RadioConfig| (config.band, config.channel) == (theirs.band, theirs.channel);
    if own.iter().any(|(_, config)| same(config)) {
        return;
    }
    let channel = theirs.channel;
    let in_band = own.iter().find(|(name, _)| name.band == theirs.band);
    let radio = in_band.map_or(parent.radio, |(name, _)| *name);
    let help = format!("set `channel = {channel}` in `[ap.{}.radio.{radio}]`", ap.name);
    let message = format!("`{}` has no radio on channel {channel} of `{parent}`", ap.name);
    cx.problem_at(at, message, help);
}

/// Reports a loop of parents that contains `ap`. Returns true if there is one.
fn check_loop<T>(at: &Spanned<T>, ap: &Ap, aps: &[Ap], cx: &mut Context) -> bool {
    let Some(chain) = parent_loop(ap, aps) else {
        return false;
    };
    let help = "let one of them use `backhaul = \"wired\"`";
    let message = format!("the parents form a loop: {}", chain.join(" → "));
    cx.problem_at(at, message, help.to_owned());
    true
}

/// Returns the access points of a loop of parents that contains `ap`.
fn parent_loop(ap: &Ap, aps: &[Ap]) -> Option<Vec<String>> {
    let mut chain = vec![ap.name.clone()];
    let mut at = ap;
    for _ in aps {
        let parent = at.backhaul.above()?;
        at = aps.iter().find(|other| other.name == parent)?;
        chain.push(at.name.clone());
        if at.name == ap.name {
            return Some(chain);
        }
    }
    None
}

fn radio(name: RadioName, section: &RadioSection, rated: bool, cx: &mut Context) -> Radio {
    let band = name.band;
    let explicit = section.standard.as_ref().map(|at| at.value);
    if let Some(standard) = section.standard.as_ref().filter(|at| !at.value.in_band(band)) {
        let known: Vec<&str> = Standard::ALL
            .iter()
            .filter(|known| known.in_band(band))
            .map(|known| known.name())
            .collect();
        let message = format!("{} does not exist in the band of `{name}`", standard.value.name());
        cx.problem_at(standard, message, format!("expected one of {}", list(known)));
    }
    super::multicast::check_rate(name, section, cx);
    if let Some(channel) = section.channel.as_ref().filter(|at| !band.has_channel(to_u16(at.0))) {
        let message = format!("invalid channel `{}` for `{name}`", channel.0);
        cx.problem_at(channel, message, format!("expected {}", band.channels()));
    }
    // A rating is not decoded yet, so only rules that apply to all standards can be checked.
    let standard = explicit
        .filter(|s| s.in_band(band))
        .or((!rated).then(|| band.default_standard()));
    if let (Some(standard), Some(width)) = (standard, &section.width)
        && width.value > standard.widest(band)
    {
        let widest = standard.widest(band).as_mhz();
        let message = format!(
            "{} does not support {} MHz in this band",
            standard.name(),
            width.value.as_mhz()
        );
        cx.problem_at(width, message, format!("expected up to {widest} MHz"));
    }
    if let (Some(standard), Some(streams)) = (standard, &section.streams)
        && streams.0 > u64::from(standard.max_streams())
    {
        let message = format!("{} does not support {} streams", standard.name(), streams.0);
        cx.problem_at(streams, message, format!("expected up to {}", standard.max_streams()));
    }
    if let (Some(standard), Some(guard)) = (standard, &section.guard)
        && !standard.has_guard(guard.value)
    {
        let all = netburn_medium::config::Guard::ALL.into_iter();
        let known: Vec<String> = all
            .filter(|guard| standard.has_guard(*guard))
            .map(|guard| format!("{} ns", guard.as_nanos()))
            .collect();
        let message = format!(
            "{} does not support a guard interval of {} ns",
            standard.name(),
            guard.value.as_nanos()
        );
        cx.problem_at(guard, message, format!("expected {}", known.join(", ")));
    }
    check_aggregation(section, standard, cx);
    let mut radio = Radio::new(name);
    if let Some(standard) = standard.filter(|_| !rated) {
        let default = RadioConfig::for_standard(band, standard);
        radio.width = Some(default.width);
        radio.streams = Some(default.streams);
        radio.guard = Some(default.guard);
    }
    section.apply(&mut radio);
    radio.standard = standard;
    radio
}

/// Maximum PPDU duration due to the L-SIG field (802.11-2020 §10.14, aPPDUMaxTime of HT-mixed and later).
const MAX_PPDU_DURATION: Duration = Duration::from_micros(5484);

fn check_aggregation(section: &RadioSection, standard: Option<Standard>, cx: &mut Context) {
    if let Some(time) = section.aggregate_time.as_ref().filter(|at| at.0 > MAX_PPDU_DURATION) {
        let message = format!("the maximum PPDU duration of 802.11 is exceeded: found {}", time.0);
        let help = format!("expected up to {MAX_PPDU_DURATION}; Linux drivers use 4 ms");
        cx.problem_at(time, message, help);
    }
    if let (Some(standard), Some(frames)) = (standard, &section.aggregate_frames)
        && frames.0 > u64::from(standard.block_ack_window())
    {
        let window = standard.block_ack_window();
        let message = format!("{} frames exceed the BlockAck window of {}", frames.0, standard.name());
        cx.problem_at(frames, message, format!("expected up to {window}"));
    }
    if let Some(
        amsdu @ Spanned {
            value: SizeOrOff(Some(size)),
            ..
        },
    ) = &section.amsdu
    {
        let max = standard.map_or(Some(11_398), |standard| standard.max_amsdu());
        match max {
            Some(max) if *size > ByteSize::from_bytes(max.into()) => {
                cx.problem_at(
                    amsdu,
                    format!("A-MSDU too large: found {size}"),
                    format!("expected up to {max} B"),
                );
            }
            None => cx.problem_at(amsdu, "the standard has no A-MSDU", "remove it".to_owned()),
            Some(_) => {}
        }
    }
}

pub(super) fn network(
    name: &Spanned<String>,
    section: &Spanned<NetworkSection>,
    aps: &[Ap],
    names: &Names,
    cx: &mut Context,
) -> Network {
    let mut radios: Vec<RadioRef> = Vec::new();
    if let Some(list) = &section.radios {
        if list.0.is_empty() && !cx.problems.iter().any(|problem| problem.path == list.path) {
            cx.problem_at(
                list,
                "the network has no radios",
                "add at least one: `[\"c7.5g\"]`".to_owned(),
            );
        }
        for at in &list.0 {
            check_radio(at, &at.value, aps, names, cx);
            if radios.contains(&at.value) {
                cx.problem_at(at, format!("duplicate radio `{}`", at.value), "remove one".to_owned());
            } else {
                radios.push(at.value.clone());
            }
        }
    }
    let mut network = Network::new(&name.value);
    section.apply(&mut network);
    network.radios = radios;
    if let Some(at) = section.r.as_ref().filter(|at| at.0)
        && network.security == Security::Open
    {
        let help = "use `security = \"psk\"`, or remove `r`";
        cx.problem_at(at, "802.11r needs keys, and the network is open", help.to_owned());
    }
    if let Some(at) = section.r_over_ds.as_ref().filter(|at| at.0 && !network.r) {
        cx.problem_at(at, "`r_over_ds` needs 802.11r", "add `r = true`".to_owned());
    }
    if let Some(at) = section.okc.as_ref().filter(|at| at.0)
        && !matches!(network.security, Security::Sae | Security::Enterprise)
    {
        let help = "use `security = \"802.1x\"`, or remove `okc`";
        cx.problem_at(
            at,
            "no keys to share: the key of a password is known to all",
            help.to_owned(),
        );
    }
    check_steering(section, &network, cx);
    network
}

/// Reports steering that needs 802.11v, and settings that the policy does not use.
fn check_steering(section: &NetworkSection, network: &Network, cx: &mut Context) {
    let Some(at) = &section.steering else { return };
    let Steering {
        policy,
        trigger,
        margin,
        score,
        load,
        target_load,
        disassociate,
    } = network.steering;
    let asks = !matches!(policy, SteeringPolicy::None | SteeringPolicy::ProbeSuppression);
    if asks && !network.v {
        let help = "add `v = true`".to_owned();
        cx.problem_at(at, "the access points can't ask stations to move without 802.11v", help);
    }
    let uses: &[&str] = match policy {
        SteeringPolicy::Usteer => &["trigger", "margin", "disassociate"],
        SteeringPolicy::Dawn => &["trigger", "score", "disassociate"],
        SteeringPolicy::Load => &["load", "target_load"],
        SteeringPolicy::None | SteeringPolicy::Prefer5Ghz | SteeringPolicy::ProbeSuppression => &[],
    };
    let set = [
        ("trigger", trigger.is_some()),
        ("margin", margin.is_some()),
        ("score", score.is_some()),
        ("load", load.is_some()),
        ("target_load", target_load.is_some()),
        ("disassociate", disassociate.is_some()),
    ];
    for (key, _) in set.iter().filter(|(key, set)| *set && !uses.contains(key)) {
        let message = format!("`{key}` has no effect with this policy");
        cx.problem_at(at, message, format!("remove `{key}`"));
    }
}

/// Reports an unknown access point or radio.
pub(super) fn check_radio<T>(at: &Spanned<T>, radio: &RadioRef, aps: &[Ap], names: &Names, cx: &mut Context) {
    if !names.aps.contains(&radio.ap) {
        let help = match (
            cx.nearest(&radio.ap, names.aps.iter().map(String::as_str)),
            names.aps.is_empty(),
        ) {
            (Some(near), _) => format!("did you mean `{near}.{}`?", radio.radio),
            (None, true) => format!("the scenario has none; add one with `[ap.{}]`", radio.ap),
            (None, false) => format!("expected one of {}", list(names.aps.iter().map(String::as_str))),
        };
        cx.problem_at(at, format!("unknown access point `{}`", radio.ap), help);
        return;
    }
    // An invalid access point was reported already.
    let Some(ap) = aps.iter().find(|ap| ap.name == radio.ap) else {
        return;
    };
    if ap.radios.iter().any(|known| known.name == radio.radio) {
        return;
    }
    let known: Vec<String> = match ap.rating {
        None => ap
            .radios
            .iter()
            .map(|known| format!("{}.{}", ap.name, known.name))
            .collect(),
        Some(rating) => {
            let six = matches!(rating.letters, "AXE" | "BE");
            if radio.radio.band != Band::Ghz6 || six {
                return;
            }
            vec![format!("{}.2g", ap.name), format!("{}.5g", ap.name)]
        }
    };
    if known.is_empty() {
        return;
    }
    let help = format!("expected one of {}", list(known.iter().map(String::as_str)));
    cx.problem_at(at, format!("`{}` has no radio `{}`", ap.name, radio.radio), help);
}

pub(super) fn to_u16(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

pub(super) fn to_u8(number: u64) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
