//! Keys whose values are words from a fixed set, and values with their own syntax.

use crate::decode::{Context, FromNode, Section};
use crate::node::{Node, Value};
use crate::path::Shape;
use crate::problem::Problem;
use crate::scalars::{self, Flag, SomeTime, Span, parsed};
use crate::section_macro::section;
use crate::suggest::list;
use crate::value::{PlanValue, from_section};
use netburn_medium::config::{
    Aql, Band, Composition, Guard, HardwareQueue, PowerSave, PowerSaveMode, QueueLimit, RadioSelection, RateControl,
    Rating, Roaming, RoamingPolicy, Security, Standard, Steering, SteeringPolicy, TransitionAnswer, Width,
};
use netburn_medium::fading::FadingModel;
use netburn_medium::geometry::BuildingModel;
use netburn_tcp::config::{CongestionControl, Tsq, TsqPreset, TsqSettings};
use netburn_units::{ByteSize, DscpMapping, Duration};
use netburn_workload::{Connections, Priority, ProbeTarget};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Declares the words of an enum.
macro_rules! words {
    ($kind:ty, $table:ident, [$($word:expr => $value:expr),+ $(,)?]) => {
        pub(crate) const $table: &[(&str, $kind)] = &[$(($word, $value)),+];

        impl $crate::decode::FromNode for $kind {
            fn read(node: &$crate::node::Node, cx: &mut $crate::decode::Context) -> Option<Self> {
                $crate::scalars::word(node, cx, $table)
            }

            fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<&str> = $table.iter().map(|(word, _)| *word).collect();
                schemars::json_schema!({ "type": "string", "enum": words })
            }
        }

        impl $crate::value::PlanValue<$kind> for $kind {
            fn from_key(key: &$kind) -> Self {
                *key
            }

            fn to_json(&self) -> serde_json::Value {
                $crate::enums::word_of($table, self).into()
            }
        }
    };
}

pub(crate) use words;

/// Returns the word of a value in its table.
pub(crate) fn word_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table
        .iter()
        .find(|(_, known)| known == value)
        .map_or("", |(word, _)| word)
}

/// Declares types that a key has in the plan too, with their texts.
macro_rules! texts {
    ($($kind:ty, |$value:ident| $text:expr;)+) => {
        $(impl PlanValue<$kind> for $kind {
            fn from_key(key: &$kind) -> Self {
                key.clone()
            }

            fn to_json(&self) -> serde_json::Value {
                let $value = self;
                $text.into()
            }
        })+
    };
}

texts! {
    Width, |width| format!("{} MHz", width.as_mhz());
    Guard, |guard| format!("{} ns", guard.as_nanos());
    Rating, |rating| rating.to_string();
    CongestionControl, |cc| cc.to_string();
    QueueLimit, |limit| match limit {
        QueueLimit::Packets(packets) => format!("{packets} packets"),
        QueueLimit::Bytes(bytes) => bytes.to_string(),
    };
    HardwareQueue, |queue| match queue {
        HardwareQueue::Aggregates(count) => format!("{count} aggregates"),
        HardwareQueue::Frames(count) => format!("{count} frames"),
        HardwareQueue::Time(time) => time.to_string(),
        HardwareQueue::Unlimited => "unlimited".to_owned(),
    };
}

words!(ProbeTarget, PROBE_TARGETS, [
    "near" => ProbeTarget::Near, "line" => ProbeTarget::Line, "server" => ProbeTarget::Server,
]);
words!(Connections, CONNECTIONS, ["new" => Connections::New, "keep" => Connections::Keep]);
words!(Priority, PRIORITIES, [
    "background" => Priority::Background, "best-effort" => Priority::BestEffort,
    "video" => Priority::Video, "voice" => Priority::Voice,
]);
words!(DscpMapping, DSCP_MAPPINGS, [
    "rfc8325" => DscpMapping::Rfc8325, "upper-three-bits" => DscpMapping::UpperThreeBits,
]);
words!(Standard, STANDARDS, [
    Standard::B.name() => Standard::B, Standard::A.name() => Standard::A, Standard::G.name() => Standard::G,
    Standard::N.name() => Standard::N, Standard::Ac.name() => Standard::Ac, Standard::Ax.name() => Standard::Ax,
    Standard::Be.name() => Standard::Be,
]);
words!(Composition, COMPOSITIONS, [
    Composition::Txop.name() => Composition::Txop, Composition::Driver.name() => Composition::Driver,
]);
words!(RateControl, RATE_CONTROLS, [
    "fixed" => RateControl::Fixed, "ideal" => RateControl::Ideal, "minstrel" => RateControl::Minstrel,
]);
words!(RadioSelection, RADIO_SELECTIONS, [
    "highest-band" => RadioSelection::HighestBand, "strongest" => RadioSelection::Strongest,
    "2g" => RadioSelection::Band(Band::Ghz2_4), "5g" => RadioSelection::Band(Band::Ghz5), "6g" => RadioSelection::Band(Band::Ghz6),
]);

