//! Scalar values: quantities with units and ranges, whole numbers, texts, names.

use crate::decode::{Context, FromNode};
use crate::node::{Node, Value};
use crate::suggest::{list, quoted_name};
use crate::value::PlanValue;
use netburn_units::{BitRate, ByteSize, Db, Dbm, Distance, Duration, Probability, QuantityError, Seed, Speed};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Declares a quantity: a newtype with a range, read from a text with its unit.
macro_rules! quantity {
    (
        $(#[doc = $doc:literal])+
        $name:ident($inner:ty), unit $unit:expr => $units:literal, $low:expr, $high:expr, $range:literal
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) $inner);

        impl FromNode for $name {
            fn read(node: &Node, cx: &mut Context) -> Option<Self> {
                let value: $inner = quantity(node, cx, $unit, concat!("expected ", $range))?;
                if value < $low || value > $high {
                    let message = format!("{} is out of range", node.found());
                    cx.problem(&node.place, message, concat!("expected ", $range).to_owned());
                    return None;
                }
                Some($name(value))
            }

            fn schema(_: &mut SchemaGenerator) -> Schema {
                let pattern = concat!("^\\s*[-+\u{2212}]?\\s*[0-9._]+\\s*(", $units, ")\\s*$");
                json_schema!({ "type": "string", "pattern": pattern, "x-value": $range })
            }
        }

        impl PlanValue<$name> for $inner {
            fn from_key(key: &$name) -> Self {
                key.0
            }

            fn to_json(&self) -> serde_json::Value {
                self.to_string().into()
            }
        }
    };
}

const TIME: &str = "s";
const SIZE: &str = "KiB";
const RATE: &str = "Mbit/s";
const DAY: u64 = 86_400;

quantity! {
    /// A duration, possibly 0.
    Span(Duration), unit TIME => "s|sec|ms|us|µs|μs|ns|min|m|h",
    Duration::ZERO, Duration::from_secs(30 * DAY), "a time, 0 s to 30 days (720 h)"
}
quantity! {
    /// A duration greater than 0.
    SomeTime(Duration), unit TIME => "s|sec|ms|us|µs|μs|ns|min|m|h",
    Duration::from_nanos(1), Duration::from_secs(30 * DAY), "a time greater than 0, up to 30 days (720 h)"
}
quantity! {
    /// A duration before or after the load, possibly 0.
    ShortSpan(Duration), unit TIME => "s|sec|ms|us|µs|μs|ns|min|m|h",
    Duration::ZERO, Duration::from_secs(3600), "a time, 0 s to 1 h"
}
quantity! {
    /// Delay of a link.
    Delay(Duration), unit "ms" => "s|sec|ms|us|µs|μs|ns|min|m|h",
    Duration::ZERO, Duration::from_secs(60), "a time, 0 s to 60 s"
}
quantity! {
    /// Data rate.
    Rate(BitRate), unit RATE => "Mbit/s|Mbps|Mb/s|Gbit/s|Gbps|Gb/s|kbit/s|kbps|kb/s|bit/s|bps|b/s",
    BitRate::from_bps(1000), BitRate::from_mbps(1_000_000), "a rate, 1 kbit/s to 1000 Gbit/s"
}
quantity! {
    /// Size of an object.
    ObjectSize(ByteSize), unit SIZE => "KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB|B|bytes",
    ByteSize::from_bytes(1), ByteSize::from_gib(16), "a size, 1 B to 16 GiB"
}
quantity! {
    /// Capacity of a queue.
    QueueBytes(ByteSize), unit SIZE => "KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB|B|bytes",
    ByteSize::from_bytes(1), ByteSize::from_gib(64), "a size, 1 B to 64 GiB"
}
quantity! {
    /// A size, possibly 0.
    AnySize(ByteSize), unit SIZE => "KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB|B|bytes",
    ByteSize::ZERO, ByteSize::from_gib(64), "a size, 0 B to 64 GiB"
}
quantity! {
    /// Received power of a signal.
    Signal(Dbm), unit "dBm" => "dBm",
    Dbm::from_dbm(-110), Dbm::from_dbm(0), "a received power, −110 to 0 dBm"
}
quantity! {
    /// Transmit power of a radio.
    Power(Dbm), unit "dBm" => "dBm",
    Dbm::from_dbm(-20), Dbm::from_dbm(36), "a power, −20 to 36 dBm"
}
quantity! {
    /// A share below 100 %.
    Share(Probability), unit "%" => "%|ppm",
    Probability::ZERO, NINETY_NINE, "a share, 0 to 99 %"
}
quantity! {
    /// A share up to 100 %.
    Part(Probability), unit "%" => "%|ppm",
    Probability::ZERO, Probability::ONE, "a share, 0 to 100 %"
}
quantity! {
    /// Distance.
    Range(Distance), unit "m" => "m|cm|mm|km|ft",
    Distance::from_millimetres(10), Distance::from_metres(100_000), "a distance, 1 cm to 100 km"
}

