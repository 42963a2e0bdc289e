//! Problems of a scenario with source position, message and help.

use crate::node::Place;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// All problems of a scenario, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    source: Source,
    problems: Vec<Problem>,
}

/// One problem of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Path of the key: `station.tv.signal`. Empty if the problem concerns no key.
    pub path: String,
    /// Description of the problem, with the value found.
    pub message: String,
    /// Expected value, or a suggestion.
    pub help: Option<String>,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// Column in the line, in characters, from 1.
    pub column: Option<usize>,
    place: Place,
}

/// Texts that the spans refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Source {
    /// Path of the file, or name of the built-in scenario.
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    /// The `--set` arguments, `KEY=VALUE` each.
    pub(crate) arguments: Vec<String>,
}

/// Maximum number of problems shown. The message counts the others.
const MAX_SHOWN_PROBLEMS: usize = 20;

impl ScenarioError {
    pub(crate) fn new(source: &Source, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| match &problem.place {
            Place::Whole => (0, 0, 0),
            Place::File(span) => (1, 0, span.start),
            Place::Argument(index, span) => (2, *index, span.start),
        });
        problems.dedup();
        // The problems are sorted, so one pass over the text finds all lines.
        let (mut byte, mut line, mut column) = (0, 1, 1);
        for problem in &mut problems {
            let Place::File(span) = &problem.place else {
                continue;
            };
            let start = floor(&source.text, span.start).max(byte);
            for next in source.text[byte..start].chars() {
                (line, column) = if next == '\n' {
                    (line + 1, 1)
                } else {
                    (line, column + 1)
                };
            }
            byte = start;
            (problem.line, problem.column) = (Some(line), Some(column));
        }
        ScenarioError {
            source: source.clone(),
            problems,
        }
    }

    /// Creates an error with one problem of the whole document.
    pub(crate) fn whole(name: &str, message: String, help: Option<String>) -> Self {
        let source = Source {
            name: name.to_owned(),
            ..Source::default()
        };
        ScenarioError::new(&source, vec![Problem::new(Place::Whole, "", message, help)])
    }

    /// Problems; at least one.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Path of the file, or name of the built-in scenario.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Formats the problems for a terminal, each with its source line, optionally with colours. Ends without a newline.
    #[must_use]
    pub fn render(&self, colours: bool) -> String {
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        let mut parts: Vec<String> = self
            .problems
            .iter()
            .take(MAX_SHOWN_PROBLEMS)
            .map(|problem| problem.render(&self.source, &renderer))
            .collect();
        if let Some(more) = self.more() {
            parts.push(more);
        }
        parts.join("\n\n")
    }

    /// Formats each problem as one line: `file:line:column: key: message; help`. `argument` returns the beginning of a
    /// line for a problem of an argument `KEY=VALUE` of [`Document::set`](crate::Document::set).
    #[must_use]
    pub fn lines(&self, argument: impl Fn(&str) -> String) -> Vec<String> {
        let shown = self.problems.iter().take(MAX_SHOWN_PROBLEMS);
        let lines = shown.map(|problem| {
            let place = match (&problem.place, problem.line, problem.column) {
                (Place::Argument(index, _), ..) => argument(self.source.argument(*index)),
                (_, Some(line), Some(column)) => format!("{}:{line}:{column}", self.source.name),
                _ => self.source.name.clone(),
            };
            let help = problem
                .help
                .as_ref()
                .map_or_else(String::new, |help| format!("; {help}"));
            format!("{place}: {}{help}", problem.title())
        });
        lines.chain(self.more()).collect()
    }

    fn more(&self) -> Option<String> {
        let more = self
            .problems
            .len()
            .checked_sub(MAX_SHOWN_PROBLEMS)
            .filter(|more| *more > 0)?;
        Some(format!("and {more} more"))
    }
}

impl fmt::Display for ScenarioError {
    /// Writes the [lines](Self::lines) of the problems.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines(set_option).join("\n"))
    }
}

impl std::error::Error for ScenarioError {}

impl Problem {
    pub(crate) fn new(place: Place, path: &str, message: String, help: Option<String>) -> Self {
        Problem {
            path: path.to_owned(),
            message,
            help,
            line: None,
            column: None,
            place,
        }
    }

    /// Returns `true` if `other` is the same problem with the same text of the document.
    pub(crate) fn repeats(&self, other: &Problem) -> bool {
        self.place != Place::Whole && (&self.place, &self.message) == (&other.place, &other.message)
    }

    /// Sets line and column in a file whose text cannot be shown.
    pub(crate) fn at(mut self, line: usize, column: usize) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }

    pub(crate) fn set_place(&mut self, place: Place) {
        self.place = place;
    }

    fn title(&self) -> String {
        if self.path.is_empty() {
            self.message.clone()
        } else {
            format!("{}: {}", self.path, self.message)
        }
    }

    fn render(&self, source: &Source, renderer: &Renderer) -> String {
        let title = Level::ERROR.primary_title(self.title());
        let argument;
        let group = match &self.place {
            Place::File(span) => {
                let span = visible(&source.text, span);
                let snippet = Snippet::source(&*source.text).path(source.name.as_str());
                title.element(snippet.annotation(AnnotationKind::Primary.span(span)))
            }
            Place::Argument(index, span) => {
                // The argument is shown as typed, without line numbers.
                let typed = source.argument(*index);
                argument = set_option(typed);
                let before = argument.len() - typed.len();
                let span = visible(&argument, &(span.start + before..span.end + before));
                let snippet = Snippet::source(argument.as_str()).line_numbering(false);
                title.element(snippet.annotation(AnnotationKind::Primary.span(span)))
            }
            Place::Whole => {
                let mut origin = Origin::path(source.name.as_str());
                if let (Some(line), Some(column)) = (self.line, self.column) {
                    origin = origin.line(line).char_column(column);
                }
                title.element(origin)
            }
        };
        let group = match &self.help {
            Some(help) => group.element(Level::HELP.message(help.as_str())),
            None => group,
        };
        renderer.render(&[group])
    }
}

impl Source {
    fn argument(&self, index: usize) -> &str {
        self.arguments.get(index).map_or("", String::as_str)
    }
}

fn set_option(argument: &str) -> String {
    format!("--set {argument}")
}

/// Returns line and column, from 1, of a byte of `text`.
pub(crate) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..floor(text, byte)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// Returns the last character boundary at or before `byte`.
fn floor(text: &str, byte: usize) -> usize {
    let last = byte.min(text.len());
    (0..=last).rev().find(|b| text.is_char_boundary(*b)).unwrap_or(0)
}

/// Returns a span that can be underlined: at character boundaries, within one line, and not empty unless the line is.
fn visible(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = floor(text, span.start);
    let end = floor(text, span.end).max(start);
    let end = text[start..end].find('\n').map_or(end, |newline| start + newline);
    if end > start {
        return start..end;
    }
    match text[start..].chars().next() {
        Some(next) if next != '\n' && next != '\r' => start..start + next.len_utf8(),
        _ => start..start,
    }
}
