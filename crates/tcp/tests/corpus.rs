//! Replays the fuzz corpus, and several thousand random inputs.

use netburn_tcp::fuzz;
use netburn_units::Seed;
use std::fs;
use std::path::Path;

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/endpoint");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the corpus") {
        fuzz::check(&fs::read(entry.expect("an entry").path()).expect("a file"));
        count += 1;
    }
    assert!(count >= 12);
}

#[test]
fn drawn() {
    for index in 0..3_000 {
        let mut chance = Seed(7).stream("fuzz", index);
        let length = 30 + chance.below(400);
        let mut bytes: Vec<u8> = (0..length).map(|_| chance.below(256) as u8).collect();
        if index % 3 > 0 {
            // Without forged segments and aborts everything has to arrive.
            bytes
                .iter_mut()
                .skip(22)
                .filter(|byte| **byte % 16 == 14)
                .for_each(|byte| *byte -= 14);
        }
        fuzz::check(&bytes);
    }
}
