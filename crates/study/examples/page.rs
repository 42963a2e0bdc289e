//! Prints the generated part of docs/VALIDATION.md, as `netburn validate --format markdown`; with arguments, of those case files.

use netburn_runner::pool::processors;
use netburn_study::validate::{CaseFile, built_in, markdown::markdown, run};

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let read = |name: &String| CaseFile::parse(name, &std::fs::read_to_string(name).expect("a file of cases"));
    let files: Result<Vec<CaseFile>, _> = if names.is_empty() {
        built_in::models()
    } else {
        names.iter().map(read).collect()
    };
    let files = files.unwrap_or_else(|wrong| panic!("{wrong}"));
    let threads = processors();
    print!("{}", markdown(&files, &run(&files, threads, &|_, _| {})));
}
