//! The pages of the documentation: links resolve, commands run as shown, and generated parts are current.

mod commands;
mod console;
mod links;
mod numbers;
mod page;
mod repeated;
mod scenarios;
mod shell;
mod systems;
mod workloads;
