//! Tables. A [`Table`] is built once, and rendered for a terminal here, for a page in `html`, and as Markdown in
//! `markdown`. On a terminal that is too narrow it becomes several tables.

use crate::sanitise::{sanitise, width};
use crate::style::{Tone, paint};
use netburn_record::summary::verdict_name;
use netburn_stats::metric_change::Judgement;
use netburn_workload::Verdict;
use std::borrow::Cow;

/// Alignment of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Heading and alignment of a column.
#[derive(Debug, Clone)]
pub struct Column<'a> {
    /// The heading.
    pub heading: Cow<'a, str>,
    /// Alignment of the column's cells.
    pub align: Align,
    /// Begins a further table if one table would be too wide.
    pub apart: bool,
    /// A heading in words has capitals on a terminal. Units and foreign names never have.
    is_words: bool,
    /// A terminal omits a value that the row above has too.
    is_once: bool,
}

impl Column<'_> {
    /// This column as the first of a further table, if one table would be too wide.
    #[must_use]
    pub const fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// This column with values that a terminal does not repeat in consecutive rows.
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.is_once = true;
        self
    }

    /// This column with the name of a side, a variant or the like as its heading.
    #[must_use]
    pub fn named(mut self, name: String) -> Self {
        self.heading = Cow::Owned(name);
        self
    }

    const fn in_words(mut self) -> Self {
        self.is_words = true;
        self
    }
}

/// A sign with words on a page, so that a result does not depend on colour alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// The sign.
    pub sign: &'static str,
    /// Its class in the style sheet.
    pub class: &'static str,
    /// The words.
    pub words: &'static str,
    /// Few samples decided about it.
    pub is_provisional: bool,
}

impl Badge {
    /// A verdict.
    #[must_use]
    pub fn of_verdict(verdict: Verdict, is_provisional: bool) -> Self {
        let (sign, class) = match verdict {
            Verdict::Pass => ("✓", "pass"),
            Verdict::Marginal => ("~", "marginal"),
            Verdict::Fail => ("✗", "fail"),
            Verdict::Inconclusive => ("?", "inconclusive"),
            Verdict::None => ("–", "none"),
        };
        Badge {
            sign,
            class,
            words: verdict_or_no_goals(verdict),
            is_provisional,
        }
    }

    /// A judgement.
    #[must_use]
    pub const fn of_judgement(of: Judgement) -> Self {
        let (sign, class) = match of {
            Judgement::Better => ("✓", "pass"),
            Judgement::Worse => ("✗", "fail"),
            Judgement::Same => ("=", "none"),
            Judgement::CantTell => ("?", "inconclusive"),
        };
        Badge {
            sign,
            class,
            words: of.name(),
            is_provisional: false,
        }
    }
}

/// Name of a verdict: `pass`, or `no goals`.
#[must_use]
pub fn verdict_or_no_goals(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::None => "no goals",
        other => verdict_name(other),
    }
}

/// A cell: its text, and what a page shows beside it or in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Text. It may be foreign: each renderer escapes it.
    pub text: String,
    /// Tone.
    pub tone: Tone,
    /// A page shows this in place of the text.
    pub badge: Option<Badge>,
    /// A page links the text or the badge to this address.
    pub link: Option<String>,
    /// Further text on a page.
    pub note: String,
    /// Markup, which a page shows in place of the text.
    pub markup: Option<String>,
}

/// A column of words.
#[must_use]
pub const fn left(heading: &str) -> Column<'_> {
    Column {
        heading: Cow::Borrowed(heading),
        align: Align::Left,
        apart: false,
        is_words: false,
        is_once: false,
    }
}

/// A column of numbers.
#[must_use]
pub const fn right(heading: &str) -> Column<'_> {
    let mut column = left(heading);
    column.align = Align::Right;
    column
}

/// A column of words below a heading in words.
#[must_use]
pub const fn words(heading: &str) -> Column<'_> {
    left(heading).in_words()
}

/// A column of numbers below a heading in words.
#[must_use]
pub const fn numbers(heading: &str) -> Column<'_> {
    right(heading).in_words()
}

