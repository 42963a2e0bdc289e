//! Arbitrary operations: the committed ones, and some thousand that a generator draws.

use netburn_medium::fuzz;
use netburn_units::Seed;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 8, "a corpus in {}", folder.display());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).expect("a file"));
    }
}

fn draw(target: &str, rounds: u64, longest: u64, check: fn(&[u8])) {
    for round in 0..rounds {
        let mut stream = Seed(1).stream(target, round);
        let length = 1 + stream.below(longest);
        let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
        println!("{target} {round}");
        check(&bytes);
    }
}

#[test]
fn air_committed() {
    replay("air", fuzz::air::check);
}

/// Writes corpus files: inputs of rising length from a generator of their own. What is there stays.
#[test]
#[ignore = "writes files"]
fn write() {
    for (target, longest) in [("air", 600), ("rating", 40)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        for round in 0..12 {
            let mut stream = Seed(2).stream(target, round);
            let length = longest * (round + 1) / 12;
            let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
            let file = folder.join(format!("drawn-{round:02}"));
            if !file.exists() {
                std::fs::write(file, bytes).expect("a file");
            }
        }
    }
}

#[test]
fn air_drawn() {
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(2_000);
    draw("air", rounds, 400, fuzz::air::check);
}
