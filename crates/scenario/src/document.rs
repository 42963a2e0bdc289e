//! Scenario document before resolution: read from a file or by name, changed by `--set`.

use crate::decode::Context;
use crate::environment::Environment;
use crate::file;
use crate::kit;
use crate::known::known_keys;
use crate::node::{Entry, Node, Place, Table, Value};
use crate::path::{Shape, check_path};
use crate::plan::{Plan, Setting};
use crate::problem::{Problem, ScenarioError, Source, position};
use crate::suggest::{list, nearest, quoted_name};
use crate::{pattern, plan, resolve};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A scenario document that is not resolved yet.
#[derive(Debug, Clone)]
pub struct Document {
    source: Source,
    /// Name of the plan if the document has no `name`.
    name: String,
    root: Node,
    resolved: bool,
    /// Directory of the file; `None` if the document is not from a file.
    directory: Option<PathBuf>,
}

impl Document {
    /// Parses TOML. Errors show `origin`, and its stem is the default name of the plan.
    ///
    /// # Errors
    /// The text is not valid TOML; the error lists every problem.
    pub fn from_toml(origin: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Source {
            name: origin.to_owned(),
            text: text.into(),
            arguments: Vec::new(),
        };
        let (table, errors) = toml::de::DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let problems = crate::toml_text::problems(text, &errors);
            return Err(ScenarioError::new(&source, problems));
        }
        let root = Value::Table(Table::from_toml(table.get_ref(), &Place::File));
        if root == Value::Table(Table::default()) {
            let help = "add at least one station: `[station.laptop]` and below it `workload = \"browsing\"`";
            let problem = Problem::new(Place::Whole, "", "the file is empty".to_owned(), Some(help.to_owned()));
            return Err(ScenarioError::new(&source, vec![problem]));
        }
        let stem = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
        let name = stem.strip_suffix(".toml").unwrap_or(stem).to_owned();
        Ok(Document {
            source,
            name,
            root: Node::new(root, Place::Whole),
            resolved: false,
            directory: None,
        })
    }

    /// Sets the directory of the scenario file, to which its paths are relative.
    pub(crate) fn in_directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Sets the name of the file, for messages and for runs.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.source.name);
        self
    }

    /// Creates a document from the output of [`Plan::to_json`], or from JSON in the same format.
    #[must_use]
    pub fn from_json(document: &serde_json::Value) -> Self {
        Document {
            source: Source {
                name: "scenario document".to_owned(),
                ..Source::default()
            },
            name: "scenario".to_owned(),
            root: Node::from_json(document),
            resolved: true,
            directory: None,
        }
    }

    /// Returns the keys as JSON, as written and in the file's order. Their order is part of a scenario: stations share the air in
    /// the order in which the file has them.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        self.root.to_json()
    }

    /// Sets a key, as `--set KEY=VALUE` does. `key` is a dotted path (`station.tv.signal`), and `value` is TOML or a text
    /// without quotes. `*` is a wildcard for names: `station.*.tsq` matches every station, `station.tv-*.tsq` those whose
    /// names start with `tv-`.
    ///
    /// # Errors
    /// The key, or a station, access point, network or workload in it, is unknown. Resolution checks the value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ScenarioError> {
        let index = self.source.arguments.len();
        self.source.arguments.push(format!("{key}={value}"));
        let result = match self.matching(index, key) {
            Ok(keys) => keys.iter().try_for_each(|one| self.set_path(index, key, one, value)),
            Err(problem) => Err(problem),
        };
        result.map_err(|problem| {
            let error = ScenarioError::new(&self.source, vec![*problem]);
            self.source.arguments.pop();
            error
        })
    }

    /// Returns the keys that match a key with `*`, in the file's order. A key without `*` matches itself.
    ///
    /// # Errors
    /// As for [`set`](Self::set).
    pub fn keys(&self, key: &str) -> Result<Vec<String>, ScenarioError> {
        let mut source = self.source.clone();
        source.arguments.push(key.to_owned());
        self.matching(source.arguments.len() - 1, key)
            .map_err(|problem| ScenarioError::new(&source, vec![*problem]))
    }

    /// Returns all keys that the document can have, with its own names: `station.tv.signal`. For completions.
    #[must_use]
    pub fn known_keys(&self) -> Vec<String> {
        known_keys(&self.with_kits(), file::shape())
    }

    fn matching(&self, index: usize, key: &str) -> Result<Vec<String>, Box<Problem>> {
        let checked = if key.contains('*') {
            check_path(file::shape(), key)
        } else {
            Ok(())
        };
        checked
            .and_then(|()| pattern::matching(&self.with_kits(), key))
            .map_err(|(message, help)| {
                let place = Place::Argument(index, 0..key.len());
                Box::new(Problem::new(place, "", message, Some(help)))
            })
    }

    /// The document with the access points and networks of its kits. An invalid kit has none, and is reported later.
    fn with_kits(&self) -> Cow<'_, Node> {
        let expanded = kit::expand(&self.root, &mut Context::default());
        expanded.map_or(Cow::Borrowed(&self.root), Cow::Owned)
    }

    /// Sets one key. `written` is the key in the argument, which may contain `*`.
    fn set_path(&mut self, index: usize, written: &str, key: &str, value: &str) -> Result<(), Box<Problem>> {
        let place = Place::Argument(index, 0..written.len());
        let wrong = |message: String, help: String| Box::new(Problem::new(place.clone(), "", message, Some(help)));
        if let Err((message, help)) = check_path(file::shape(), key) {
            return Err(wrong(message, help));
        }
        let value = argument(index, written.len() + 1, value)?;
        let mut parts: Vec<&str> = key.split('.').collect();
        plan::follow_name(&self.root, &mut parts);
        let mut shape = file::shape();
        // Names of sections that a kit adds.
        let names: Vec<String> = match self.with_kits() {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(expanded) => {
                let named = expanded.table().and_then(|top| top.get(parts[0])).and_then(Node::table);
                let entries = named.map(|table| table.entries.iter().map(|entry| entry.key.clone()));
                entries.into_iter().flatten().collect()
            }
        };
        let mut node = &mut self.root;
        for (depth, part) in parts.iter().enumerate() {
            let path = parts[..depth].join(".");
            if let Shape::Table(_, Some(short)) = shape
                && let Some(keys) = short(node)
            {
                let entries = keys.into_iter().map(|(key, value)| Entry {
                    key: key.to_owned(),
                    place: node.place.clone(),
                    node: value,
                });
                node.value = Value::Table(Table {
                    entries: entries.collect(),
                });
            }
            let Value::Table(table) = &mut node.value else {
                let help = format!("set the whole value: `--set '{path}={{ … }}'`");
                return Err(wrong(format!("`{path}` is a single value in this scenario"), help));
            };
            let named = matches!(shape, Shape::Named(_));
            shape = shape.child(part).unwrap_or(Shape::Leaf);
            let found = table.entry(part).is_some();
            // A name must exist already. Radios are an exception, because a rating implies them.
            let of_kit = depth == 1 && names.iter().any(|name| name == part);
            if !found && named && !of_kit && parts.get(depth.wrapping_sub(1)) != Some(&"radio") {
                let own = table.entries.iter().map(|entry| entry.key.as_str());
                let added = names.iter().map(String::as_str).filter(|_| depth == 1);
                let known = || own.clone().chain(added.clone());
                let help = match nearest(part, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known().next().is_none() => format!("the scenario has no `{path}` section"),
                    None => format!("expected one of {}", list(known())),
                };
                return Err(wrong(format!("unknown {path} {}", quoted_name(part)), help));
            }
            // All units of a kit, so that their order does not depend on the keys that are set.
            let added = if of_kit {
                names.clone()
            } else {
                vec![(*part).to_owned()]
            };
            for key in added {
                if table.entry(&key).is_none() {
                    let node = Node::new(Value::Table(Table::default()), place.clone());
                    let place = place.clone();
                    table.entries.push(Entry { key, place, node });
                }
            }
            let at = table.entries.iter().position(|entry| entry.key == *part);
            let at = at.expect("it was added if it was missing");
            node = &mut table.entries[at].node;
        }
        *node = value;
        Ok(())
    }

    /// Returns the settings of changes that take effect at once, as an `[[at]]` of the file has them. Each change is a key and
    /// its value, as for [`set`](Self::set).
    ///
    /// # Errors
    /// The document is invalid, a key is unknown or cannot change during a run, or a value is invalid.
    pub fn changes(&self, changes: &[(String, String)]) -> Result<Vec<Setting>, ScenarioError> {
        let mut changed = self.clone();
        let mut set = Vec::new();
        for (key, value) in changes {
            let index = changed.source.arguments.len();
            changed.source.arguments.push(format!("{key}={value}"));
            let read = changed.matching(index, key);
            let read = read.and_then(|keys| Ok((keys, argument(index, key.len() + 1, value)?)));
            let (keys, node) = read.map_err(|problem| ScenarioError::new(&changed.source, vec![*problem]))?;
            let place = Place::Argument(index, 0..key.len());
            set.extend(keys.into_iter().map(|key| Entry {
                key,
                place: place.clone(),
                node: node.clone(),
            }));
        }
        let node = |value| Node::new(value, Place::Whole);
        let entry = |key: &str, value| Entry {
            key: key.to_owned(),
            place: Place::Whole,
            node: node(value),
        };
        let at = Value::Table(Table {
            entries: vec![
                entry("time", Value::Text("0 s".to_owned())),
                entry("set", Value::Table(Table { entries: set })),
            ],
        });
        if let Value::Table(root) = &mut changed.root.value {
            root.entries.retain(|entry| entry.key != "at");
            root.entries.push(entry("at", Value::List(vec![node(at)])));
        }
        let changes = changed.resolve()?.changes.into_iter();
        Ok(changes.flat_map(|change| change.settings).collect())
    }

    /// Fills in the defaults, checks the document and returns the plan.
    ///
    /// # Errors
    /// The document is invalid; the error lists every problem.
    pub fn resolve(&self) -> Result<Plan, ScenarioError> {
        resolve::resolve(&self.root, &self.name, self.resolved, self.directory.as_deref())
            .map_err(|problems| ScenarioError::new(&self.source, problems))
    }

    /// Resolves the document for an environment. Also returns notes on keys without effect there.
    ///
    /// # Errors
    /// The document is invalid or lacks keys that the environment needs; the error lists every problem.
    pub fn resolve_for(&self, environment: Environment) -> Result<(Plan, Vec<String>), ScenarioError> {
        let plan = self.resolve()?;
        match plan.missing_on(environment) {
            missing if missing.is_empty() => {
                let notes = plan.notes_on(environment);
                Ok((plan, notes))
            }
            mut missing => {
                for problem in &mut missing {
                    problem.set_place(self.place_of(&problem.path));
                }
                Err(ScenarioError::new(&self.source, missing))
            }
        }
    }

    /// Error about one key, for checks of other crates. It has the place of the longest existing part of `path`, as
    /// `station.tv.signal`.
    #[must_use]
    pub fn error_at(&self, path: &str, message: String, help: Option<String>) -> ScenarioError {
        ScenarioError::new(
            &self.source,
            vec![Problem::new(self.place_of(path), path, message, help)],
        )
    }

    /// Path or name of the document, as errors show it.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.source.name
    }

    /// Place of the longest existing part of a path.
    fn place_of(&self, path: &str) -> Place {
        let mut place = Place::Whole;
        let mut node = &self.root;
        for part in path.split('.') {
            match node.table().and_then(|table| table.entry(part)) {
                Some(entry) => (place, node) = (entry.place.clone(), &entry.node),
                None => break,
            }
        }
        place
    }
}

