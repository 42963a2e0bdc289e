//! The parsers on the committed inputs, then on pseudo-random ones composed of parts of quantities.

use netburn_units::Seed;
use netburn_units::fuzz::check;
use std::path::Path;

#[test]
fn the_corpus_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/quantity");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the corpus is there");
    for file in files {
        check(&std::fs::read(file).unwrap());
    }
}

#[test]
fn pseudo_random_bytes_hold() {
    let mut stream = Seed(2026).stream("fuzz", 0);
    for _ in 0..5_000 {
        let bytes: Vec<u8> = (0..stream.below(24)).map(|_| stream.next_u64() as u8).collect();
        check(&bytes);
    }
}

#[test]
fn pseudo_random_pieces_hold() {
    const PIECES: [&str; 30] = [
        "0",
        "1",
        "2",
        "5",
        "9",
        "00",
        "999",
        "18446744073709551615",
        ".",
        ".",
        ",",
        "_",
        "-",
        "+",
        "\u{2212}",
        " ",
        "\u{a0}",
        "s",
        "ms",
        "µs",
        "ns",
        "min",
        "Mbit/s",
        "GiB",
        "kB",
        "dBm",
        "%",
        "ppm",
        "ft",
        "km",
    ];
    let mut stream = Seed(2026).stream("fuzz", 1);
    for _ in 0..20_000 {
        let text: String = (0..stream.below(7))
            .map(|_| PIECES[stream.below(30) as usize])
            .collect();
        check(text.as_bytes());
    }
}