impl Cell {
    /// A cell with text and tone.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Cell {
            text: text.into(),
            tone,
            ..Cell::default()
        }
    }

    /// A value that is unknown.
    #[must_use]
    pub fn unknown() -> Self {
        Cell::new("–", Tone::Quiet)
    }

    /// A verdict.
    #[must_use]
    pub fn verdict(of: Verdict, provisional: bool) -> Self {
        let tone = match of {
            Verdict::None => Tone::Quiet,
            Verdict::Pass => Tone::Good,
            Verdict::Marginal | Verdict::Inconclusive => Tone::Unreliable,
            Verdict::Fail => Tone::Bad,
        };
        let name = match of {
            Verdict::None => "–",
            other => verdict_name(other),
        };
        let mark = if provisional { "*" } else { "" };
        Cell {
            badge: Some(Badge::of_verdict(of, provisional)),
            ..Cell::new(format!("{name}{mark}"), tone)
        }
    }

    /// A judgement.
    #[must_use]
    pub fn judgement(of: Judgement) -> Self {
        Cell {
            badge: Some(Badge::of_judgement(of)),
            ..Cell::new(of.name(), of.into())
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell::new(text, Tone::Plain)
    }
}

/// A table, for a terminal, a page or Markdown.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name.
    pub caption: &'static str,
    /// Columns.
    pub columns: Vec<Column<'static>>,
    /// Number of columns at the beginning that name a row.
    pub keys: usize,
    /// Rows, each as long as the columns.
    pub rows: Vec<Vec<Cell>>,
}

/// Heading of a column, and its value of an item.
pub type ValueColumn<T> = (&'static str, fn(&T) -> String);

impl Table {
    /// A table with a row for each item, and for each column its heading and its value of an item. The first column
    /// names the row.
    pub fn for_items<T>(caption: &'static str, items: impl IntoIterator<Item = T>, columns: &[ValueColumn<T>]) -> Self {
        let row = |item: T| columns.iter().map(|(_, value)| value(&item).into()).collect();
        Table {
            caption,
            columns: columns.iter().map(|(heading, _)| words(heading)).collect(),
            keys: 1,
            rows: items.into_iter().map(row).collect(),
        }
    }

    /// Lines of at most `width` columns, as [`render`] splits them, with ANSI colours if `colour`. The lines have no
    /// control characters of foreign texts.
    #[must_use]
    pub fn lines(&self, width: usize, colour: bool) -> Vec<String> {
        let is_repeated = |row: usize, column: usize| {
            let above = row.checked_sub(1).map(|above| &self.rows[above][column].text);
            self.columns[column].is_once && above == Some(&self.rows[row][column].text)
        };
        let rows = self.rows.iter().enumerate().map(|(row, cells)| {
            let cells = cells.iter().enumerate().map(|(column, cell)| {
                if is_repeated(row, column) {
                    Cell::default()
                } else {
                    Cell::new(sanitise(&cell.text), cell.tone)
                }
            });
            cells.collect()
        });
        render(&self.columns, &rows.collect::<Vec<_>>(), self.keys, width, colour)
    }
}

/// Lines of a table of `rows` (each as long as `columns`), with two spaces between columns. If that
/// is wider than `limit`, the columns after the first `keys` are moved to further tables, at
/// [`Column::apart`] or where necessary. Each further table has the first `keys` again. Columns
/// that are empty in every row are omitted, and so are rows of a further table without values.
#[must_use]
pub fn render(columns: &[Column<'_>], rows: &[Vec<Cell>], keys: usize, limit: usize, colour: bool) -> Vec<String> {
    let headings: Vec<Cell> = columns
        .iter()
        .map(|column| {
            let heading = if column.is_words {
                column.heading.to_uppercase()
            } else {
                sanitise(&column.heading)
            };
            Cell::new(heading, Tone::Quiet)
        })
        .collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|i| {
            let cells = rows.iter().map(|r| width(&r[i].text)).max().unwrap_or(0);
            cells.max(width(&headings[i].text))
        })
        .collect();
    let mut lines = Vec::new();
    let filled: Vec<usize> = (0..columns.len())
        .filter(|i| *i < keys || rows.iter().any(|row| !row[*i].text.is_empty()))
        .collect();
    for shown in split(columns, &widths, &filled, keys, limit) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(line(columns, &widths, &shown, &headings, colour));
        let first = lines.len() == 1;
        for row in rows {
            let empty = shown.iter().skip(keys).all(|i| row[*i].text.is_empty());
            if first || !empty {
                lines.push(line(columns, &widths, &shown, row, colour));
            }
        }
    }
    lines
}