words!(Security, SECURITIES, [
    "open" => Security::Open, "psk" => Security::Psk, "sae" => Security::Sae, "802.1x" => Security::Enterprise,
]);

/// Backhaul of a kit's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KitBackhaul {
    /// By a radio that also serves stations.
    Shared,
    /// By a radio that serves no stations.
    Dedicated,
    /// By a wire.
    Wired,
}

words!(KitBackhaul, KIT_BACKHAULS, [
    "shared" => KitBackhaul::Shared, "dedicated" => KitBackhaul::Dedicated, "wired" => KitBackhaul::Wired,
]);

words!(RoamingPolicy, ROAMING_POLICIES, [
    "never" => RoamingPolicy::Never, "linux" => RoamingPolicy::Linux, "iwd" => RoamingPolicy::Iwd,
    "apple-phone" => RoamingPolicy::ApplePhone, "apple-laptop" => RoamingPolicy::AppleLaptop,
    "qualcomm" => RoamingPolicy::Qualcomm, "broadcom" => RoamingPolicy::Broadcom,
    "ap-directed" => RoamingPolicy::ApDirected,
]);
words!(TransitionAnswer, TRANSITION_ANSWERS, [
    "accept" => TransitionAnswer::Accept, "imminent" => TransitionAnswer::Imminent, "reject" => TransitionAnswer::Reject,
    "ignore" => TransitionAnswer::Ignore,
]);
words!(SteeringPolicy, STEERING_POLICIES, [
    "none" => SteeringPolicy::None, "usteer" => SteeringPolicy::Usteer, "dawn" => SteeringPolicy::Dawn,
    "load" => SteeringPolicy::Load, "prefer-5ghz" => SteeringPolicy::Prefer5Ghz,
    "probe-suppression" => SteeringPolicy::ProbeSuppression,
]);
words!(FadingModel, FADING_MODELS, [
    "none" => FadingModel::None, "rayleigh" => FadingModel::Rayleigh, "rician" => FadingModel::Rician,
]);
words!(BuildingModel, BUILDING_MODELS, [
    "tgax-residential" => BuildingModel::TgaxResidential, "p1238-residential" => BuildingModel::P1238Residential,
    "p1238-office" => BuildingModel::P1238Office, "3gpp-indoor-los" => BuildingModel::IndoorLos,
    "3gpp-indoor-nlos" => BuildingModel::IndoorNlos,
]);

section! {
    /// Roaming of a station between the radios of its network. The policy sets the constants that are not set here.
    RoamingSection(Roaming = Roaming::default()) {
        /// Client policy: `never`, `linux` (wpa_supplicant under NetworkManager), `iwd`, `apple-phone`, `apple-laptop`, `qualcomm`, `broadcom`, `ap-directed` (only when the access point asks).
        policy: RoamingPolicy => policy, default "`never`";
        /// Signal below which the station looks for another access point.
        trigger: scalars::Signal => trigger, default "that of the policy";
        /// Difference by which another signal must be stronger.
        margin: scalars::Ratio => margin, default "that of the policy";
        /// Time between two scans while the signal is weak.
        scan_interval: SomeTime => scan_interval, default "that of the policy";
        /// Smoothing of the beacons' signal: each beacon counts one part of this number. 1: no smoothing.
        beacon_smoothing: scalars::Whole<1, 100> => beacon_smoothing;
        /// Time from the reception of a frame until the answer is ready, on both sides, while the station joins. 6 to 22 ms agrees with published gaps. The best hardware needs 1 to 3 ms.
        frame_processing: Span => frame_processing;
        /// Time with stopped queues before each absence of a scan but the first. 100 ms: mac80211 with a driver that cannot flush its queues.
        flush_delay: Span => flush_delay;
        /// Scans of only those channels that neighbour reports name, in a network with `k`. `iwd`, `apple-phone`, `apple-laptop` and `qualcomm` do this. `linux` does not: wpa_supplicant's background scan reads no reports.
        neighbour_reports: Flag => neighbour_reports, default "that of the policy";
        /// Support of 802.11k: neighbour reports and beacon reports.
        k: Flag => k;
        /// Support of 802.11v: BSS transition requests.
        v: Flag => v;
        /// Support of 802.11r: fast BSS transition.
        r: Flag => r;
        /// Reaction to BSS transition requests: `accept`, `imminent` (accepts only those that announce a disassociation, as some Intel and Android clients), `reject`, or `ignore` (no answer).
        transition: TransitionAnswer => transition;
        /// Share of BSS transition requests that the station accepts, with `transition = "accept"` or `"imminent"`.
        acceptance: scalars::Part => acceptance;
    }
}

