//! Congestion control with arbitrary events in arbitrary order: the committed corpus, and several
//! thousand pseudo-random inputs.

use netburn_tcp::congestion::fuzz::{check, check_rate};
use netburn_units::Seed;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "a corpus in {}", folder.display());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).expect("a file"));
    }
    for round in 0..4_000 {
        let mut stream = Seed(2026).stream(target, round);
        let length = 1 + stream.below(400);
        let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
        println!("{target} {round}");
        check(&bytes);
    }
}

#[test]
fn any_events() {
    replay("congestion", check);
}

#[test]
fn any_deliveries() {
    replay("rate", check_rate);
}
