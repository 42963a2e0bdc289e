//! Renders summaries: as text for a terminal, and the live view while a run is under way.
//!
//! - [`text`](mod@text): a [`Summary`](netburn_record::Summary) as text: which environment it was, who passed, and why.
//! - [`explain`]: what the results suggest, and why.
//! - [`live`]: what every station gets right now; a pure model and a thin shell that draws it.
//! - [`runs`]: a list of runs.
//! - [`compare`]: runs compared with runs.
//! - [`environment`]: the sentence every output begins with: what was measured, and what was not.
//! - [`view`](mod@view): one run as plain data for showing, from which pages and charts are drawn.
//! - [`charts`](mod@charts): the charts of a run. [`chart`]: one as plain data, drawn as SVG and PNG and written as tables.
//! - [`html`]: pages of one file each.
//! - [`table`], [`sanitise`]: columns that fit a width; text that can't harm a terminal.

pub mod chart;
pub mod charts;
pub mod compare;
pub mod environment;
pub mod explain;
pub mod html;
pub mod live;
pub mod runs;
pub mod sanitise;
pub mod style;
pub mod table;
pub mod text;
pub mod view;

pub use live::Live;
pub use text::text;
pub use view::View;

/// The width of the terminal that standard output is, in columns; `None` when it isn't one.
#[must_use]
pub fn columns_of_stdout() -> Option<usize> {
    let term = console::Term::stdout();
    let (_, columns) = term.size_checked()?;
    term.is_term().then_some(usize::from(columns))
}