section! {
    /// Steering: the access points of a network ask stations to move. The policy sets the constants that are not set here.
    SteeringSection(Steering = Steering::default()) {
        /// Policy. `usteer`, `dawn`: as shipped with OpenWrt. `load`: one station of a busy radio moves to another radio of its access point. `prefer-5ghz`: stations with a strong signal move from 2.4 to 5 GHz. `probe-suppression`: radios on 2.4 GHz do not answer the probe requests of stations that a radio on 5 GHz receives.
        policy: SteeringPolicy => policy;
        /// Signal at the access point below which it asks a station to move: `usteer`, `dawn`.
        trigger: scalars::Signal => trigger, default "`usteer`: off; `dawn`: -70 dBm";
        /// Difference by which the signal at another access point must be stronger: `usteer`.
        margin: scalars::Ratio => margin, default "off: `usteer` moves no station between access points";
        /// Difference by which the score of another radio must be higher: `dawn`.
        score: scalars::Whole<1, 255> => score, default "20";
        /// Use of a channel above which one station is asked to move: `load`.
        load: scalars::Part => load, default "70 %";
        /// Use of a channel up to which a station is asked to move to it: `load`.
        target_load: scalars::Part => target_load, default "50 %";
        /// Disassociation of a station that does not move: `usteer` after 10.24 s (10 s without an answer), `dawn` after 15.36 s.
        disassociate: Flag => disassociate, default "`true`";
    }
}

/// Reads a value that is either a word, which stands for a section with one key, or a section.
/// `check` reports what is wrong in a section.
macro_rules! word_or_section {
    ($choice:ident($plan:ty), $word:ty, $key:literal, $value:literal, $of_word:expr, $section:ty, $check:expr) => {
        impl FromNode for $choice {
            fn read(node: &Node, cx: &mut Context) -> Option<Self> {
                if let Value::Table(_) = &node.value {
                    let section = <$section>::read(node, cx)?;
                    let check: fn(&$section, &mut Context) = $check;
                    check(&section, cx);
                    return Some($choice(from_section(&section)));
                }
                let of_word: fn($word) -> $plan = $of_word;
                <$word>::read(node, cx).map(|word| $choice(of_word(word)))
            }

            fn schema(generator: &mut SchemaGenerator) -> Schema {
                let (words, own) = (<$word>::schema(generator), <$section>::schema(generator));
                json_schema!({ "anyOf": [words, own], "x-value": $value })
            }

            fn shape() -> Shape {
                <$section>::shape().with_short_form(|node| node.text().map(|_| vec![($key, node.clone())]))
            }
        }
    };
}

words!(PowerSaveMode, POWER_SAVE_MODES, [
    "off" => PowerSaveMode::Off, "legacy" => PowerSaveMode::Legacy, "u-apsd" => PowerSaveMode::UApsd,
    "twt" => PowerSaveMode::Twt,
]);

section! {
    /// Power save of a station.
    PowerSaveSection(PowerSave = PowerSave::default()) {
        /// Mode. `off`: the station never dozes. `legacy`: it dozes after a time without packets, and beacons report waiting packets. `u-apsd`: each of its frames triggers the delivery of waiting packets. `twt`: it is awake in its service periods only.
        mode: PowerSaveMode => mode;
        /// Time without packets until the station dozes, with `legacy`.
        timeout: SomeTime => timeout;
        /// Number of beacon intervals (102.4 ms) from one beacon for which the station wakes to the next, with `legacy` and `u-apsd`.
        listen_interval: scalars::Whole<1, 1000> => listen_interval;
        /// Time from one service period to the next, with `twt`.
        twt_interval: SomeTime => twt_interval;
        /// Length of a service period, with `twt`: 1 ms or more, and less than `twt_interval`.
        twt_service_period: SomeTime => twt_service_period;
    }
}

