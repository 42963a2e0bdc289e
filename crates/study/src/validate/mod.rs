//! Published cases, run over the models and held against their tolerances.
//!
//! A file of cases ([`file`](mod@file)) states for each what is run ([`kind`]), what is measured, what a source found ([`case`]) and how near the
//! model must come. [`run`](mod@run) runs them on all processors; [`table`], [`json`] and [`markdown`] show what came of them. The
//! [`built_in`] files are those of `validation/` in the repository.

pub mod built_in;
pub mod case;
pub mod file;
pub mod json;
pub mod kind;
pub mod markdown;
pub mod quantity;
pub mod run;
pub mod table;

pub use case::{Case, Deviation, Expectation, Goal, CaseResult, Tolerance, SourceQuality};
pub use file::{CaseFile, CaseFileError};
pub use run::{Outcome, run};
