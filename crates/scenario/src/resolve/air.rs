//! Access points, their radios, and networks.

use super::Names;
use crate::plan::{Ap, Network, Radio, RadioName, RadioRef, Wan};
use crate::reading::{At, Context};
use crate::sections::{ApSection, NetworkSection, RadioSection, SizeOrOff, WanSection};
use crate::suggest::list;
use netburn_medium::config::{Aggregation, Band, RadioConfig};
use netburn_medium::queue::driver::ATH9K_DEPTH;
use netburn_units::{ByteSize, Duration};

pub(super) fn ap(name: &At<String>, section: &At<ApSection>, cx: &mut Context) -> Ap {
    let rating = section.rating.as_ref().map(|at| at.value);
    let mut radios = Vec::new();
    if let Some(named) = &section.radio {
        for (radio_name, radio_section) in &named.0 {
            match RadioName::parse(radio_name) {
                Some(known) => radios.push(radio(known, radio_section, rating.is_some(), cx)),
                None => {
                    let help = "radios are named `2g`, `5g` and `6g`; a second one in a band `5g-2`";
                    cx.wrong(radio_name, "this is no radio's name", help.to_owned());
                }
            }
        }
    }
    let any = section.radio.as_ref().is_some_and(|named| !named.0.is_empty());
    // A section that was read badly has said so already.
    let badly = cx
        .problems
        .iter()
        .any(|problem| problem.path.starts_with(&format!("{}.r", name.path)));
    if rating.is_none() && !any && !badly {
        let help = format!(
            "give it a rating, `rating = \"AC1750\"`, or radios: `[ap.{}.radio.5g]`",
            name.value
        );
        cx.wrong(name, "the access point has no radios", help);
    }
    let queue = section.queue.as_ref().map(|at| at.value).unwrap_or_default();
    Ap {
        name: name.value.clone(),
        rating,
        radios,
        queue,
        queue_limit: section
            .queue_limit
            .as_ref()
            .map_or(queue.default_limit(), |at| at.value),
        ecn: section.ecn.as_ref().is_none_or(|at| at.0),
        slow_stations: section.slow_stations.as_ref().is_some_and(|at| at.0),
        hardware_queue: section.hardware_queue.as_ref().map(|at| at.value).unwrap_or_default(),
        driver_queue: section.driver_queue.as_ref().map_or(ATH9K_DEPTH, |at| whole(at.0)),
        aql: section.aql.as_ref().and_then(|at| at.0),
        rx_interrupt_delay: section.rx_interrupt_delay.as_ref().map_or(Duration::ZERO, |at| at.0),
        forwarding: section.forwarding.as_ref().map(|at| at.0),
        forwarding_queue: section.forwarding_queue.as_ref().map(|at| at.0),
        wan: section.wan.as_ref().map(|at| wan(at)),
    }
}

fn wan(section: &WanSection) -> Wan {
    let usual = Wan::default();
    Wan {
        down: section.down.as_ref().map(|at| at.0),
        up: section.up.as_ref().map(|at| at.0),
        delay: section.delay.as_ref().map_or(usual.delay, |at| at.0),
        loss: section.loss.as_ref().map_or(usual.loss, |at| at.0),
        queue: section.queue.as_ref().map(|at| at.0),
    }
}

fn radio(name: RadioName, section: &RadioSection, rated: bool, cx: &mut Context) -> Radio {
    let band = name.band;
    let said = section.standard.as_ref().map(|at| at.value);
    if let Some(standard) = section.standard.as_ref().filter(|at| !at.value.in_band(band)) {
        let known: Vec<&str> = netburn_medium::config::Standard::ALL
            .iter()
            .filter(|known| known.in_band(band))
            .map(|known| known.name())
            .collect();
        let message = format!("{} is not spoken in the band of `{name}`", standard.value.name());
        cx.wrong(standard, message, format!("there it is one of {}", list(known)));
    }
    if let Some(channel) = section.channel.as_ref().filter(|at| !band.has_channel(whole(at.0))) {
        let message = format!("`{}` is no channel of `{name}`", channel.0);
        cx.wrong(channel, message, format!("its channels are {}", band.channels()));
    }
    // What a rating decides isn't known yet; then only what holds for all standards can be checked.
    let standard = said
        .filter(|s| s.in_band(band))
        .or((!rated).then(|| band.default_standard()));
    let usual = standard
        .filter(|_| !rated)
        .map(|standard| RadioConfig::for_standard(band, standard));
    if let (Some(standard), Some(width)) = (standard, &section.width)
        && width.value > standard.widest(band)
    {
        let widest = standard.widest(band).as_mhz();
        let message = format!(
            "{} MHz is wider than {} in this band",
            width.value.as_mhz(),
            standard.name()
        );
        cx.wrong(width, message, format!("it goes up to {widest} MHz"));
    }
    if let (Some(standard), Some(streams)) = (standard, &section.streams)
        && streams.0 > u64::from(standard.max_streams())
    {
        let message = format!("{} has no {} streams", standard.name(), streams.0);
        cx.wrong(streams, message, format!("it has up to {}", standard.max_streams()));
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
            "{} has no guard interval of {} ns",
            standard.name(),
            guard.value.as_nanos()
        );
        cx.wrong(guard, message, format!("it has {}", known.join(", ")));
    }
    Radio {
        name,
        standard,
        channel: section
            .channel
            .as_ref()
            .map_or(band.default_channel(), |at| whole(at.0)),
        width: section
            .width
            .as_ref()
            .map(|at| at.value)
            .or(usual.as_ref().map(|u| u.width)),
        streams: section
            .streams
            .as_ref()
            .map(|at| small(at.0))
            .or(usual.as_ref().map(|u| u.streams)),
        guard: section
            .guard
            .as_ref()
            .map(|at| at.value)
            .or(usual.as_ref().map(|u| u.guard)),
        power: section
            .power
            .as_ref()
            .map_or(RadioConfig::for_band(band).power, |at| at.0),
        aggregation: aggregation(section, standard, cx),
        rts: section.rts.as_ref().and_then(|at| at.0),
        channel_busy: section.channel_busy.as_ref().map(|at| at.0).unwrap_or_default(),
    }
}

