//! Replays the fuzz corpus, and a few thousand mutations of it.

use netburn_lab::fuzz;
use netburn_units::Seed;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 5, "{target}");
    let all: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    all.iter().for_each(|bytes| check(bytes));
    all
}

/// Repeatedly changes a few bytes of each file.
fn mutated(target: &str, rounds: u64, check: fn(&[u8])) {
    let all = replay(target, check);
    let mut random = Seed(1).stream(target, 0);
    for _ in 0..rounds {
        for file in &all {
            let mut bytes = file.clone();
            for _ in 0..=random.below(4) {
                if !bytes.is_empty() {
                    // Most mutations are in the headers, where they have the most effect.
                    let at = random.below((bytes.len() as u64).min(90)) as usize;
                    bytes[at] = random.below(256) as u8;
                }
            }
            if random.below(8) == 0 {
                bytes.truncate(random.below(bytes.len() as u64 + 1) as usize);
            }
            check(&bytes);
        }
    }
}

#[test]
fn frames() {
    mutated("frame", 400, fuzz::check_frame);
}

#[test]
fn switches() {
    mutated("switch", 6, fuzz::check_switch);
}
