//! What a run leaves behind: rows, a spool that survives whatever is killed, the run folder, and its summary.
//!
//! - [`row`]: the five kinds of row, and the one [`Sink`](row::Sink) they all go through, live view and disk alike.
//! - [`health`]: what every participant says of its own measuring, and the gate made of it.
//! - [`spool`], [`folder`]: rows on disk, appended and synced while the run is under way, Parquet columns after.
//! - [`summary`]: what a run comes to, as INTERFACE names it.

pub mod health;
pub mod row;

pub use health::{Gate, Health, Role};
pub use row::{ConnectionRow, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row, Side, Sink};
