//! The station page in a browser. It is the agent's code, compiled to WebAssembly, without sockets and clock.
//!
//! The browser passes [`Input`]s to [`Station::handle`], and executes the [`Effect`]s of the reply. Datagrams have methods of
//! their own. Inputs and effects are JSON, so the interface of the module is a few functions.
//!
//! Modules, from the top:
//!
//! - [`station`] – the station, from the load of the page. `view`: its state as displayed.
//! - `fleet` – the membership in a fleet. `late`: results that are delivered after their run.
//! - `session` – the protocol of a run. `invitation`: how it begins. `saved_session`: what survives a reload.
//! - `flush` – the rows of a run on their way to the store. `delivery`: rows and their acknowledgement. `stored`: messages with
//!   rows.
//! - `measurement` – the measurement of a run on the page's clock.
//! - `server` – the search for a run's server, and its consent. `channel`: the data channel to it. `sdp`: session descriptions.
//! - `transfers` – requests in progress, and what their responses mean.
//! - `socket` – a WebSocket that reconnects.
//! - `host` – the browser during one input. `random`: unpredictable numbers. `name`: names of stations.
//! - [`browser`] – inputs and effects.
//! - [`page`] – the measurement of one assignment. [`event`]: its events, commands and replies.
//! - `drive` – the workloads of one phase, with their requests and datagrams. `resume`: after a reload of the page.
//! - `lanes` – the browser's connections, which workloads share.
//! - `card` – a workload's values as displayed. `result`: a workload's values and verdict.
//! - `assignment` – the plan and the stations of the page. `load`: a workload. `limitations`: restrictions of a browser.

mod assignment;
pub mod browser;
mod card;
mod channel;
mod delivery;
mod drive;
pub mod event;
mod fleet;
mod flush;
mod host;
mod invitation;
mod lanes;
mod late;
mod limitations;
mod load;
mod measurement;
mod name;
pub mod page;
mod random;
mod result;
mod resume;
mod saved_session;
mod sdp;
mod server;
mod session;
mod socket;
pub mod station;
mod stored;
mod transfers;
pub mod view;

pub use assignment::AssignmentError;
pub use browser::{Effect, Input};
pub use event::{Command, Event, Reply};
pub use page::Page;
pub use station::Station;
