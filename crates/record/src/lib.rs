//! What a run leaves behind: rows, a spool that survives whatever is killed, the run folder, and its summary.
//!
//! - [`row`]: the five kinds of row, and the one [`Sink`] they all go through, live view and disk alike.
//! - [`header`]: what is known before the first row. [`utc`]: wall-clock time.
//! - [`recorder`]: a run folder while the run is under way. [`run`]: the folder after.
//! - [`health`], [`gate`](mod@gate): what every participant says of its own measuring, and whether that can be believed.
//! - [`summary`]: what a run comes to, as its contract names it.

mod columns;
mod document;
pub mod error;
mod finish;
pub mod gate;
pub mod header;
pub mod health;
pub mod recorder;
pub mod row;
pub mod run;
pub mod spool;
pub mod summary;
pub mod utc;

pub use error::Error;
pub use header::{Ending, Ground, Header, Host};
pub use health::{Clock, Gate, Health, Lateness, Role};
pub use recorder::{Recorder, make_folder};
pub use row::{ConnectionRow, EventKind, EventRow, IntervalRow, LinkRow, OperationRow, Row, Side, Sink};
pub use run::Run;
pub use summary::Summary;
pub use utc::UnixTime;
