//! TOML texts: what is wrong with one that isn't.

use crate::node::Place;
use crate::problem::Problem;

/// The most dots that one line may have outside what it means: keys as deep as that are nobody's, and what is read
/// is walked by recursion.
const DEEPEST: usize = 64;

/// A problem for each line whose key nests deeper than anything can mean.
pub(crate) fn too_deep(text: &str) -> Vec<Problem> {
    let mut start = 0;
    let mut problems = Vec::new();
    for line in text.split_inclusive('\n') {
        let key = line.split(['=', '#']).next().unwrap_or(line);
        if key.bytes().filter(|b| *b == b'.').count() > DEEPEST {
            let place = Place::File(start..start + key.trim_end().len());
            let message = format!("a key nests more than {DEEPEST} deep");
            let help = "the deepest is `ap.NAME.radio.RADIO.KEY`".to_owned();
            problems.push(Problem::new(place, "", message, Some(help)));
        }
        start += line.len();
    }
    problems
}

/// What the parser found, in our words where it is a usual mistake.
pub(crate) fn problem(text: &str, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let at = text.get(span.clone()).unwrap_or_default().trim();
    let (message, help) = match error.message() {
        message if message.contains("duplicate key") => (
            format!("`{at}` is there twice"),
            Some("a name or key stands once in its section; give the second another name".to_owned()),
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
