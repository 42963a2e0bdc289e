//! Prints the part of docs/VALIDATION.md that is made from the cases, as `netburn validate --format markdown` does.

use netburn_study::validate::{markdown::markdown, run, shipped};

fn main() {
    let files = shipped::files().unwrap_or_else(|wrong| panic!("{wrong}"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    print!("{}", markdown(&files, &run(&files, threads, &|_, _| {})));
}
