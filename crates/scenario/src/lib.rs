//! Scenario files: parser, validation, resolution into a plan, and JSON Schema.
//!
//! [`load`] finds a scenario by path or by the name of a built-in one, and reads it into a [`Document`].
//! [`Document::set`] changes a key as `--set` does. [`Document::resolve`] fills in every default, checks the document and
//! returns the [`Plan`]. A [`ScenarioError`] lists all problems, each with its line, the value found and the value
//! expected. [`Plan::to_json`] writes a plan as a scenario document, and [`Plan::from_json`] reads it.
//!
//! Modules, from the top:
//!
//! - `built_in`: the built-in scenarios, and [`load`].
//! - `document`: a scenario before resolution. `node` is its tree of values, with their positions in the file.
//! - `resolve`: from a document to a plan.
//! - `known`: keys that a document can have. `file`: the keys at the top of a document.
//! - [`plan`]: the plan. Each part has its values and their keys in one file. `section_macro` generates the reader, the
//!   schema and the manual from the declaration of the keys.
//! - `enums`, `scalars`, `goals`: types of values, with their ranges and syntax.
//! - `decode`, `encode`: values from a document and into a document.
//! - `change`: keys that can change during a run. [`effect`] and [`reason`]: keys without effect, and why.
//! - `environment`, `requirements`: environments, and the keys that they need. `estimate`, `describe`: the traffic of a
//!   plan, and a plan as text.
//! - `schema`: JSON Schema, and the tables of the manual.
//! - `problem`, `suggest`: errors with positions, and suggestions for misspelled names.
//!
//! ```
//! use netburn_scenario::{Environment, load};
//!
//! let mut document = load("four-uses")?;
//! document.set("duration", "20s")?;
//! let (plan, notes) = document.resolve_for(Environment::Local)?;
//! assert_eq!(plan.stations.len(), 4);
//! assert_eq!(notes.len(), 1); // access points are not modelled on local
//! # Ok::<(), netburn_scenario::ScenarioError>(())
//! ```

mod built_in;
mod change;
mod decode;
mod describe;
mod document;
mod dscp;
pub mod effect;
mod encode;
mod enums;
mod environment;
mod estimate;
mod file;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod goals;
mod house;
mod keys;
mod kinds;
mod kit;
mod known;
mod node;
mod path;
mod pattern;
mod places;
pub mod plan;
mod probe_targets;
mod problem;
mod queue_lists;
mod queues;
pub mod reason;
pub mod regular;
mod requirements;
mod resolve;
mod scalars;
mod schema;
mod section_macro;
mod streams;
mod suggest;
mod toml_text;
mod trace;
mod value;

pub use built_in::{MAX_FILE_SIZE, ScenarioText, built_in_scenario, built_in_scenarios, load};
pub use describe::decimal;
pub use document::Document;
pub use environment::{Environment, ParseEnvironmentError};
pub use estimate::ByteEstimate;
pub use house::{Associations, HomeNode};
pub use plan::{Plan, Station, StationWorkload};
pub use problem::{Problem, ScenarioError};
pub use resolve::{MAX_CHANGES, MAX_SECTIONS, MAX_STATIONS, SCHEMA, built_in_workload, is_reserved_station_name};
pub use schema::{ManualKey, ManualSection, json_schema, manual, manual_sections};
pub use value::KeyValue;
