//! Arbitrary operations: the committed corpus, and several thousand pseudo-random ones.

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

#[test]
fn rating_committed() {
    replay("rating", fuzz::rating::check);
}

/// Mostly letters and digits, so that some are ratings.
#[test]
fn rating_drawn() {
    draw("rating", 3_000, 12, fuzz::rating::check);
    for round in 0..3_000 {
        let mut stream = Seed(3).stream("rating", round);
        let letters = ["N", "AC", "ax", "BE", "3/AC", "1x"][stream.below(6) as usize];
        let places = 1 + stream.below(5) as u32;
        let digits = stream.below(10_u64.pow(places));
        fuzz::rating::check(format!("{letters}{digits}").as_bytes());
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
