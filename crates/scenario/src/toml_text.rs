//! TOML texts: what is wrong with one that isn't.

use crate::node::Place;
use crate::problem::Problem;

/// What the parser found, in our words where it is a usual mistake.
pub(crate) fn problem(text: &str, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let at = text.get(span.clone()).unwrap_or_default().trim();
    let (message, help) = match error.message() {
        message if message.contains("duplicate key") => (
            format!("`{at}` is there twice"),
            Some("a name or key stands once in its section; give the second another name".to_owned()),
        ),
        message if message.contains("recurs") => (
            "this nests too deep".to_owned(),
            Some("the deepest there is is `ap.NAME.radio.RADIO.KEY`".to_owned()),
        ),
        message => (message.to_owned(), hint(text, span.start)),
    };
    Problem::new(Place::File(span), "", message, help)
}

/// Values without quotes are the usual mistake: a number with its unit is a text.
fn hint(text: &str, byte: usize) -> Option<String> {
    let start = text.get(..byte)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next()?;
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let plain = value.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '+');
    let short = value.len() <= 40 && !value.contains(['"', '\'', '[', '{']);
    (plain && short).then(|| {
        format!(
            "a value with a unit, and a word, stands in quotes: `{} = \"{value}\"`",
            key.trim()
        )
    })
}