/// Assigns columns to tables.
fn split(columns: &[Column<'_>], widths: &[usize], filled: &[usize], keys: usize, limit: usize) -> Vec<Vec<usize>> {
    let whole = filled.iter().map(|i| widths[*i] + 2).sum::<usize>().saturating_sub(2) <= limit;
    let mut tables = vec![Vec::new()];
    let mut used = 0;
    for (i, w) in filled.iter().map(|i| (*i, widths[*i])) {
        let shown = tables.last_mut().expect("there is always a table");
        let full = used + w > limit || (columns[i].apart && !whole);
        if i > keys && full && shown.len() > keys {
            tables.push((0..keys).collect());
            used = widths[..keys].iter().map(|w| w + 2).sum();
        }
        tables.last_mut().expect("there is always a table").push(i);
        used += w + 2;
    }
    tables
}

fn line(columns: &[Column<'_>], widths: &[usize], shown: &[usize], cells: &[Cell], colour: bool) -> String {
    let mut text = String::new();
    let last = shown.iter().rev().find(|i| !cells[**i].text.is_empty());
    for i in shown {
        let cell = &cells[*i];
        let gap = " ".repeat(widths[*i] - width(&cell.text));
        let painted = paint(&cell.text, cell.tone, colour);
        match columns[*i].align {
            Align::Left => text.extend([painted, gap]),
            Align::Right => text.extend([gap, painted]),
        }
        if Some(i) == last {
            break;
        }
        text.push_str("  ");
    }
    let kept = text.trim_end_matches(' ').len();
    text.truncate(kept);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> Vec<Vec<Cell>> {
        vec![
            vec!["laptop".into(), "fail".into(), "12.5".into(), "3".into()],
            vec!["tv".into(), "pass".into(), "7".into(), "".into()],
        ]
    }

    const COLUMNS: [Column; 4] = [left("STATION"), left("VERDICT"), right("ms"), right("n")];

    #[test]
    fn text_is_left_aligned_and_numbers_right_aligned() {
        assert_eq!(
            render(&COLUMNS, &rows(), 1, 80, false),
            [
                "STATION  VERDICT    ms  n",
                "laptop   fail     12.5  3",
                "tv       pass        7"
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_gets_several_tables() {
        // 7 + 2 + 7 = 16 fits 20, + 2 + 4 does not.
        assert_eq!(
            render(&COLUMNS, &rows(), 1, 20, false),
            [
                "STATION  VERDICT",
                "laptop   fail",
                "tv       pass",
                "",
                "STATION    ms  n",
                "laptop   12.5  3",
                "tv          7",
            ]
        );
    }

    #[test]
    fn a_table_splits_at_a_marked_column() {
        let [station, verdict, ms, n] = COLUMNS;
        let columns = [station, verdict.apart(), ms, n];
        // All four take 7 + 2 + 7 + 2 + 4 + 2 + 1 = 25.
        assert_eq!(render(&columns, &rows(), 1, 25, false).len(), 3);
        let [station, verdict, ms, n] = COLUMNS;
        let columns = [station, verdict, ms.apart(), n];
        assert_eq!(render(&columns, &rows(), 1, 24, false)[4], "STATION    ms  n");
    }

    #[test]
    fn colour_does_not_count_as_width() {
        let row = vec![Cell::new("x", Tone::Bad), "y".into()];
        let lines = render(&[left("AB"), left("C")], &[row], 1, 80, true);
        assert_eq!(lines[1], "\x1b[1;31mx\x1b[0m   y");
    }

    proptest! {
        #[test]
        fn lines_keep_the_limit_if_possible(
            texts in prop::collection::vec("[a-z]{0,9}", 12),
            limit in 25_usize..80,
        ) {
            let rows: Vec<Vec<Cell>> = texts.chunks(4).map(|c| c.iter().map(|t| t.as_str().into()).collect()).collect();
            for line in render(&COLUMNS, &rows, 1, limit, false) {
                prop_assert!(width(&line) <= limit, "{line:?}");
            }
        }
    }
}
