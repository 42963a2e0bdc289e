//! Measurement of the station page in a browser. It is the agent's code, compiled to WebAssembly, without sockets and clock.
//!
//! A page passes an [`Event`] with the time of the run to [`Page::handle`], and executes the [`Command`]s of the [`Reply`].
//! Datagrams have methods of their own. Events and replies are JSON, so the interface of the module is a few functions.
//!
//! Modules, from the top:
//!
//! - [`page`] – one assignment of the page.
//! - [`event`] – events, commands and replies.
//! - `drive` – the workloads of one phase, with their requests and datagrams. `resume`: after a reload of the page.
//! - `lanes` – the browser's connections, which workloads share.
//! - `card` – a workload's values as displayed. `result`: a workload's values and verdict.
//! - `assignment` – the plan and the stations of the page. `load`: a workload. `limitations`: restrictions of a browser.

mod assignment;
mod card;
mod drive;
pub mod event;
mod lanes;
mod limitations;
mod load;
pub mod page;
mod result;
mod resume;

pub use event::{Command, Event, Reply};
pub use page::Page;