quantity! {
    /// Ratio of two powers.
    Ratio(Db), unit "dB" => "dB",
    Db::ZERO, Db::from_db(60), "a ratio, 0 to 60 dB"
}
quantity! {
    /// Speed of a station.
    Velocity(Speed), unit "m/s" => "m/s|mm/s|km/h",
    Speed::from_millimetres_per_second(1), Speed::from_millimetres_per_second(100_000), "a speed, 1 mm/s to 100 m/s"
}

const NINETY_NINE: Probability = match Probability::from_ppb(990_000_000) {
    Some(share) => share,
    None => Probability::ONE,
};

/// Reads a quantity. `unit` is the unit in suggestions, and `range` is the help for values out of range.
fn quantity<T: std::str::FromStr<Err = QuantityError>>(
    node: &Node,
    cx: &mut Context,
    unit: &str,
    range: &str,
) -> Option<T> {
    let number;
    let text = match (&node.value, node.text()) {
        (_, Some(text)) => text,
        (Value::Integer(value), _) => {
            number = value.to_string();
            &number
        }
        (Value::Number(value), _) => value,
        _ => return cx.mismatch(node, &format!("a number with its unit, such as `\"5 {unit}\"`")),
    };
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            let found = node.found();
            let (message, help) = match error {
                QuantityError::MissingUnit { found: number, .. } => (
                    format!("{found} has no unit"),
                    Some(format!("write it as `\"{} {unit}\"`", number.trim())),
                ),
                QuantityError::NotANumber { example, .. } => (
                    format!("{found} does not begin with a number"),
                    Some(format!("write it as `\"{example}\"`")),
                ),
                QuantityError::UnknownUnit { unit, known, .. } => (
                    format!("unknown unit {}", quoted_name(&unit)),
                    Some(match likely_quantity(text, &unit, &known) {
                        Some(likely) => format!("{likely} Expected one of {known}"),
                        None => format!("expected one of {known}"),
                    }),
                ),
                // The range of the key can be narrower than that of the unit.
                QuantityError::OutOfRange { .. } => (format!("{found} is out of range"), Some(range.to_owned())),
                QuantityError::Digits { why, .. } => (format!("{found} has too many digits"), Some(why.to_owned())),
            };
            cx.problem(&node.place, message, help);
            None
        }
    }
}

