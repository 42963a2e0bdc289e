//! The laws of the state machine under arbitrary drivers: the committed corpus, and pseudo-random behaviours.

use netburn_units::Seed;
use netburn_workload::fuzz::check;
use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/driver")
}

#[test]
fn the_corpus_keeps_the_laws() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the corpus is there");
    for file in files {
        check(&std::fs::read(&file).unwrap());
    }
}

#[test]
fn thousands_of_random_drivers_keep_the_laws() {
    for round in 0..3000 {
        let mut random = Seed(round).stream("driver", 0);
        let length = random.below(600) as usize;
        let data: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        if let Err(broken) = std::panic::catch_unwind(|| check(&data)) {
            eprintln!("round {round}: {data:?}");
            std::panic::resume_unwind(broken);
        }
    }
}
