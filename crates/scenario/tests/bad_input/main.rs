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

use netburn_medium::queue::{Place, QueueKind};
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
    let expected: Vec<String> = expected.iter().map(|text| with_queues(text)).collect();
    assert_eq!(errors(text), expected, "\n{text}");
}

/// An expected text with the names of the queue disciplines.
fn with_queues(text: &str) -> String {
    let names = |place| {
        let kinds = QueueKind::all_on(place).into_iter();
        kinds
            .map(|kind| format!("`{}`", kind.name()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    text.replace("{queues of a radio}", &names(Place::Radio))
        .replace("{queues of a wire}", &names(Place::Wire))
        .replace("{queues of a line}", &names(Place::Line))
}

/// Only a radio shares airtime, and only the router of a line has CAKE.
#[test]
fn each_place_has_its_queue_disciplines() {
    let with = |name: &str| {
        ["{queues of a radio}", "{queues of a wire}", "{queues of a line}"]
            .map(|place| with_queues(place).contains(name))
    };
    assert_eq!(with("`airtime`"), [true, false, false]);
    assert_eq!(with("`pfifo-fast`"), [true, true, false]);
    assert_eq!(with("`cake`"), [false, false, true]);
    assert_eq!(with("`fifo`"), [true, true, true]);
    assert_eq!(with("`fq-codel`"), [true, true, true]);
}

/// Checks the error of a valid scenario with one invalid line.
#[track_caller]
fn station(line: &str, expected: &str) {
    wrong(&format!("[station.tv]\n{line}\n"), &[expected]);
}
