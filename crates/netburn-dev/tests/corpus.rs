//! The fuzz target on the committed corpus, and on pseudo-random mutations of it and of the built-in files.

use netburn_dev::fuzz::check;
use netburn_dev::validate::built_in::FILES;
use netburn_units::Seed;
use std::path::Path;

#[test]
fn cases() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/cases");
    let mut inputs: Vec<Vec<u8>> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(inputs.len() >= 12);
    inputs.sort_unstable();
    let shares = FILES.iter().find(|(name, _)| *name == "shares.toml").unwrap();
    inputs.push(shares.1.as_bytes().to_vec());
    let mut chance = Seed(1).stream("fuzz", 0);
    for input in &inputs {
        check(input);
        for _ in 0..200 {
            let mut changed = input.clone();
            for _ in 0..=chance.below(3) {
                if changed.is_empty() {
                    break;
                }
                let at = chance.below(changed.len() as u64) as usize;
                match chance.below(3) {
                    0 => changed[at] = chance.below(128) as u8,
                    1 => drop(changed.drain(at..(at + 1 + chance.below(8) as usize).min(changed.len()))),
                    _ => {
                        let piece = changed[at..(at + 16).min(changed.len())].to_vec();
                        changed.splice(at..at, piece);
                    }
                }
            }
            check(&changed);
        }
    }
}
