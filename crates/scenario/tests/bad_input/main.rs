//! Every kind of wrong scenario: where the error points, what it says was found, what would be right.

mod arguments;
mod network;
mod text;
mod workloads;
mod values;

use netburn_scenario::Document;

/// The errors of a text, a line each, without the file's name.
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

/// A scenario that is right, to which a wrong line is added.
#[track_caller]
fn station(line: &str, expected: &str) {
    wrong(&format!("[station.tv]\n{line}\n"), &[expected]);
}
