//! A fleet's controller: who is a member, who holds which run, and who is sent there. It knows nothing else of runs.
//!
//! - [`Hub`]: the whole as one state machine. [`owner`]: what `run --on fleet` and its like say to it.
//! - [`state`]: what is kept in the state directory. [`serve`]: listeners, HTTP and WebSockets around it.
//! - [`annex`](mod@annex): where others answer below `/runs`.

pub mod annex;
mod crowd;
mod denials;
mod doors;
mod http;
pub mod machine;
pub mod owner;
mod pass;
mod places;
pub mod serve;
pub mod state;
#[cfg(test)]
mod tests;

pub use annex::{ANNEX, Annex, AnnexBody, Answer, Answering};
pub use denials::{More, Origin};
pub(crate) use http::{JOIN, OWNER, RUN};
pub use machine::{Denial, Hub, Line, Output, Setup, Wake, Way};
pub use places::likeliest;
pub use serve::{Config, Controller, News, ServeError};
pub use state::{State, StateError, Whereabouts};
