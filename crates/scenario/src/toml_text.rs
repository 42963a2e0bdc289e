//! Problems of texts that are not valid TOML.

use crate::node::Place;
use crate::problem::Problem;

/// Converts an error of the parser. Common mistakes get their own message. The parser's errors have no kind, so the text
/// identifies them. Any other text, also that of a newer parser, is shown unchanged.
pub(crate) fn problem(text: &str, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let at = text.get(span.clone()).unwrap_or_default().trim();
    let (message, help) = match error.message() {
        message if message.contains("duplicate key") => (
            format!("duplicate key `{at}`"),
            Some("use each name and key once per section".to_owned()),
        ),
        message if message.contains("recurs") => (
            "nested too deep".to_owned(),
            Some("the deepest key is `ap.NAME.radio.RADIO.KEY`".to_owned()),
        ),
        message => (message.to_owned(), hint(text, span.start)),
    };
    Problem::new(Place::File(span), "", message, help)
}

/// Help for the most common mistake: a value with a unit, or a word, without quotes.
fn hint(text: &str, byte: usize) -> Option<String> {
    let start = text.get(..byte)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next()?;
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let plain = value.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '+');
    let short = value.len() <= 40 && !value.contains(['"', '\'', '[', '{']);
    (plain && short).then(|| format!("quote strings and quantities: `{} = \"{value}\"`", key.trim()))
}