/// Parses the value of a `--set` argument: TOML, or a plain text. `offset` is its position in the argument.
fn argument(index: usize, offset: usize, value: &str) -> Result<Node, Box<Problem>> {
    let place = |span: std::ops::Range<usize>| Place::Argument(index, span.start + offset..span.end + offset);
    let trimmed = value.trim();
    match toml::de::DeValue::parse(value) {
        Ok(parsed) => {
            let mut node = Node::from_toml(&parsed, &place);
            if !matches!(node.value, Value::Text(_)) {
                node.raw = Some(trimmed.to_owned());
            }
            Ok(node)
        }
        Err(error) if trimmed.starts_with(['"', '\'', '[', '{']) => {
            let span = error.span().unwrap_or(0..value.len());
            let (_, column) = position(value, span.start);
            let message = format!("invalid TOML value at character {column}: {}", error.message());
            Err(Box::new(Problem::new(place(span), "", message, None)))
        }
        Err(_) => Ok(Node::new(Value::Text(trimmed.to_owned()), place(0..value.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let text = "[ap.one.radio.5g]\n[ap.two.radio.2g]\n[station.tv-b]\n[station.tv-a]\n[station.desk]\nworkload = \"voip\"\n";
        Document::from_toml("x.toml", text).unwrap()
    }

    const KIT: &str = "[kit.home]\nunits = { main = \"0 m, 0 m\", study = \"9 m, 0 m\" }\n[kit.home.ap]\nqueue = \"airtime\"\n[kit.home.ap.radio.5g]\nwidth = \"40 MHz\"\n[station.s]\njoins = \"home\"\nposition = \"1 m, 0 m\"\n";

    /// A kit is only a notation.
    #[test]
    fn a_kit_is_its_access_points_and_a_network() {
        let radio = "queue = \"airtime\"\nradio.5g.width = \"40 MHz\"\n";
        let long = format!(
            "[ap.main]\nposition = \"0 m, 0 m\"\n{radio}[ap.study]\nposition = \"9 m, 0 m\"\nbackhaul = \"5g\"\n{radio}\
             [network.home]\nradios = [\"main.5g\", \"study.5g\"]\n[station.s]\njoins = \"home\"\nposition = \"1 m, 0 m\"\n"
        );
        let plan = |text: &str| Document::from_toml("x.toml", text).unwrap().resolve().unwrap();
        assert_eq!(plan(KIT), plan(&long));
    }

    /// Keys of one unit, of all units, and of the kit.
    #[test]
    fn keys_of_a_kit_and_of_its_units_can_be_set() {
        let mut document = Document::from_toml("x.toml", KIT).unwrap();
        document.set("ap.study.queue", "fifo").unwrap();
        document.set("ap.*.radio.5g.channel", "149").unwrap();
        document.set("network.home.k", "true").unwrap();
        document.set("kit.home.backhaul", "wired").unwrap();
        let plan = document.resolve().unwrap();
        let queues: Vec<&str> = plan.aps.iter().map(|ap| ap.queue.name()).collect();
        let by_name: Vec<(&str, &str)> = plan.aps.iter().map(|ap| ap.name.as_str()).zip(queues).collect();
        assert_eq!(by_name, [("main", "airtime"), ("study", "fifo")]);
        for ap in &plan.aps {
            assert_eq!((ap.radios[0].channel, ap.backhaul.is_wireless()), (149, false));
        }
        assert!(plan.networks[0].k);
        let error = document.set("ap.stuby.queue", "fifo").unwrap_err().to_string();
        assert!(error.contains("unknown ap `stuby`; did you mean `study`?"), "{error}");
    }

    #[test]
    fn a_wildcard_sets_all_matching_keys() {
        let mut document = document();
        assert_eq!(
            document.keys("station.tv-*.tsq.shift").unwrap(),
            ["station.tv-b.tsq.shift", "station.tv-a.tsq.shift"]
        );
        assert_eq!(
            document.keys("ap.*.radio.*.channel_busy").unwrap(),
            ["ap.one.radio.5g.channel_busy", "ap.two.radio.2g.channel_busy"]
        );
        document.set("station.tv-*.gso", "false").unwrap();
        let gso: Vec<bool> = document.resolve().unwrap().stations.iter().map(|s| s.gso).collect();
        assert_eq!(gso, [false, false, true]);
    }

    #[test]
    fn changes_are_those_of_an_at_section() {
        let text = "[ap.one]\nqueue = \"fifo\"\n[ap.one.radio.5g]\n[[at]]\ntime = \"1 s\"\nset = { \"ap.one.queue\" = \"fq-mac\" }\n\
                    [station.a]\nsignal = \"-60 dBm\"\nworkload = \"probe\"\n[station.b]\nsignal = \"-60 dBm\"\nworkload = \"probe\"\n";
        let document = Document::from_toml("x.toml", text).unwrap();
        let changes = |all: &[(&str, &str)]| {
            let all: Vec<(String, String)> = all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            document.changes(&all).map_err(|error| error.to_string())
        };
        let set = "{ \"ap.one.queue\" = \"airtime\", \"station.a.signal\" = \"-80 dBm\", \"station.b.signal\" = \"-80 dBm\" }";
        let file = text.replace("{ \"ap.one.queue\" = \"fq-mac\" }", set);
        let expected = Document::from_toml("x.toml", &file).unwrap().resolve().unwrap().changes;
        let found = changes(&[("ap.one.queue", "airtime"), ("station.*.signal", "-80 dBm")]).unwrap();
        assert_eq!(found, expected[0].settings);
        assert_eq!(found.len(), 3);
        for (key, value, message) in [
            ("ap.one.queue", "airtme", "did you mean `airtime`?"),
            ("ap.two.queue", "fifo", "`two`"),
            ("duration", "3 s", "duration"),
            ("station.c*.signal", "-60 dBm", "c*"),
        ] {
            let error = changes(&[(key, value)]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_wildcard_without_match_is_an_error() {
        let mut document = document();
        for (key, expected) in [
            ("station.vt-*.gso", "no station matches `vt-*`; did you mean `tv-b`?"),
            (
                "station.zebra*.gso",
                "no station matches `zebra*`; expected one of `tv-b`, `tv-a`, `desk`",
            ),
            ("station.dsk*.gso", "no station matches `dsk*`; did you mean `desk`?"),
            (
                "network.*.radios",
                "no network matches `*`; the scenario has no `network` section",
            ),
            (
                "station.*.gos",
                "`station.*` has no key `gos`; did you mean `station.*.gso`?",
            ),
            ("st*.tv.gso", "a scenario has no key `st*`"),
            ("station.t v*.gso", "invalid name `t v*`"),
        ] {
            let error = document.set(key, "true").unwrap_err().to_string();
            assert!(error.contains(expected), "{key}: {error}");
        }
        assert!(document.resolve().is_ok(), "no key was set");
    }
}
