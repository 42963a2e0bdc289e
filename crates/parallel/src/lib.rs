//! Work on several threads, and its cancellation.
//!
//! - [`pool`]: calls of a function with consecutive numbers, on several threads.
//! - [`Cancel`]: a request to end such work, or a run, early.

mod cancel;
pub mod pool;

pub use cancel::Cancel;
