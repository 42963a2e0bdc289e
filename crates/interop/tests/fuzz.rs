//! Replays the corpus, and as many random inputs.

use netburn_interop::fuzz;
use netburn_units::Seed;
use std::path::PathBuf;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// 3000 inputs: corpus files changed at some places, and random bytes.
#[test]
fn imports() {
    let corpus = corpus("import");
    assert!(corpus.len() >= 8, "the corpus is there");
    for bytes in &corpus {
        fuzz::check_import(bytes);
    }
    let mut random = Seed(7).stream("fuzz", 0);
    for number in 0..3000 {
        let mut bytes = match number % 8 {
            0 => (0..random.below(400)).map(|_| random.next_u64() as u8).collect(),
            _ => corpus[random.below(corpus.len() as u64) as usize].clone(),
        };
        for _ in 0..random.below(4) {
            let Some(last) = (bytes.len() as u64).checked_sub(1) else {
                break;
            };
            let at = random.below(last + 1) as usize;
            match random.below(4) {
                0 => bytes[at] = random.next_u64() as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at),
                _ => {
                    let part = bytes[at..].to_vec();
                    bytes.extend(part);
                }
            }
        }
        fuzz::check_import(&bytes);
    }
}
