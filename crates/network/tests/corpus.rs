//! Arbitrary operations: the committed corpus, and several hundred pseudo-random ones.

use netburn_network::fuzz;
use netburn_units::Seed;
use std::path::Path;

#[test]
fn committed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/network");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("a corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 8, "a corpus in {}", folder.display());
    for file in files {
        println!("{}", file.display());
        fuzz::check(&std::fs::read(&file).expect("a file"));
    }
}

#[test]
fn drawn() {
    for round in 0..200 {
        let mut stream = Seed(1).stream("network", round);
        let length = 1 + stream.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
        println!("network {round}");
        fuzz::check(&bytes);
    }
}
