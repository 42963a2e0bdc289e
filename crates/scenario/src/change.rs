//! Keys that can change during a run, and the format of a change.

use crate::decode::{Context, FromNode, KeyChange, Section, Spanned};
use crate::node::{Entry, Node, Place};
use crate::path::check_path;
use crate::plan::StationLinkSection;
use crate::plan::{ApSection, LinkSection, RadioSection, RouterSection, StationSection, WanSection};
use crate::plan::{RadioName, RadioRef, Setting};
use crate::suggest::list;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::sync::LazyLock;

type Read = dyn Fn(&[&str], &Node, &mut Context) -> Option<Setting> + Send + Sync;
type Write = dyn Fn(&Setting) -> Option<Value> + Send + Sync;

/// A key that can change: its path with `*` for names, its schema, and the reader and format of its new value.
pub(crate) struct Changeable {
    pub(crate) pattern: String,
    schema: fn(&mut SchemaGenerator) -> Schema,
    read: Box<Read>,
    write: Box<Write>,
}

/// All keys that can change.
pub(crate) static CHANGEABLE: LazyLock<Vec<Changeable>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let link = |setting: &Setting| match setting {
        Setting::Link(link) => Some(*link),
        _ => None,
    };
    add(
        &mut all,
        "server.link",
        LinkSection::changes(),
        |_, new| Some(Setting::Link(new)),
        link,
    );
    let router = |setting: &Setting| match setting {
        Setting::Router(router) => Some(*router),
        _ => None,
    };
    let of_router = |_: &[&str], new| Some(Setting::Router(new));
    add(&mut all, "router", RouterSection::changes(), of_router, router);
    add(&mut all, "router.wan", WanSection::changes(), of_router, router);
    let ap = |setting: &Setting| match setting {
        Setting::Ap(_, ap) => Some(*ap),
        _ => None,
    };
    let of_ap = |names: &[&str], new| Some(Setting::Ap(names[1].to_owned(), new));
    add(&mut all, "ap.*", ApSection::changes(), of_ap, ap);
    add(&mut all, "ap.*.wan", WanSection::changes(), of_ap, ap);
    let radio = |setting: &Setting| match setting {
        Setting::Radio(_, radio) => Some(*radio),
        _ => None,
    };
    let of_radio = |names: &[&str], new| {
        let ap = names[1].to_owned();
        let radio = RadioName::parse(names[3])?;
        Some(Setting::Radio(RadioRef { ap, radio }, new))
    };
    add(&mut all, "ap.*.radio.*", RadioSection::changes(), of_radio, radio);
    let station = |setting: &Setting| match setting {
        Setting::Station(_, station) => Some(*station),
        _ => None,
    };
    let of_station = |names: &[&str], new| Some(Setting::Station(names[1].to_owned(), new));
    add(&mut all, "station.*", StationSection::changes(), of_station, station);
    add(
        &mut all,
        "station.*.link",
        StationLinkSection::changes(),
        of_station,
        station,
    );
    all
});

/// Adds the keys of a section that can change. `whole` makes the setting of a path's names, and `part` is its inverse.
fn add<S: 'static>(
    all: &mut Vec<Changeable>,
    section: &str,
    changes: Vec<KeyChange<S>>,
    whole: fn(&[&str], S) -> Option<Setting>,
    part: fn(&Setting) -> Option<S>,
) {
    for change in changes {
        all.push(Changeable {
            pattern: format!("{section}.{}", change.name),
            schema: change.schema,
            read: Box::new(move |names, node, cx| whole(names, (change.read)(node, cx)?)),
            write: Box::new(move |setting| (change.write)(&part(setting)?)),
        });
    }
}

/// Returns the pattern of a changed key and its new value.
fn pattern_of(setting: &Setting) -> (&'static str, Value) {
    let found = CHANGEABLE
        .iter()
        .find_map(|known| Some((known.pattern.as_str(), (known.write)(setting)?)));
    found.expect("every setting is that of a key")
}

/// Returns `true` if the setting is that of a station's wired link.
pub(crate) fn is_of_link(setting: &Setting) -> bool {
    pattern_of(setting).0.starts_with("station.*.link.")
}

/// Returns the path of a changed key and its new value.
pub(crate) fn format_setting(setting: &Setting) -> (String, Value) {
    let (pattern, value) = pattern_of(setting);
    let path = match setting {
        Setting::Link(_) | Setting::Router(_) => pattern.to_owned(),
        Setting::Ap(name, _) | Setting::Station(name, _) => pattern.replacen('*', name, 1),
        Setting::Radio(radio, _) => {
            let path = pattern.replacen("radio.*", &format!("radio.{}", radio.radio), 1);
            path.replacen('*', &radio.ap, 1)
        }
    };
    (path, value)
}

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
        for changeable in CHANGEABLE.iter() {
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
    let found = CHANGEABLE.iter().find(|known| fits(&known.pattern, &names));
    let path = &entry.key;
    let Some(changeable) = found else {
        report_unknown(path, &names, entry, cx);
        return None;
    };
    let radio = (names.get(2) == Some(&"radio")).then(|| names.get(3)).flatten();
    if let Some(radio) = radio.filter(|radio| RadioName::parse(radio).is_none()) {
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
    let known = cx.file.is_some_and(|file| check_path((file.shape)(), path).is_ok());
    let message = if known {
        format!("{shown} cannot change during a run")
    } else {
        format!("unknown key {shown}")
    };
    let section: Vec<&str> = CHANGEABLE
        .iter()
        .map(|known| known.pattern.as_str())
        .filter(|pattern| pattern.split('.').next() == names.first().copied())
        .collect();
    let help = match cx.nearest(path, candidates.iter().map(String::as_str)) {
        Some(near) if !known => format!("did you mean `{near}`?"),
        _ if !section.is_empty() => format!("keys that can change: {}", list(section)),
        _ => format!(
            "keys that can change: {}",
            list(CHANGEABLE.iter().map(|known| known.pattern.as_str()))
        ),
    };
    cx.problem(place, message, help);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_a_key_and_its_format_is_read_back() {
        for changeable in CHANGEABLE.iter() {
            let path = changeable.pattern.replace("radio.*", "radio.5g").replace('*', "c7");
            assert_eq!(check_path(crate::file::shape(), &path), Ok(()), "{path}");
            let value = match path.rsplit('.').next().unwrap_or_default() {
                "rate" | "forwarding" | "down" | "up" | "adapter_rate" => "5 Mbit/s".into(),
                "delay" => "5 ms".into(),
                "loss" | "channel_busy" => "5 %".into(),
                "signal" | "signal_up" => "-60 dBm".into(),
                "power" => "5 dBm".into(),
                "distance" => "5 m".into(),
                "position" => "5 m, 2.5 m, floor 1".into(),
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
