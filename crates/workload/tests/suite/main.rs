//! Everything that shows what a workload does, from single rules to whole runs.

mod config;
mod laws;
mod player;
mod rules;
mod uses;
mod util;
mod verdicts;
