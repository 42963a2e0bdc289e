//! Keys that can change during a run, and the format of a change.

use crate::decode::{Context, FromNode, Spanned};
use crate::goals::Rates;
use crate::node::{Entry, Node, Place};
use crate::plan::{ApSetting, LinkSetting, RadioRef, RadioSetting, Setting, StationSetting};
use crate::scalars::{Delay, Power, QueueBytes, Range, Rate, Share, Signal, Whole};
use crate::suggest::list;
use netburn_medium::config::{LinkQuality, QueueKind, RateControl};
use schemars::{Schema, SchemaGenerator, json_schema};

/// A key that can change: its path with `*` for names, its schema, and the reader of its new value.
pub(crate) struct Changeable {
    pub(crate) pattern: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    read: fn(&[&str], &Node, &mut Context) -> Option<Setting>,
}

macro_rules! changeable {
    ($($pattern:literal, $kind:ty, |$names:ident, $value:ident| $setting:expr;)+) => {
        &[$(Changeable {
            pattern: $pattern,
            schema: <$kind as FromNode>::schema,
            read: |$names, node, cx| {
                let $value = <$kind as FromNode>::read(node, cx)?;
                Some($setting)
            },
        }),+]
    };
}

fn to_u8(whole: u64) -> u8 {
    u8::try_from(whole).unwrap_or(u8::MAX)
}

fn ap(names: &[&str], setting: ApSetting) -> Setting {
    Setting::Ap(names[1].to_owned(), setting)
}

fn station(names: &[&str], setting: StationSetting) -> Setting {
    Setting::Station(names[1].to_owned(), setting)
}

fn radio(names: &[&str], setting: RadioSetting) -> Option<Setting> {
    let radio = crate::plan::RadioName::parse(names[3])?;
    Some(Setting::Radio(
        RadioRef {
            ap: names[1].to_owned(),
            radio,
        },
        setting,
    ))
}

/// All keys that can change.
pub(crate) const CHANGEABLE: &[Changeable] = changeable! {
    "server.link.rate", Rate, |_names, value| Setting::Link(LinkSetting::Rate(value.0));
    "server.link.delay", Delay, |_names, value| Setting::Link(LinkSetting::Delay(value.0));
    "server.link.loss", Share, |_names, value| Setting::Link(LinkSetting::Loss(value.0));
    "server.link.queue", QueueBytes, |_names, value| Setting::Link(LinkSetting::Queue(value.0));
    "ap.*.queue", QueueKind, |names, value| ap(names, ApSetting::Queue(value));
    "ap.*.forwarding", Rate, |names, value| ap(names, ApSetting::Forwarding(value.0));
    "ap.*.wan.down", Rate, |names, value| ap(names, ApSetting::WanDown(value.0));
    "ap.*.wan.up", Rate, |names, value| ap(names, ApSetting::WanUp(value.0));
    "ap.*.wan.delay", Delay, |names, value| ap(names, ApSetting::WanDelay(value.0));
    "ap.*.wan.loss", Share, |names, value| ap(names, ApSetting::WanLoss(value.0));
    "ap.*.radio.*.channel_busy", Share, |names, value| radio(names, RadioSetting::ChannelBusy(value.0))?;
    "ap.*.radio.*.power", Power, |names, value| radio(names, RadioSetting::Power(value.0))?;
    "station.*.signal", Signal, |names, value| station(names, StationSetting::Quality(LinkQuality::Signal(value.0)));
    "station.*.distance", Range, |names, value| station(names, StationSetting::Quality(LinkQuality::Distance(value.0)));
    "station.*.mcs", Whole<0, 13>, |names, value| station(names, StationSetting::Quality(LinkQuality::Mcs(to_u8(value.0))));
    "station.*.signal_up", Signal, |names, value| station(names, StationSetting::SignalUp(value.0));
    "station.*.rate_control", RateControl, |names, value| station(names, StationSetting::RateControl(value));
    "station.*.adapter_rate", Rates, |names, value| station(names, StationSetting::AdapterRate(value.0));
    "station.*.queue", QueueKind, |names, value| station(names, StationSetting::Queue(value));
    "station.*.link.rate", Rate, |names, value| station(names, StationSetting::LinkRate(value.0));
    "station.*.link.down", Rate, |names, value| station(names, StationSetting::LinkDown(value.0));
    "station.*.link.up", Rate, |names, value| station(names, StationSetting::LinkUp(value.0));
    "station.*.link.delay", Delay, |names, value| station(names, StationSetting::LinkDelay(value.0));
    "station.*.link.loss", Share, |names, value| station(names, StationSetting::LinkLoss(value.0));
    "station.*.weight", Whole<1, 65_535>, |names, value| station(names, StationSetting::Weight(u16::try_from(value.0).unwrap_or(u16::MAX)));
};

/// Settings of one `[[at]]` whose paths and values are valid by themselves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings(pub(crate) Vec<Spanned<Setting>>);

