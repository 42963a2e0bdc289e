//! HTTP dashboard for the runs of a directory. It shows a list of runs with verdicts, a live view of a run in progress,
//! reports and comparisons.
//!
//! Modules, from the top:
//!
//! - [`serve`] – the dashboard on its own port, for `netburn ui`. A fleet's controller serves the same [`Dashboard`] as an
//!   [`HttpHandler`](netburn_fleet_controller::hub::HttpHandler).
//! - [`routes`] – HTTP routes. [`auth`]: checks of the host name, the key and the origin of a request.
//! - `run_store`: the directory of runs with its index, shared by all requests.
//! - [`index`] – cached index of the runs. [`query`]: filters and order of the list. [`name`]: run names and their folders.
//! - `render`: reports and comparisons. [`files`]: the embedded files of the page.
//! - `subscriptions`: event streams of a run in progress, with one reader for each run.
//! - [`measurement`] – measurements that the page can start, if the owner of the server provides them.
//! - [`spool_tail`] – reads a spool while it grows. [`live`]: state of a run in progress, as a pure model.
//! - `response` and `body`: HTTP responses.

pub mod auth;
mod body;
pub mod files;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod index;
pub mod live;
pub mod measurement;
pub mod name;
pub mod query;
mod render;
mod response;
pub mod routes;
mod run_store;
pub mod serve;
pub mod spool_tail;
mod subscriptions;

pub use auth::Hosts;
pub use routes::Dashboard;
pub use serve::{Config, PORT, Server, url};
