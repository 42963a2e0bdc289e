//! Runs the shipped files of cases, or those named, and prints every figure: what `netburn validate` does, without the rest of netburn.

use netburn_study::validate::table::{TableLook, table};
use netburn_study::validate::{CaseFile, run, shipped};

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let read = |name: &String| CaseFile::parse(name, &std::fs::read_to_string(name).expect("a file of cases"));
    let files: Result<Vec<CaseFile>, _> = match names.is_empty() {
        true => shipped::files(),
        false => names.iter().map(read).collect(),
    };
    let files = files.unwrap_or_else(|wrong| panic!("{wrong}"));
    let outcomes = run(
        &files,
        std::thread::available_parallelism().map_or(1, usize::from),
        &|_, _| {},
    );
    print!("{}", table(&files, &outcomes, TableLook { width: 180, all: true }));
}