impl FromNode for Settings {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let table = cx.table(node, "a table such as `{ \"station.tv.signal\" = \"-80 dBm\" }`")?;
        if table.entries.is_empty() {
            let help = "add a path and its new value: `{ \"station.tv.signal\" = \"-80 dBm\" }`";
            cx.problem(&node.place, "`set` is empty", help.to_owned());
        }
        let settings = table.entries.iter().filter_map(|entry| setting(entry, cx)).collect();
        Some(Settings(settings))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let mut patterns = serde_json::Map::new();
        for changeable in CHANGEABLE {
            let mut pattern = String::from("^");
            for (index, part) in changeable.pattern.split('.').enumerate() {
                pattern.push_str(if index == 0 { "" } else { "\\." });
                pattern.push_str(if part == "*" { "[A-Za-z0-9-]{1,63}" } else { part });
            }
            pattern.push('$');
            patterns.insert(pattern, (changeable.schema)(generator).into());
        }
        json_schema!({
            "type": "object",
            "minProperties": 1,
            "patternProperties": patterns,
            "additionalProperties": false,
            "x-value": "paths and values",
        })
    }
}

fn setting(entry: &Entry, cx: &mut Context) -> Option<Spanned<Setting>> {
    let names: Vec<&str> = entry.key.split('.').collect();
    let found = CHANGEABLE.iter().find(|known| fits(known.pattern, &names));
    let path = &entry.key;
    let Some(changeable) = found else {
        report_unknown(path, &names, entry, cx);
        return None;
    };
    let radio = (names.get(2) == Some(&"radio")).then(|| names.get(3)).flatten();
    if let Some(radio) = radio.filter(|radio| crate::plan::RadioName::parse(radio).is_none()) {
        let message = format!("invalid radio name {}", crate::suggest::quoted_name(radio));
        let help = "expected `2g`, `5g` or `6g`; a second radio in a band is `5g-2`";
        cx.problem(&entry.place, message, help.to_owned());
        return None;
    }
    let value = cx.within(path, |cx| (changeable.read)(&names, &entry.node, cx))?;
    Some(Spanned {
        value,
        place: entry.place.clone(),
        path: format!("{}.{}", cx.path.join("."), path.escape_debug()),
    })
}

fn fits(pattern: &str, names: &[&str]) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    parts.len() == names.len() && parts.iter().zip(names).all(|(part, name)| *part == "*" || part == name)
}

fn report_unknown(path: &str, names: &[&str], entry: &Entry, cx: &mut Context) {
    let place: &Place = &entry.place;
    let shown = crate::suggest::quoted_name(path);
    if entry.node.table().is_some() && names.len() == 1 {
        let help = "write the full path in quotes: `{ \"station.tv.signal\" = \"-80 dBm\" }`";
        cx.problem(place, format!("{shown} is not a full path"), help.to_owned());
        return;
    }
    // The suggestion contains the names of the file, so that the user can copy it.
    let candidates: Vec<String> = CHANGEABLE
        .iter()
        .map(|known| {
            let parts = known.pattern.split('.').enumerate();
            parts
                .map(|(index, part)| {
                    if part == "*" {
                        names.get(index).unwrap_or(&"NAME")
                    } else {
                        part
                    }
                })
                .collect::<Vec<_>>()
                .join(".")
        })
        .collect();
    let known = crate::document::check_path(path);
    let message = match known {
        Ok(_) => format!("{shown} cannot change during a run"),
        Err(_) => format!("unknown key {shown}"),
    };
    let section: Vec<&str> = CHANGEABLE
        .iter()
        .map(|known| known.pattern)
        .filter(|pattern| pattern.split('.').next() == names.first().copied())
        .collect();
    let help = match cx.nearest(path, candidates.iter().map(String::as_str)) {
        Some(near) if known.is_err() => format!("did you mean `{near}`?"),
        _ if !section.is_empty() => format!("keys that can change: {}", list(section)),
        _ => format!(
            "keys that can change: {}",
            list(CHANGEABLE.iter().map(|known| known.pattern))
        ),
    };
    cx.problem(place, message, help);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::format_setting;

    #[test]
    fn every_path_is_a_key_and_its_format_is_read_back() {
        for changeable in CHANGEABLE {
            let path = changeable.pattern.replace("radio.*", "radio.5g").replace('*', "c7");
            assert_eq!(crate::document::check_path(&path), Ok(()), "{path}");
            let value = match path.rsplit('.').next().unwrap_or_default() {
                "rate" | "forwarding" | "down" | "up" | "adapter_rate" => "5 Mbit/s".into(),
                "delay" => "5 ms".into(),
                "loss" | "channel_busy" => "5 %".into(),
                "signal" | "signal_up" => "-60 dBm".into(),
                "power" => "5 dBm".into(),
                "distance" => "5 m".into(),
                "rate_control" => "ideal".into(),
                "queue" if path.starts_with("server") => "5 KiB".into(),
                "queue" => "airtime".into(),
                "mcs" | "weight" => serde_json::Value::from(5),
                other => panic!("a value for {other}"),
            };
            let read = |value: &serde_json::Value| {
                let mut cx = Context::default();
                let document = serde_json::json!({ path.as_str(): value });
                let settings = Settings::read(&Node::from_json(&document), &mut cx);
                assert_eq!(cx.problems, [], "{path}");
                settings.expect("settings").0.remove(0).value
            };
            let setting = read(&value);
            let (written_path, written) = format_setting(&setting);
            assert_eq!(written_path, path);
            assert_eq!(read(&written), setting);
        }
    }
}
