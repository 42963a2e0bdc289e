//! Inputs for fuzz targets: the files of a corpus, and pseudo-random changes of them.

use netburn_units::Seed;
use std::path::Path;

/// The files of a corpus in the order of their names.
///
/// # Panics
/// Panics when the folder or a file cannot be read.
#[must_use]
pub fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a corpus")
        .map(|entry| entry.expect("a file of the corpus").path())
        .collect();
    paths.sort();
    let files = paths
        .iter()
        .map(|path| std::fs::read(path).expect("a file of the corpus"));
    files.collect()
}

/// Pseudo-random inputs without end, always the same ones. Each eighth begins as random bytes, the others as a file of the
/// corpus. Each is then changed at up to three places.
///
/// # Panics
/// Panics when the corpus is empty.
pub fn mutations(corpus: &[Vec<u8>]) -> impl Iterator<Item = Vec<u8>> {
    let mut random = Seed(7).stream("fuzz", 0);
    (0_u64..).map(move |number| {
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
        bytes
    })
}
