//! Behaviour of a workload, from single rules to whole runs.

mod activity;
mod config;
mod dash;
mod gcc;
mod laws;
mod player;
mod presets;
mod probes;
mod responsiveness;
mod rules;
mod streams;
mod util;
mod verdicts;
mod video;
