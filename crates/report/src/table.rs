//! Tables with aligned columns, split into several tables when the terminal is too narrow.

use crate::sanitise::width;
use crate::style::{Tone, paint};

/// Alignment of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Heading and alignment of a column.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// The heading.
    pub heading: &'a str,
    /// Alignment of the column's cells.
    pub align: Align,
    /// Begins a further table if one table would be too wide.
    pub apart: bool,
}

impl Column<'_> {
    /// This column as the first of a further table, if one table would be too wide.
    #[must_use]
    pub const fn apart(self) -> Self {
        Column { apart: true, ..self }
    }
}

/// A cell: text without control characters, and its tone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Text.
    pub text: String,
    /// Tone.
    pub tone: Tone,
}

/// A column of words.
#[must_use]
pub const fn left(heading: &str) -> Column<'_> {
    Column {
        heading,
        align: Align::Left,
        apart: false,
    }
}

/// A column of numbers.
#[must_use]
pub const fn right(heading: &str) -> Column<'_> {
    Column {
        heading,
        align: Align::Right,
        apart: false,
    }
}

impl Cell {
    /// An empty cell.
    pub const EMPTY: Cell = Cell {
        text: String::new(),
        tone: Tone::Plain,
    };

    /// A cell with text and tone.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Cell {
            text: text.into(),
            tone,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell::new(text, Tone::Plain)
    }
}

/// Lines of a table of `rows` (each as long as `columns`), with two spaces between columns. If that
/// is wider than `limit`, the columns after the first `keys` are moved to further tables, at
/// [`Column::apart`] or where necessary. Each further table has the first `keys` again. Columns
/// that are empty in every row are omitted, and so are rows of a further table without values.
#[must_use]
pub fn render(columns: &[Column<'_>], rows: &[Vec<Cell>], keys: usize, limit: usize, colour: bool) -> Vec<String> {
    let widths: Vec<usize> = (0..columns.len())
        .map(|i| {
            let cells = rows.iter().map(|r| width(&r[i].text)).max().unwrap_or(0);
            cells.max(width(columns[i].heading))
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
        let headings: Vec<Cell> = columns.iter().map(|c| Cell::new(c.heading, Tone::Quiet)).collect();
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
        let columns = [COLUMNS[0], COLUMNS[1].apart(), COLUMNS[2], COLUMNS[3]];
        // All four take 7 + 2 + 7 + 2 + 4 + 2 + 1 = 25.
        assert_eq!(render(&columns, &rows(), 1, 25, false).len(), 3);
        let columns = [COLUMNS[0], COLUMNS[1], COLUMNS[2].apart(), COLUMNS[3]];
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
