//! Problems of texts that are not valid TOML.

use crate::node::Place;
use crate::path::{NAME_FORM, as_name, is_name};
use crate::problem::Problem;

/// Quotation marks of word processors and of phones' keyboards.
const TYPOGRAPHIC: [char; 12] = ['“', '”', '„', '‟', '«', '»', '‘', '’', '‚', '‹', '›', '″'];

/// Converts the errors of the parser. It may report several for one mistake in a line: the first one is enough then.
pub(crate) fn problems(text: &str, errors: &[toml::de::Error]) -> Vec<Problem> {
    let mut explained = None;
    let mut problems = Vec::new();
    for error in errors {
        let line = error.span().and_then(|span| line_start(text, span.start));
        match line.and_then(|start| mistake(text, start)) {
            Some(_) if explained == line => {}
            Some((message, help)) => {
                explained = line;
                let span = error.span().unwrap_or(0..0);
                problems.push(Problem::new(Place::File(span), "", message, Some(help)));
            }
            None => problems.push(problem(text, error)),
        }
    }
    problems
}

/// Converts an error of the parser. The parser's errors have no kind, so the text identifies some of them. Any other text,
/// also that of a newer parser, is shown unchanged.
fn problem(text: &str, error: &toml::de::Error) -> Problem {
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

/// Position of the first byte of the line with this byte.
fn line_start(text: &str, byte: usize) -> Option<usize> {
    Some(text.get(..byte)?.rfind('\n').map_or(0, |newline| newline + 1))
}

/// Message and help for mistakes that the line itself shows, whatever the parser reports.
fn mistake(text: &str, start: usize) -> Option<(String, String)> {
    let line = text.get(start..)?.lines().next()?.trim();
    if let Some(mark) = line.chars().find(|c| TYPOGRAPHIC.contains(c)) {
        let straight = line.replace(TYPOGRAPHIC, "\"");
        return Some((
            format!("typographic quotation mark: found `{mark}`, expected `\"`"),
            help_with(&straight),
        ));
    }
    let header = line.strip_prefix('[')?.trim_start_matches('[');
    let header = header.split(']').next()?;
    let parts: Vec<&str> = header.split('.').map(str::trim).collect();
    let wrong = parts
        .iter()
        .find(|part| !is_name(part) && !part.contains(['"', '\'']))?;
    let names: Option<Vec<String>> = parts
        .iter()
        .map(|part| {
            if is_name(part) {
                Some((*part).to_owned())
            } else {
                as_name(part)
            }
        })
        .collect();
    let shown: String = wrong.chars().take(70).collect();
    Some((
        format!("invalid name `{}`", shown.escape_debug()),
        format!("write the line as `[{}]`; {NAME_FORM}", names?.join(".")),
    ))
}

/// Help that shows the correct line.
fn help_with(line: &str) -> String {
    match line.chars().count() {
        ..=80 => format!("write the line as `{line}`"),
        _ => "use the key \" of the keyboard in an editor for plain text".to_owned(),
    }
}

/// Help for the most common mistake: a value with a unit, or a word, without quotes.
fn hint(text: &str, byte: usize) -> Option<String> {
    let line = text.get(line_start(text, byte)?..)?.lines().next()?;
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let plain = value.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '+');
    let short = value.len() <= 40 && !value.contains(['"', '\'', '[', '{']);
    (plain && short).then(|| format!("quote strings and quantities: `{} = \"{value}\"`", key.trim()))
}
