//! A page over HTTP that shows the runs of a directory: which there are and what became of them, one that is under way,
//! a report, a comparison of two.
//!
//! From the top:
//!
//! - [`serve`]: the page on a port of its own, for `netburn ui`. As an [`HttpHandler`](netburn_fleet::hub::HttpHandler) the same
//!   [`Dashboard`] hangs at a fleet's controller.
//! - [`house`]: who asks for what. [`door`]: who is let in.
//! - [`query`]: which runs are wanted. [`index`]: which there are, kept beside them. [`name`]: which folder is meant.
//! - [`live`]: what a run under way does now, as a pure model; [`follow`]: its spool, read as it grows; `watchers`: one
//!   reader of it for all who look.
//! - `shown`: reports and comparisons. [`files`]: the page itself.

mod body;
pub mod door;
pub mod files;
pub mod follow;
#[doc(hidden)]
pub mod fuzz;
pub mod house;
pub mod index;
pub mod live;
pub mod name;
pub mod query;
mod reply;
pub mod serve;
mod shown;
mod watchers;

pub use door::Hosts;
pub use house::Dashboard;
pub use serve::{Config, PORT, Server, url};