/// Power save: the name of a mode, or a section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PowerSaveChoice(pub(crate) PowerSave);

/// Shortest service period of a TWT: below it few frames fit.
const MIN_SERVICE_PERIOD: Duration = Duration::from_millis(1);

/// Keys that act with a mode.
const fn keys_of(mode: PowerSaveMode) -> &'static [&'static str] {
    match mode {
        PowerSaveMode::Off => &["mode"],
        PowerSaveMode::Legacy => &["mode", "timeout", "listen_interval"],
        PowerSaveMode::UApsd => &["mode", "listen_interval"],
        PowerSaveMode::Twt => &["mode", "twt_interval", "twt_service_period"],
    }
}

impl PowerSaveSection {
    /// Reports keys that the mode does not use, and an impossible schedule.
    fn check(&self, cx: &mut Context) {
        let settings: PowerSave = from_section(self);
        for (key, place, path) in self.present() {
            if !keys_of(settings.mode).contains(&key) {
                let mode = word_of(POWER_SAVE_MODES, &settings.mode);
                let message = format!("`{key}` has no effect with the mode `{mode}`");
                let modes = POWER_SAVE_MODES
                    .iter()
                    .filter(|(_, mode)| keys_of(*mode).contains(&key));
                let help = format!("remove it, or use the mode {}", list(modes.map(|(word, _)| *word)));
                cx.problems.push(Problem::new(place.clone(), path, message, Some(help)));
            }
        }
        let Some(period) = &self.twt_service_period else {
            return;
        };
        if period.0 < MIN_SERVICE_PERIOD || period.0 >= settings.twt_interval {
            let message = format!("invalid service period: found {}", period.0);
            let help = format!(
                "expected 1 ms or more, and less than `twt_interval` ({})",
                settings.twt_interval
            );
            cx.problem_at(period, message, help);
        }
    }
}

word_or_section!(
    PowerSaveChoice(PowerSave),
    PowerSaveMode,
    "mode",
    "a mode, or a section",
    |mode| PowerSave {
        mode,
        ..PowerSave::default()
    },
    PowerSaveSection,
    PowerSaveSection::check
);

impl PlanValue<PowerSaveChoice> for PowerSave {
    fn from_key(key: &PowerSaveChoice) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        let keys = keys_of(self.mode).iter().copied();
        PowerSaveSection::encode(self).ordered(keys).into_json()
    }
}

/// Roaming: the name of a policy, or a section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoamingChoice(pub(crate) Roaming);

word_or_section!(
    RoamingChoice(Roaming),
    RoamingPolicy,
    "policy",
    "a policy, or a section",
    |policy| Roaming {
        policy: Some(policy),
        ..Roaming::default()
    },
    RoamingSection,
    |_, _| ()
);

/// Steering: the name of a policy, or a section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SteeringChoice(pub(crate) Steering);

word_or_section!(
    SteeringChoice(Steering),
    SteeringPolicy,
    "policy",
    "a policy, or a section",
    |policy| Steering {
        policy,
        ..Steering::default()
    },
    SteeringSection,
    |_, _| ()
);

impl PlanValue<SteeringChoice> for Steering {
    fn from_key(key: &SteeringChoice) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        SteeringSection::encode(self).into_json()
    }
}

impl PlanValue<RoamingChoice> for Roaming {
    fn from_key(key: &RoamingChoice) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        RoamingSection::encode(self).into_json()
    }
}

impl FromNode for Width {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        if let (Value::Integer(number), None) = (&node.value, node.text()) {
            let help = format!("write it as `\"{number} MHz\"`");
            cx.problem(&node.place, format!("`{number}` has no unit"), help);
            return None;
        }
        parsed(node, cx, "20, 40, 80, 160 or 320 MHz, such as `\"80 MHz\"`", |text| {
            let number = text.trim().strip_suffix("MHz")?.trim_end();
            Width::ALL
                .into_iter()
                .find(|width| width.as_mhz().to_string() == number)
        })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^\\s*(20|40|80|160|320)\\s*MHz\\s*$",
            "x-value": "20, 40, 80, 160 or 320 MHz",
        })
    }
}

