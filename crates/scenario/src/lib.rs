//! The file people write: parsed, checked, resolved into a plan; its JSON Schema.
//!
//! [`load`] finds a scenario by path or by the name of a ready-made one and reads it into a [`Document`];
//! [`Document::set`] changes a key as `--set` does; [`Document::resolve`] fills in every default, checks everything and
//! gives the [`Plan`]. A [`ScenarioError`] holds everything that is wrong, each with its line, what was found and what
//! would be right. [`Plan::to_json`] writes a plan as a scenario document again, [`Plan::from_json`] reads it.
//!
//! ```
//! use netburn_scenario::{Ground, load};
//!
//! let mut document = load("four-uses")?;
//! document.set("duration", "20s")?;
//! let (plan, notes) = document.resolve_for(Ground::Local)?;
//! assert_eq!(plan.stations.len(), 4);
//! assert_eq!(notes.len(), 1); // access points are not modelled there
//! # Ok::<(), netburn_scenario::ScenarioError>(())
//! ```

mod change;
mod describe;
mod document;
pub mod effect;
mod estimate;
#[doc(hidden)]
pub mod fuzz;
mod goals;
mod ground;
mod kinds;
mod node;
mod pattern;
pub mod plan;
mod problem;
mod reading;
mod resolve;
mod schema;
mod sections;
mod shipped;
mod suggest;
mod toml_text;
mod words;
mod write;

pub use describe::decimal;
pub use document::Document;
pub use estimate::Bytes;
pub use ground::{Ground, NoGround};
pub use plan::{Plan, Station, StationWorkload};
pub use problem::{Problem, ScenarioError};
pub use resolve::{MOST_CHANGES, MOST_OTHERS, MOST_STATIONS, SCHEMA, built_in, is_reserved_station_name};
pub use schema::{json_schema, manual};
pub use shipped::{LARGEST_FILE, load, shipped};