/// Units as people write them, in small letters, with the unit that they mean.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("mbps", "Mbit/s"),
    ("gbps", "Gbit/s"),
    ("mbit", "Mbit/s"),
    ("mbits", "Mbit/s"),
    ("mbits/s", "Mbit/s"),
    ("mbit/sec", "Mbit/s"),
    ("mb", "Mbit/s"),
    ("m", "Mbit/s"),
    ("gbit", "Gbit/s"),
    ("gbits", "Gbit/s"),
    ("gbits/s", "Gbit/s"),
    ("gb", "Gbit/s"),
    ("g", "Gbit/s"),
    ("kbit", "kbit/s"),
    ("kbits", "kbit/s"),
    ("kbits/s", "kbit/s"),
    ("kb", "kbit/s"),
    ("second", "s"),
    ("seconds", "s"),
    ("secs", "s"),
    ("msec", "ms"),
    ("milliseconds", "ms"),
    ("minute", "min"),
    ("minutes", "min"),
    ("mins", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("hr", "h"),
    ("hrs", "h"),
    ("metre", "m"),
    ("metres", "m"),
    ("meter", "m"),
    ("meters", "m"),
    ("feet", "ft"),
    ("foot", "ft"),
    ("percent", "%"),
    ("byte", "B"),
    ("k", "kB"),
    ("dbi", "dBm"),
    ("db", "dBm"),
];

/// Sentence with the quantity that was probably meant by `text`, which ends with an unknown unit; `None` without a guess.
/// `known` has the units of the key.
fn likely_quantity(text: &str, unit: &str, known: &str) -> Option<String> {
    let is_known = |unit: &str| known.split(", ").any(|name| name == unit);
    let number = text.trim().strip_suffix(unit).map(str::trim);
    let value = || number?.replace('_', "").parse::<f64>().ok();
    if unit == "%" && is_known("dBm") {
        // Windows: 0 to 100 % are −100 to −50 dBm (WLAN_ASSOCIATION_ATTRIBUTES, wlanSignalQuality).
        return match value() {
            Some(percent) if (0.0..=100.0).contains(&percent) => Some(format!(
                "Windows shows the signal in percent: {percent} % is about `\"{:.0} dBm\"` (percent ÷ 2 − 100).",
                percent / 2.0 - 100.0
            )),
            _ => None,
        };
    }
    if let Some(prefix) = bytes_per_second(unit)
        && is_known("Mbit/s")
    {
        let bits = format!("{prefix}bit/s");
        return Some(match value() {
            Some(bytes) => format!(
                "1 byte is 8 bit: write it as `\"{} {bits}\"`.",
                netburn_units::format_decimal(bytes * 8.0, 3)
            ),
            None => format!("1 byte is 8 bit: write it in {bits}."),
        });
    }
    let lower = unit.to_lowercase();
    let near = known.split(", ").find(|name| name.eq_ignore_ascii_case(unit));
    let near = near.or_else(|| {
        let other = OTHER_NAMES.iter().find(|(name, unit)| *name == lower && is_known(unit));
        other.map(|(_, unit)| *unit)
    })?;
    Some(format!("did you mean `{near}`?"))
}

/// Prefix of a unit of bytes per second, such as `M` of `MB/s`, `MBps` and `MiB/s`.
fn bytes_per_second(unit: &str) -> Option<&'static str> {
    let scale = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"))?;
    match scale {
        "B" | "byte" | "bytes" => Some(""),
        "kB" | "KB" | "KiB" => Some("k"),
        "MB" | "MiB" => Some("M"),
        "GB" | "GiB" => Some("G"),
        _ => None,
    }
}

/// A size, or `off`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeOrOff(pub(crate) Option<ByteSize>);

impl FromNode for SizeOrOff {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        if node.text() == Some("off") {
            return Some(SizeOrOff(None));
        }
        ObjectSize::read(node, cx).map(|size| SizeOrOff(Some(size.0)))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let size = ObjectSize::schema(generator);
        json_schema!({ "anyOf": [size, { "const": "off" }], "x-value": "a size, or `off`" })
    }
}

impl PlanValue<SizeOrOff> for Option<ByteSize> {
    fn from_key(key: &SizeOrOff) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        self.map_or_else(|| "off".to_owned(), |size| size.to_string()).into()
    }
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole<const LOW: u64, const HIGH: u64>(pub(crate) u64);

