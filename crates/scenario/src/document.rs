//! A scenario as it was written, before it is resolved: read from a file or by name, changed by `--set`.

use crate::environment::Environment;
use crate::node::{Entry, Node, Place, Table, Value};
use crate::plan::Plan;
use crate::problem::{Problem, ScenarioError, Source, position};
use crate::decode::Shape;
use crate::suggest::{list, quoted_name, nearest};
use crate::{pattern, resolve, sections};

/// A scenario document.
#[derive(Debug, Clone)]
pub struct Document {
    source: Source,
    /// What it is called when it doesn't say so itself.
    name: String,
    root: Node,
    resolved: bool,
}

impl Document {
    /// Reads a TOML text; `origin` is what errors call it, and its stem names the run.
    ///
    /// # Errors
    /// The text isn't TOML: every place where it isn't.
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
            let help =
                "a scenario has at least one station: `[station.laptop]` and below that `workload = \"browsing\"`";
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

    /// Takes a document that [`Plan::to_json`] wrote, or any of the same form.
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

    /// Sets a key, as `--set KEY=VALUE` does: a dotted path (`station.tv.signal`) and a value in TOML or, for texts,
    /// without its quotes. In the place of a name, `*` stands for any letters: `station.*.tsq` for the key of every station,
    /// `station.tv-*.tsq` for that of those whose names begin so.
    ///
    /// # Errors
    /// There is no such key, or no such station, access point, network or workload. Whether the value is right is
    /// found when it is resolved.
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

