//! The controller of a fleet between runs: members, held runs and invitations. It knows nothing else about
//! runs.
//!
//! - [`Hub`] – the state machine. [`control`]: messages of the operator's commands, such as `run --on
//!   fleet`.
//! - [`state`] – the state directory. [`serve`]: listeners, HTTP and WebSockets.
//! - [`http_handler`](mod@http_handler): other HTTP routes below `/runs`.

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

pub(crate) use http::CONTROL;
pub use http_handler::{HandlerResponse, HttpHandler, RUNS_PREFIX, ResponseBody, ResponseFuture};
pub use machine::{ConnectionKind, Hub, Output, PeerInfo, Setup, Wake};
pub use rejections::{Origin, RejectionSummary};
pub use serve::{Config, Controller, ControllerEvent, ServeError};
pub use state::{ControllerInfo, State, StateError};
