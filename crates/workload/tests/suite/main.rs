//! Behaviour of a workload, from single rules to whole runs.

mod activity;
mod config;
mod laws;
mod player;
mod presets;
mod responsiveness;
mod rules;
mod util;
mod verdicts;
