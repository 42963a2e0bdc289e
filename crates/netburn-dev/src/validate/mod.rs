//! Validation cases: comparison of the models with published values.
//!
//! A case file ([`file`](mod@file)) states for each case the input ([`kind`]), the metric, the value in the source and the
//! tolerance ([`case`]). [`run`](mod@run) executes the cases on all processors. [`table`] and [`markdown`] format the
//! results. The [`built_in`] files are those of `validation/` in the repository.

pub mod built_in;
pub mod case;
pub mod file;
pub mod kind;
pub mod markdown;
pub mod quantity;
pub mod run;
pub mod table;
mod toml_value;

pub use case::{Case, CaseResult, Deviation, Expectation, Goal, SourceQuality, Tolerance};
pub use file::{CaseFile, CaseFileError};
pub use run::{Outcome, run};
