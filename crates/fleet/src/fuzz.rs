//! Entry points for fuzzers. They accept any bytes and panic if an invariant is violated.

pub mod frame;
pub mod hub;
pub mod message;
pub mod round;
pub mod spool;

#[cfg(test)]
mod tests {
    use netburn_units::Seed;
    use std::path::Path;

    /// Checks every file of the corpus and `random` further inputs, half of which are modified files of the
    /// corpus.
    fn replay(target: &str, check: fn(&[u8]), random: u64) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(files.len() >= 10, "a corpus in {}", folder.display());
        let corpus: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
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

    #[test]
    fn runs() {
        replay("round", super::round::check, 3000);
    }

    #[test]
    fn hubs() {
        replay("hub", super::hub::check, 3000);
    }

    #[test]
    fn messages() {
        replay("message", super::message::check, 5000);
    }

    #[test]
    fn spools() {
        replay("spool", super::spool::check, 4000);
    }

    #[test]
    fn frames() {
        replay("frame", super::frame::check, 2000);
    }
}
