//! Behaviour of a workload, from single rules to whole runs.

mod config;
mod gcc;
mod laws;
mod player;
mod presets;
mod rules;
mod streams;
mod util;
mod verdicts;
