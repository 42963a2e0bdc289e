//! One HTTP connection at a time, dialling visible.
//!
//! - [`target`]: what is spoken to, and how.

pub mod target;

pub use target::{Resource, Target, Trust};
