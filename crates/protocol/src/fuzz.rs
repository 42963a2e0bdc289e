//! Entry points for fuzzers. They accept any bytes and panic if an invariant is violated.

pub mod frame;
pub mod message;

use netburn_units::Seed;
use std::path::Path;

/// Checks every file of a corpus and `random` further inputs, half of which are modified files of the corpus. The name of the
/// folder selects the random numbers.
///
/// # Panics
/// If the folder has fewer than 10 files, or `check` panics.
pub fn replay(folder: &Path, check: fn(&[u8]), random: u64) {
    let target = folder.file_name().and_then(|name| name.to_str());
    let target = target.expect("the folder has the target's name");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus can be read")
        .map(|entry| entry.expect("the corpus can be read").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "a corpus in {}", folder.display());
    let read = |path| std::fs::read(path).expect("the corpus can be read");
    let corpus: Vec<Vec<u8>> = files.iter().map(read).collect();
    corpus.iter().for_each(|bytes| check(bytes));
    let mut stream = Seed(1).stream(target, 0);
    for n in 0..random {
        let mut bytes = match n % 2 {
            0 => (0..stream.below(300)).map(|_| stream.next_u64() as u8).collect(),
            _ => corpus[stream.below(corpus.len() as u64) as usize].clone(),
        };
        for _ in 0..stream.below(4) {
            if !bytes.is_empty() {
                let at = stream.below(bytes.len() as u64) as usize;
                bytes[at] = stream.next_u64() as u8;
            }
        }
        check(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(target: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
    }

    #[test]
    fn messages() {
        replay(&corpus("message"), message::check, 5000);
    }

    #[test]
    fn frames() {
        replay(&corpus("frame"), frame::check, 2000);
    }
}
