//! Arbitrary operations: the committed corpora, and several hundred pseudo-random inputs.

use netburn_network::fuzz;
use netburn_units::Seed;
use std::path::Path;

/// Folder of each corpus, its check, and the number and maximum length of the pseudo-random inputs.
type Target = (&'static str, fn(&[u8]), u64, u64);

const TARGETS: [Target; 4] = [
    ("network", fuzz::check, 200, 300),
    ("client", fuzz::client::check, 2_000, 400),
    ("steering", fuzz::steering::check, 1_000, 400),
    ("mesh", fuzz::mesh::check, 1_000, 300),
];

#[test]
fn committed() {
    for (name, check, ..) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .expect("a corpus")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        assert!(files.len() >= 8, "a corpus in {}", folder.display());
        for file in files {
            println!("{}", file.display());
            check(&std::fs::read(&file).expect("a file"));
        }
    }
}

#[test]
fn drawn() {
    for (name, check, rounds, longest) in TARGETS {
        for round in 0..rounds {
            let mut stream = Seed(1).stream(name, round);
            let length = 1 + stream.below(longest);
            let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
            println!("{name} {round}");
            check(&bytes);
        }
    }
}
