//! A fleet's controller: who is a member, who holds which run, and who is sent there. It knows nothing else of runs.
//!
//! - [`Hub`]: the whole as one state machine. [`operator`]: what `run --on fleet` and its like say to it.
//! - [`state`]: what is kept in the state directory. [`serve`]: listeners, HTTP and WebSockets around it.
//! - [`http_handler`](mod@annex): where others answer below `/runs`.

mod addresses;
mod admission;
mod admission_limit;
pub mod control;
mod http;
pub mod http_handler;
pub mod machine;
mod proxy;
mod rejections;
pub mod serve;
pub mod state;
#[cfg(test)]
mod tests;

pub use addresses::advertised;
pub(crate) use http::{CONTROL, JOIN, RUN};
pub use http_handler::{HandlerResponse, HttpHandler, RUNS_PREFIX, ResponseBody, ResponseFuture};
pub use machine::{ConnectionKind, Hub, Output, PeerInfo, Rejection, Setup, Wake};
pub use rejections::{Origin, RejectionSummary};
pub use serve::{Config, Controller, News, ServeError};
pub use state::{ControllerInfo, State, StateError};