impl FromNode for Guard {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let Span(time) = Span::read(node, cx)?;
        let known = Guard::ALL
            .into_iter()
            .find(|guard| u64::from(guard.as_nanos()) == time.as_nanos());
        if known.is_none() {
            let message = format!("invalid guard interval {}", node.found());
            cx.problem(&node.place, message, "expected 400, 800, 1600 or 3200 ns".to_owned());
        }
        known
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Span::schema(generator);
        schema.insert("x-value".to_owned(), "400, 800, 1600 or 3200 ns".into());
        schema
    }
}

impl FromNode for Rating {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "a speed rating: `N`, `AC`, `AX`, `AXE` or `BE` and three to five digits, such as `\"AC1750\"`";
        parsed(node, cx, wanted, |text| text.parse().ok())
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([Nn]|[Aa][Cc]|[Aa][Xx][Ee]?|[Bb][Ee])[0-9]{3,5}$", "x-value": "a rating" })
    }
}

impl FromNode for CongestionControl {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted =
            "`reno`, `cubic`, `bbr` or another one of the operating system: up to 15 of a to z, digits, `-` and `_`";
        parsed(node, cx, wanted, |text| text.parse().ok())
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[a-z0-9_-]{1,15}$", "x-value": "`reno`, `cubic`, `bbr`, or a name" })
    }
}

/// Parses a count with its unit: `8 frames` or `1 frame`.
fn counted(text: &str, unit: &str) -> Option<u32> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let word = text[end..].trim();
    let fits = word == unit || Some(word) == unit.strip_suffix('s');
    let number: u32 = text[..end].parse().ok()?;
    (fits && (1..=1_000_000).contains(&number)).then_some(number)
}

impl FromNode for QueueLimit {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted =
            "packets or bytes, more than 0: `\"1000 packets\"` (up to 1000000) or `\"256 KiB\"` (up to 64 GiB)";
        parsed(node, cx, wanted, |text| {
            let bytes = || {
                let size: ByteSize = text.parse().ok()?;
                (size > ByteSize::ZERO && size <= ByteSize::from_gib(64)).then_some(QueueLimit::Bytes(size))
            };
            counted(text, "packets").map(QueueLimit::Packets).or_else(bytes)
        })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^\\s*[0-9._]+\\s*(packets?|[KMGT]iB|[kKMGT]?B|bytes)\\s*$", "x-value": "packets or bytes" })
    }
}

impl FromNode for HardwareQueue {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let wanted = "aggregates, frames or a time, more than 0: `\"2 aggregates\"`, `\"8 frames\"`, `\"10 ms\"`; or `\"unlimited\"`";
        parsed(node, cx, wanted, |text| {
            if text.trim() == "unlimited" {
                return Some(HardwareQueue::Unlimited);
            }
            let time = || {
                let time: Duration = text.parse().ok()?;
                (!time.is_zero() && time <= Duration::from_secs(60)).then_some(HardwareQueue::Time(time))
            };
            counted(text, "aggregates")
                .map(HardwareQueue::Aggregates)
                .or_else(|| counted(text, "frames").map(HardwareQueue::Frames))
                .or_else(time)
        })
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^\\s*(unlimited|[0-9]+\\s*(aggregates?|frames?)|[0-9._]+\\s*(s|sec|ms|us|µs|μs|ns|min|m))\\s*$",
            "x-value": "aggregates, frames, a time, or `unlimited`",
        })
    }
}

section! {
    /// Airtime queue limits (AQL): the airtime that can be pending in the hardware.
    AqlSection(Aql = Aql::default()) {
        /// A station can always pass frames to the hardware while its pending airtime is below this.
        low: SomeTime => low;
        /// Limit of a station's pending airtime while the sum over all stations is below `total`.
        high: SomeTime => high;
        /// Sum of all stations' pending airtime from which `low` applies.
        total: SomeTime => total;
    }
}

/// Airtime queue limits: off, on with Linux's values, or custom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AqlChoice(pub(crate) Option<Aql>);

impl FromNode for AqlChoice {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        match &node.value {
            Value::Bool(on) => Some(AqlChoice(on.then(Aql::default))),
            Value::Table(_) => {
                let aql = from_section(&AqlSection::read(node, cx)?);
                if aql.low > aql.high {
                    let message = format!("`low` ({}) is above `high` ({})", aql.low, aql.high);
                    cx.problem(&node.place, message, "expected `low` up to `high`".to_owned());
                    return None;
                }
                Some(AqlChoice(Some(aql)))
            }
            _ => cx.mismatch(node, "`true`, `false` or `{ low = …, high = …, total = … }`"),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let own = AqlSection::schema(generator);
        json_schema!({ "anyOf": [{ "type": "boolean" }, own], "x-value": "true, false, or `{ low, high, total }`" })
    }

