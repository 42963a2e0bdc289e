//! HTTP dashboard for the runs of a directory: a list with verdicts, a live view of a run in progress, reports and comparisons.
//!
//! Modules, from the top:
//!
//! - [`serve`]: the dashboard on its own port, for `netburn ui`. A fleet's controller serves the same [`Dashboard`] as an
//!   [`HttpHandler`](netburn_fleet::hub::HttpHandler).
//! - [`routes`]: HTTP routes. [`auth`]: checks of the host name, the key and the origin of a request.
//! - [`query`]: filters and order of the list. [`index`]: cached index of the runs. [`name`]: run names and their folders.
//! - [`live`]: state of a run in progress, as a pure model. [`spool_tail`]: reads a spool while it grows. `subscriptions`:
//!   event streams, with one reader for each run.
//! - `run_store`: the shared index. `render`: reports and comparisons. [`files`]: the embedded files of the page.

pub mod auth;
mod body;
pub mod files;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod index;
pub mod live;
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
