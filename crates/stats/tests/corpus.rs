//! Selection against a full sort: the committed inputs, then pseudo-random ones.

use netburn_stats::fuzz::check;
use netburn_units::Seed;
use std::path::Path;

#[test]
fn the_corpus_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/distribution");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the corpus is there");
    for file in files {
        check(&std::fs::read(file).unwrap());
    }
}

#[test]
fn pseudo_random_inputs_hold() {
    let mut stream = Seed(2026).stream("fuzz", 0);
    for _ in 0..3_000 {
        let length = stream.below(1_200) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| stream.next_u64() as u8).collect();
        check(&bytes);
    }
}
