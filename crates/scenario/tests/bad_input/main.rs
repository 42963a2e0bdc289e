//! Errors of invalid scenarios: position, message and help.

mod arguments;
mod backhaul;
mod lines;
mod network;
mod places;
mod router;
mod text;
mod values;
mod workloads;

use netburn_scenario::Document;

/// Errors of a text, one per line, without the file's name.
fn errors(text: &str) -> Vec<String> {
    let error = match Document::from_toml("x.toml", text).and_then(|document| document.resolve()) {
        Ok(_) => return Vec::new(),
        Err(error) => error,
    };
    let lines = error.to_string();
    lines
        .lines()
        .map(|line| line.strip_prefix("x.toml:").unwrap_or(line).trim_start().to_owned())
        .collect()
}

#[track_caller]
fn wrong(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "\n{text}");
}

/// Checks the error of a valid scenario with one invalid line.
#[track_caller]
fn station(line: &str, expected: &str) {
    wrong(&format!("[station.tv]\n{line}\n"), &[expected]);
}
