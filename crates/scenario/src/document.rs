//! Scenario document before resolution: read from a file or by name, changed by `--set`.

use crate::environment::Environment;
use crate::file;
use crate::node::{Entry, Node, Place, Table, Value};
use crate::path::{Shape, check_path};
use crate::plan::Plan;
use crate::problem::{Problem, ScenarioError, Source, position};
use crate::suggest::{list, nearest, quoted_name};
use crate::{pattern, resolve};

/// A scenario document that is not resolved yet.
#[derive(Debug, Clone)]
pub struct Document {
    source: Source,
    /// Name of the plan if the document has no `name`.
    name: String,
    root: Node,
    resolved: bool,
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
            let problems = errors
                .iter()
                .map(|error| crate::toml_text::problem(text, error))
                .collect();
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
        })
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
        }
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

    fn matching(&self, index: usize, key: &str) -> Result<Vec<String>, Box<Problem>> {
        let checked = if key.contains('*') {
            check_path(file::shape(), key)
        } else {
            Ok(())
        };
        checked
            .and_then(|()| pattern::matching(&self.root, key))
            .map_err(|(message, help)| {
                let place = Place::Argument(index, 0..key.len());
                Box::new(Problem::new(place, "", message, Some(help)))
            })
    }

    /// Sets one key. `written` is the key in the argument, which may contain `*`.
    fn set_path(&mut self, index: usize, written: &str, key: &str, value: &str) -> Result<(), Box<Problem>> {
        let place = Place::Argument(index, 0..written.len());
        let wrong = |message: String, help: String| Box::new(Problem::new(place.clone(), "", message, Some(help)));
        if let Err((message, help)) = check_path(file::shape(), key) {
            return Err(wrong(message, help));
        }
        let value = argument(index, written.len() + 1, value)?;
        let parts: Vec<&str> = key.split('.').collect();
        let mut shape = file::shape();
        let mut node = &mut self.root;
        for (depth, part) in parts.iter().enumerate() {
            let path = parts[..depth].join(".");
            let Value::Table(table) = &mut node.value else {
                let help = format!("set the whole value: `--set '{path}={{ … }}'`");
                return Err(wrong(format!("`{path}` is a single value in this scenario"), help));
            };
            let named = matches!(shape, Shape::Named(_));
            shape = shape.child(part).unwrap_or(Shape::Leaf);
            let found = table.entries.iter().position(|entry| entry.key == *part);
            // A name must exist already. Radios are an exception, because a rating implies them.
            if found.is_none() && named && parts.get(depth.wrapping_sub(1)) != Some(&"radio") {
                let known = || table.entries.iter().map(|entry| entry.key.as_str());
                let help = match nearest(part, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if table.entries.is_empty() => format!("the scenario has no `{path}` section"),
                    None => format!("expected one of {}", list(known())),
                };
                return Err(wrong(format!("unknown {path} {}", quoted_name(part)), help));
            }
            let at = found.unwrap_or_else(|| {
                table.entries.push(Entry {
                    key: (*part).to_owned(),
                    place: place.clone(),
                    node: Node::new(Value::Table(Table::default()), place.clone()),
                });
                table.entries.len() - 1
            });
            node = &mut table.entries[at].node;
        }
        *node = value;
        Ok(())
    }

    /// Fills in the defaults, checks the document and returns the plan.
    ///
    /// # Errors
    /// The document is invalid; the error lists every problem.
    pub fn resolve(&self) -> Result<Plan, ScenarioError> {
        resolve::resolve(&self.root, &self.name, self.resolved)
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
