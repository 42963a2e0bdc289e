//! Writes the corpus of the fuzz targets `spool`, `writer` and `watched`.
//!
//! `cargo run -p netburn-record --example write-record-corpus`

#[path = "../tests/util/mod.rs"]
mod util;

use netburn_record::Row;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::path::PathBuf;
use util::{any_air, any_row_but_air, spool};

fn main() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let write = |target: &str, name: String, bytes: &[u8]| {
        std::fs::create_dir_all(folder.join(target)).unwrap();
        std::fs::write(folder.join(target).join(name), bytes).unwrap();
    };
    write("spool", "empty".into(), &spool(&[]));
    write("spool", "not-a-spool".into(), b"{\"schema\": \"netburn.run/1\"}");
    let mut newer = spool(&[]);
    newer[8] = 2;
    write("spool", "newer".into(), &newer);
    write("spool", "good-run".into(), &spool(&util::good_rows()[..60]));
    let mut endless = spool(&[]);
    endless.extend([0xff, 0xff, 0xff, 0x7f, 1, 0]);
    write("spool", "endless-frame".into(), &endless);
    for number in 0..8 {
        let rows = prop::collection::vec(any_row_but_air(), 1..6)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let whole = spool(&rows);
        let cut = if number % 2 == 0 { 0 } else { number * 3 };
        write("spool", format!("rows-{number}"), &whole[..whole.len() - cut]);
    }
    let mut air = |count| {
        prop::collection::vec(any_air(), count)
            .new_tree(&mut runner)
            .unwrap()
            .current()
    };
    write("spool", "air".into(), &spool(&air(4)));
    let mixed: Vec<Row> = util::good_rows().into_iter().take(6).chain(air(3)).collect();
    let mixed = spool(&mixed);
    write("spool", "air-torn".into(), &mixed[..mixed.len() - 7]);
    for (name, bytes) in [
        ("nothing", &[][..]),
        ("header-does-not-fit", &[0, 1, 2, 240]),
        ("never-full", &[255, 1, 2, 3, 240, 198, 199, 210, 239, 4]),
        ("full-at-once", &[1, 199, 199, 199, 250, 199, 250]),
        ("full-in-a-row", &[3, 101, 103, 250, 105, 107, 250, 1, 250]),
        ("synced-then-full", &[8, 21, 250, 23, 250, 199, 199, 250, 199]),
        ("by-time", &[9, 21, 239, 23, 239, 25, 239, 27, 239, 199, 239, 199, 239]),
        ("only-time", &[255, 239, 239, 201, 201, 201]),
    ] {
        write("writer", name.into(), bytes);
    }
    // The second byte of a pair is elapsed time in units of 4 ms; `check_watched` describes the
    // others.
    let (second, take) = ([0, 250], [230, 0]);
    let bytes = |shift: u8, size: u8| [112 + shift, size];
    let end = |number: u8| [160, number];
    for (name, machine, steps) in [
        ("nothing", 0, &[][..]),
        (
            "browsing-well",
            0,
            &[
                second,
                second,
                second,
                bytes(15, 255),
                end(0),
                end(0),
                end(0),
                take,
                second,
            ],
        ),
        ("browsing-left-alone", 0, &[second; 15]),
        (
            "browsing-failing",
            0,
            &[second, second, second, [200, 0], [200, 1], second, [201, 0], take],
        ),
        (
            "stream-stalls",
            1,
            &[
                bytes(15, 255),
                second,
                take,
                second,
                second,
                bytes(15, 255),
                second,
                take,
            ],
        ),
        (
            "stream-without-pause",
            1,
            &[bytes(15, 255), end(0), bytes(15, 255), end(0), take, second, take],
        ),
        (
            "voice-late",
            2,
            &[second, second, end(3), end(2), end(1), end(0), take, second, take],
        ),
        (
            "voice-stopped",
            2,
            &[second, bytes(4, 9), [255, 0], take, bytes(4, 9), second],
        ),
        (
            "upload-in-tenths",
            3,
            &[
                bytes(9, 77),
                [0, 26],
                bytes(9, 1),
                [0, 26],
                [211, 0],
                bytes(0, 0),
                second,
                take,
            ],
        ),
        (
            "bytes-before-zero",
            3,
            &[
                bytes(0, 1),
                [0, 24],
                bytes(1, 1),
                [0, 2],
                bytes(2, 1),
                second,
                bytes(3, 1),
            ],
        ),
    ] {
        let steps = steps.iter().flatten().copied();
        write(
            "watched",
            name.into(),
            &[machine].into_iter().chain(steps).collect::<Vec<u8>>(),
        );
    }
}