    fn shape() -> Shape {
        AqlSection::shape().with_short_form(|node| (node.value == Value::Bool(true)).then(Vec::new))
    }
}

impl PlanValue<AqlChoice> for Option<Aql> {
    fn from_key(key: &AqlChoice) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            None => false.into(),
            Some(aql) => AqlSection::encode(aql).into_json(),
        }
    }
}

section! {
    /// Custom settings of TCP Small Queues. The limit on a connection's data below TCP is
    /// max(2 packets, pacing rate ÷ 2^`shift`, `minimum`), up to `cap`.
    TsqSection(TsqSettings = TsqSettings::default()) {
        /// Time of 2^−shift seconds at the pacing rate: 10 is 1 ms, 9 is 2 ms, 8 is 4 ms, 7 is 8 ms, 6 is 16 ms. `none`: independent of the rate.
        shift: Shift => shift;
        /// Minimum of the limit.
        minimum: scalars::AnySize => minimum;
        /// Maximum of the limit.
        cap: scalars::ObjectSize => cap, default "none";
        /// Application of the cap to paced connections.
        caps_paced: scalars::Flag => caps_paced;
    }
}

/// A shift, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift(pub(crate) Option<u8>);

impl FromNode for Shift {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        if node.text() == Some("none") {
            return Some(Shift(None));
        }
        let scalars::Whole(number) = scalars::Whole::<0, 20>::read(node, cx)?;
        Some(Shift(Some(u8::try_from(number).unwrap_or(20))))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 20 }, { "const": "none" }], "x-value": "0 to 20, or `none`" })
    }
}

impl PlanValue<Shift> for Option<u8> {
    fn from_key(key: &Shift) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        self.map_or_else(|| "none".into(), Into::into)
    }
}

impl FromNode for Tsq {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        if let Value::Table(_) = node.value {
            let settings = from_section(&TsqSection::read(node, cx)?);
            if settings.cap.is_some_and(|cap| cap < settings.minimum) {
                let message = "`minimum` is above `cap`";
                cx.problem(&node.place, message, "expected `minimum` up to `cap`".to_owned());
                return None;
            }
            if settings.shift.is_none() && settings.cap.is_none() {
                let message = "`shift = \"none\"` needs a `cap`";
                cx.problem(&node.place, message, "add a `cap`, or write `tsq = \"off\"`".to_owned());
                return None;
            }
            return Some(Tsq::Custom(settings));
        }
        // A year can also be written as a number.
        let year = match node.value {
            Value::Integer(year) if node.raw.is_none() => {
                Some(Node::new(Value::Text(year.to_string()), node.place.clone()))
            }
            _ => None,
        };
        scalars::word(year.as_ref().unwrap_or(node), cx, TSQ)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = TSQ.iter().map(|(word, _)| *word).collect();
        let own = TsqSection::schema(generator);
        json_schema!({
            "anyOf": [{ "enum": words }, { "enum": [2012, 2013, 2014, 2015, 2018, 2019, 2025] }, own],
            "x-value": "`2012`, `2013`, `2013-min`, `2014`, `2015`, `2018`, `2019`, `2025`, `off`, or `{ shift, minimum, cap }`",
        })
    }

    fn shape() -> Shape {
        TsqSection::shape()
    }
}

impl PlanValue<Tsq> for Tsq {
    fn from_key(key: &Tsq) -> Self {
        *key
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Tsq::Custom(settings) => TsqSection::encode(settings).into_json(),
            preset => word_of(TSQ, preset).into(),
        }
    }
}

pub(crate) const TSQ: &[(&str, Tsq)] = &[
    ("2012", Tsq::Preset(TsqPreset::Y2012)),
    ("2013", Tsq::Preset(TsqPreset::Y2013)),
    ("2013-min", Tsq::Preset(TsqPreset::Y2013Min)),
    ("2014", Tsq::Preset(TsqPreset::Y2014)),
    ("2015", Tsq::Preset(TsqPreset::Y2015)),
    ("2018", Tsq::Preset(TsqPreset::Y2018)),
    ("2019", Tsq::Preset(TsqPreset::Y2019)),
    ("2025", Tsq::Preset(TsqPreset::Y2025)),
    ("off", Tsq::Off),
];
