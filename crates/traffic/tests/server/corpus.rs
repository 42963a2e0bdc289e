//! Replays the server's fuzz corpus, and pseudo-random inputs.

use netburn_traffic::datagram::fuzz::{check_datagram, check_exchange};
use netburn_traffic::server::fuzz::{check_consent, check_request};
use netburn_units::Seed;
use std::path::Path;

type Check = fn(&[u8]);

const TARGETS: [(&str, Check); 4] = [
    ("request", check_request),
    ("consent", check_consent),
    ("datagram", check_datagram),
    ("exchange", check_exchange),
];

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

#[test]
fn the_corpus_holds() {
    for (target, check) in TARGETS {
        let inputs = corpus(target);
        assert!(inputs.len() >= 10, "the corpus of {target} is there");
        inputs.iter().for_each(|input| check(input));
    }
}

/// Inputs of the corpus with a few bytes changed, removed or joined, so that they are nearly valid.
#[test]
fn nearly_valid_inputs_are_handled() {
    for (target, check) in TARGETS {
        let inputs = corpus(target);
        let mut stream = Seed(2026).stream(target, 0);
        let mut below = |bound: usize| stream.below(bound as u64) as usize;
        for _ in 0..4_000 {
            let mut input = inputs[below(inputs.len())].clone();
            for _ in 0..below(6) {
                if input.is_empty() {
                    break;
                }
                let at = below(input.len());
                match below(4) {
                    0 => input[at] = below(256) as u8,
                    1 => input.truncate(at),
                    2 => input.insert(at, b"\r\n :,;=-0\xff"[below(10)]),
                    _ => {
                        let other = &inputs[below(inputs.len())];
                        input.extend_from_slice(&other[below(other.len() + 1)..]);
                    }
                }
            }
            check(&input);
        }
    }
}

#[test]
fn pseudo_random_inputs_hold() {
    for (target, check) in TARGETS {
        let mut stream = Seed(7).stream(target, 1);
        for _ in 0..2_000 {
            let length = stream.below(600) as usize;
            let bytes: Vec<u8> = (0..length).map(|_| stream.next_u64() as u8).collect();
            check(&bytes);
        }
    }
}