/// L-SIG's limit (802.11-2020 §10.14, aPPDUMaxTime of HT-mixed and later).
const LONGEST_PPDU: Duration = Duration::from_micros(5484);

fn aggregation(
    section: &RadioSection,
    standard: Option<netburn_medium::config::Standard>,
    cx: &mut Context,
) -> Aggregation {
    if let Some(time) = section.aggregate_time.as_ref().filter(|at| at.0 > LONGEST_PPDU) {
        let help = "802.11 ends a frame at 5484 us; drivers at 4 ms";
        cx.wrong(
            time,
            format!("{} is longer than a frame can be", time.0),
            help.to_owned(),
        );
    }
    if let (Some(standard), Some(frames)) = (standard, &section.aggregate_frames)
        && frames.0 > u64::from(standard.block_ack_window())
    {
        let window = standard.block_ack_window();
        let message = format!("{} acknowledges no {} frames at once", standard.name(), frames.0);
        cx.wrong(frames, message, format!("its BlockAck window is {window}"));
    }
    if let Some(
        amsdu @ At {
            value: SizeOrOff(Some(size)),
            ..
        },
    ) = &section.amsdu
    {
        let most = standard.map_or(Some(11_398), |standard| standard.max_amsdu());
        match most {
            Some(most) if *size > ByteSize::from_bytes(most.into()) => {
                cx.wrong(
                    amsdu,
                    format!("no A-MSDU is {size} long"),
                    format!("here it is at most {most} B"),
                );
            }
            None => cx.wrong(amsdu, "this standard has no A-MSDU", "leave it out".to_owned()),
            Some(_) => {}
        }
    }
    let usual = Aggregation::default();
    Aggregation {
        time: section.aggregate_time.as_ref().map_or(usual.time, |at| at.0),
        frames: section.aggregate_frames.as_ref().map(|at| whole(at.0)),
        amsdu: section.amsdu.as_ref().and_then(|at| at.0),
    }
}

pub(super) fn network(
    name: &At<String>,
    section: &At<NetworkSection>,
    aps: &[Ap],
    names: &Names,
    cx: &mut Context,
) -> Network {
    let reserved = [&section.steering, &section.k, &section.v, &section.r, &section.backhaul];
    for key in reserved.into_iter().flatten() {
        cx.wrong(
            key,
            "this key is reserved and does nothing yet",
            "leave it out".to_owned(),
        );
    }
    let mut radios: Vec<RadioRef> = Vec::new();
    if let Some(list) = &section.radios {
        if list.0.is_empty() && !cx.problems.iter().any(|problem| problem.path == list.path) {
            cx.wrong(
                list,
                "the network has no radios",
                "name at least one: `[\"c7.5g\"]`".to_owned(),
            );
        }
        for at in &list.0 {
            check_radio(at, &at.value, aps, names, cx);
            if radios.contains(&at.value) {
                cx.wrong(
                    at,
                    format!("`{}` is listed twice", at.value),
                    "leave one out".to_owned(),
                );
            } else {
                radios.push(at.value.clone());
            }
        }
    }
    Network {
        name: name.value.clone(),
        radios,
    }
}

/// Reports a radio that isn't there.
pub(super) fn check_radio<T>(at: &At<T>, radio: &RadioRef, aps: &[Ap], names: &Names, cx: &mut Context) {
    if !names.aps.contains(&radio.ap) {
        let help = match (
            cx.nearest(&radio.ap, names.aps.iter().map(String::as_str)),
            names.aps.is_empty(),
        ) {
            (Some(near), _) => format!("did you mean `{near}.{}`?", radio.radio),
            (None, true) => format!("there is none; begin one with `[ap.{}]`", radio.ap),
            (None, false) => format!("there are {}", list(names.aps.iter().map(String::as_str))),
        };
        cx.wrong(at, format!("there is no access point `{}`", radio.ap), help);
        return;
    }
    // Without one of its own the access point was read badly, which has been said.
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
            let six = matches!(rating.letters, "AX" | "BE");
            if radio.radio.band != Band::Ghz6 || six {
                return;
            }
            vec![format!("{}.2g", ap.name), format!("{}.5g", ap.name)]
        }
    };
    if known.is_empty() {
        return;
    }
    let help = format!("it has {}", list(known.iter().map(String::as_str)));
    cx.wrong(at, format!("`{}` has no radio `{}`", ap.name, radio.radio), help);
}

pub(super) fn whole(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

pub(super) fn small(number: u64) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