    /// The keys that a key with `*` in it stands for, in the file's order; a key without is itself.
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
        let checked = if key.contains('*') { check_path(key) } else { Ok(()) };
        checked
            .and_then(|()| pattern::matching(&self.root, key))
            .map_err(|(message, help)| {
                let place = Place::Argument(index, 0..key.len());
                Box::new(Problem::new(place, "", message, Some(help)))
            })
    }

    /// Sets one key; `written` is how the argument has it.
    fn set_path(&mut self, index: usize, written: &str, key: &str, value: &str) -> Result<(), Box<Problem>> {
        let place = Place::Argument(index, 0..written.len());
        let wrong = |message: String, help: String| Box::new(Problem::new(place.clone(), "", message, Some(help)));
        if let Err((message, help)) = check_path(key) {
            return Err(wrong(message, help));
        }
        let value = argument(index, written.len() + 1, value)?;
        let parts: Vec<&str> = key.split('.').collect();
        let mut shape = sections::shape();
        let mut node = &mut self.root;
        for (depth, part) in parts.iter().enumerate() {
            let path = parts[..depth].join(".");
            let Value::Table(table) = &mut node.value else {
                let help = format!("set all of it: `--set '{path}={{ … }}'`");
                return Err(wrong(format!("`{path}` is one value here"), help));
            };
            let named = matches!(shape, Shape::Named(_));
            shape = child(shape, part).unwrap_or(Shape::Leaf);
            let found = table.entries.iter().position(|entry| entry.key == *part);
            // A name must be there already, but for radios, which a rating may have without saying.
            if found.is_none() && named && parts.get(depth.wrapping_sub(1)) != Some(&"radio") {
                let known = || table.entries.iter().map(|entry| entry.key.as_str());
                let help = match nearest(part, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if table.entries.is_empty() => format!("the scenario has no `{path}` at all"),
                    None => format!("there are {}", list(known())),
                };
                return Err(wrong(format!("there is no {path} {}", quoted_name(part)), help));
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

    /// Resolves it: defaults filled in, everything checked.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn resolve(&self) -> Result<Plan, ScenarioError> {
        resolve::resolve(&self.root, &self.name, self.resolved)
            .map_err(|problems| ScenarioError::new(&self.source, problems))
    }

    /// Resolves it for an environment, and says what that environment takes no notice of.
    ///
    /// # Errors
    /// Everything that is wrong with it, or missing on that environment.
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

    /// What errors call it.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.source.name
    }

    /// The place of the last part of a path that is there.
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

/// Whether there can be a key of that dotted path, else what is wrong and what would be right.
pub(crate) fn check_path(path: &str) -> Result<(), (String, String)> {
    let mut shape = sections::shape();
    let mut before: Vec<&str> = Vec::new();
    for part in path.split('.') {
        if let Some(next) = child(shape, part) {
            shape = next;
            before.push(part);
            continue;
        }
        let section = before.join(".");
        let place = if section.is_empty() {
            "a scenario".to_owned()
        } else {
            format!("`{section}`")
        };
        return Err(match shape {
            Shape::Leaf => (
                format!("`{section}` has nothing below it"),
                format!("set `{section}` itself"),
            ),
            Shape::Named(_) => (
                format!("{} is no name", quoted_name(part)),
                "a name is 1 to 63 letters (a to z), digits and `-`".to_owned(),
            ),
            Shape::Table(keys) => {
                let keys: Vec<&str> = keys().into_iter().map(|(key, _)| key).collect();
                let help = match nearest(part, keys.iter().copied()) {
                    Some(near) => format!("did you mean `{}`?", [before.as_slice(), &[near]].concat().join(".")),
                    None => format!("it has {}", list(keys)),
                };
                (format!("{place} has no key {}", quoted_name(part)), help)
            }
        });
    }
    Ok(())
}

fn child(shape: Shape, part: &str) -> Option<Shape> {
    match shape {
        Shape::Leaf => None,
        Shape::Table(keys) => keys().into_iter().find(|(key, _)| *key == part).map(|(_, shape)| shape),
        Shape::Named(shape) => (crate::scalars::is_name(part) || pattern::is_pattern(part)).then(shape),
    }
}

/// The value of a `--set` argument: TOML, or a text as it stands. `offset` is where it begins in the argument.
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
            let message = format!("the value is no TOML at character {column}: {}", error.message());
            Err(Box::new(Problem::new(place(span), "", message, None)))
        }
        Err(_) => Ok(Node::new(Value::Text(trimmed.to_owned()), place(0..value.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> Document {
        let text = "[ap.one.radio.5g]\n[ap.two.radio.2g]\n[station.tv-b]\n[station.tv-a]\n[station.desk]\nworkload = \"voip\"\n";
        Document::from_toml("x.toml", text).unwrap()
    }

    #[test]
    fn a_key_with_a_star_sets_those_it_meets() {
        let mut house = house();
        assert_eq!(
            house.keys("station.tv-*.tsq.shift").unwrap(),
            ["station.tv-b.tsq.shift", "station.tv-a.tsq.shift"]
        );
        assert_eq!(
            house.keys("ap.*.radio.*.channel_busy").unwrap(),
            ["ap.one.radio.5g.channel_busy", "ap.two.radio.2g.channel_busy"]
        );
        house.set("station.tv-*.gso", "false").unwrap();
        let gso: Vec<bool> = house.resolve().unwrap().stations.iter().map(|s| s.gso).collect();
        assert_eq!(gso, [false, false, true]);
    }

    #[test]
    fn a_star_that_meets_nothing_is_told() {
        let mut house = house();
        for (key, said) in [
            (
                "station.vt-*.gso",
                "there is no station that `vt-*` meets; did you mean `tv-b`?",
            ),
            (
                "station.zebra*.gso",
                "there is no station that `zebra*` meets; there are `tv-b`, `tv-a`, `desk`",
            ),
            (
                "station.dsk*.gso",
                "there is no station that `dsk*` meets; did you mean `desk`?",
            ),
            (
                "network.*.radios",
                "there is no network that `*` meets; the scenario has no `network` at all",
            ),
            (
                "station.*.gos",
                "`station.*` has no key `gos`; did you mean `station.*.gso`?",
            ),
            ("st*.tv.gso", "a scenario has no key `st*`"),
            ("station.t v*.gso", "`t v*` is no name"),
        ] {
            let error = house.set(key, "true").unwrap_err().to_string();
            assert!(error.contains(said), "{key}: {error}");
        }
        assert!(house.resolve().is_ok(), "nothing was set");
    }
}