impl<const LOW: u64, const HIGH: u64> FromNode for Whole<LOW, HIGH> {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let Value::Integer(number) = node.value else {
            return cx.mismatch(node, &format!("a whole number, {LOW} to {HIGH}"));
        };
        match u64::try_from(number) {
            Ok(number) if (LOW..=HIGH).contains(&number) => Some(Whole(number)),
            _ => {
                let help = format!("expected a whole number, {LOW} to {HIGH}");
                cx.problem(&node.place, format!("`{number}` is out of range"), help);
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LOW, "maximum": HIGH })
    }
}

macro_rules! whole_values {
    ($($integer:ident),+) => {
        $(impl<const LOW: u64, const HIGH: u64> PlanValue<Whole<LOW, HIGH>> for $integer {
            fn from_key(key: &Whole<LOW, HIGH>) -> Self {
                $integer::try_from(key.0).unwrap_or($integer::MAX)
            }

            fn to_json(&self) -> serde_json::Value {
                (*self).into()
            }
        })+
    };
}
whole_values!(u8, u16, u32, u64);

impl<const LOW: u64, const HIGH: u64> PlanValue<Whole<LOW, HIGH>> for Seed {
    fn from_key(key: &Whole<LOW, HIGH>) -> Self {
        Seed(key.0)
    }

    fn to_json(&self) -> serde_json::Value {
        self.0.into()
    }
}

/// A boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

impl FromNode for Flag {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        match node.value {
            Value::Bool(value) => Some(Flag(value)),
            _ => cx.mismatch(node, "`true` or `false`"),
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

impl PlanValue<Flag> for bool {
    fn from_key(key: &Flag) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        (*self).into()
    }
}

/// Free text: up to 2000 characters, without control characters other than line ends and tabs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

const MAX_TEXT_LENGTH: usize = 2000;

impl FromNode for Text {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let Some(text) = node.text() else {
            return cx.mismatch(node, "a text in quotes");
        };
        if text.chars().count() > MAX_TEXT_LENGTH {
            let help = format!("expected up to {MAX_TEXT_LENGTH} characters");
            cx.problem(&node.place, "text too long", help);
            return None;
        }
        if let Some(control) = text
            .chars()
            .find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
        {
            let message = format!("invalid control character `{}`", control.escape_unicode());
            cx.problem(&node.place, message, "remove it".to_owned());
            return None;
        }
        Some(Text(text.to_owned()))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX_TEXT_LENGTH, "x-value": "a text" })
    }
}

impl PlanValue<Text> for String {
    fn from_key(key: &Text) -> Self {
        key.0.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

/// A name: letters, digits and `-`, one to 63 of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) String);

impl FromNode for Name {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let Some(text) = node.text() else {
            return cx.mismatch(node, "a name in quotes");
        };
        cx.check_name(text, &node.place).then(|| Name(text.to_owned()))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9-]{1,63}$", "x-value": "a name" })
    }
}

impl PlanValue<Name> for String {
    fn from_key(key: &Name) -> Self {
        key.0.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        self.as_str().into()
    }
}

/// Reads one of a fixed set of words.
pub(crate) fn word<T: Copy>(node: &Node, cx: &mut Context, words: &[(&str, T)]) -> Option<T> {
    let known = || words.iter().map(|(word, _)| *word);
    let Some(text) = node.text() else {
        return cx.mismatch(node, &format!("one of {}", list(known())));
    };
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    let help = match cx.nearest(text, known()) {
        Some(near) => format!("did you mean `{near}`? Expected one of {}", list(known())),
        None => format!("expected one of {}", list(known())),
    };
    cx.problem(&node.place, format!("unknown value {}", node.found()), help);
    None
}

/// Reads a text with `parse`. `wanted` describes the valid values.
pub(crate) fn parsed<T>(node: &Node, cx: &mut Context, wanted: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let Some(text) = node.text() else {
        return cx.mismatch(node, wanted);
    };
    let value = parse(text);
    if value.is_none() {
        cx.problem(
            &node.place,
            format!("invalid value {}", node.found()),
            format!("expected {wanted}"),
        );
    }
    value
}
