//! Replays the corpus, and as many random inputs.

mod util;

use netburn_record::spool::{Disk, SpoolReader, SpoolWriter};
use netburn_record::{Row, Sink, fuzz};
use netburn_units::Seed;
use proptest::prelude::*;
use std::io::{self, Write};
use std::path::PathBuf;
use util::{any_air, any_row, any_row_but_air};

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// `count` inputs: corpus files changed at some places, and plain noise.
fn by_chance(target: &str, count: u64, mut check: impl FnMut(&[u8])) {
    let corpus = corpus(target);
    assert!(corpus.len() >= 8, "the corpus of {target} is there");
    for (_, bytes) in &corpus {
        check(bytes);
    }
    let mut chance = Seed(7).stream("fuzz", 0);
    for number in 0..count {
        let mut bytes = match number % 8 {
            0 => (0..chance.below(400)).map(|_| chance.next_u64() as u8).collect(),
            _ => corpus[chance.below(corpus.len() as u64) as usize].1.clone(),
        };
        for _ in 0..chance.below(4) {
            let Some(last) = (bytes.len() as u64).checked_sub(1) else {
                break;
            };
            let at = chance.below(last + 1) as usize;
            match chance.below(4) {
                0 => bytes[at] = chance.next_u64() as u8,
                1 => bytes[at] ^= 1 << chance.below(8),
                2 => bytes.truncate(at),
                _ => {
                    let part = bytes[at..].to_vec();
                    bytes.extend(part);
                }
            }
        }
        // Most changes would end at a wrong CRC: put right, they reach the payloads.
        if number % 2 == 0 {
            put_crcs_right(&mut bytes);
        }
        check(&bytes);
    }
}

/// Gives every frame, as far as lengths can be followed, the CRC that it should have.
fn put_crcs_right(bytes: &mut [u8]) {
    let mut at = 12;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let Some(end) = at
            .checked_add(5 + length)
            .filter(|end| end.saturating_add(4) <= bytes.len())
        else {
            return;
        };
        let crc = crc32fast::hash(&bytes[at..end]);
        bytes[end..end + 4].copy_from_slice(&crc.to_le_bytes());
        at = end + 4;
    }
}

#[test]
fn spools() {
    by_chance("spool", 3000, fuzz::check_spool);
}

#[test]
fn writers() {
    by_chance("writer", 3000, fuzz::check_writer);
}

#[test]
fn watched_machines() {
    by_chance("watched", 3000, fuzz::check_watched);
}

#[derive(Default)]
struct Memory(Vec<u8>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Memory {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn spool(rows: &[Row]) -> Vec<u8> {
    let mut writer = SpoolWriter::create(Memory::default(), "{}").unwrap();
    for row in rows {
        writer.put(row).unwrap();
    }
    writer.sync().unwrap();
    writer.into_disk().0
}

/// Bytes of a file from the beginning, independent of its position.
struct Growing(std::fs::File, u64);

impl io::Read for Growing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(&self.0, into, self.1)?;
        self.1 += read as u64;
        Ok(read)
    }
}

/// The rows of a spool and how many bytes were dropped.
fn read(bytes: &[u8]) -> (Vec<Row>, u64) {
    let mut reader = SpoolReader::open(bytes).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row().unwrap() {
        rows.push(row);
    }
    (rows, reader.end().unwrap().dropped)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Cut at any byte, a spool gives the rows that are whole and counts the rest.
    #[test]
    fn a_truncated_spool_gives_a_prefix(rows in prop::collection::vec(any_row(), 0..8)) {
        let whole = spool(&rows);
        prop_assert_eq!(read(&whole), (rows.clone(), 0));
        let ends: Vec<usize> = (0..=rows.len()).map(|count| spool(&rows[..count]).len()).collect();
        for cut in ends[0]..whole.len() {
            let kept = ends.iter().rposition(|end| *end <= cut).unwrap();
            prop_assert_eq!(read(&whole[..cut]), (rows[..kept].to_vec(), (cut - ends[kept]) as u64));
        }
    }

    /// A reader of a growing spool gets every row once, as soon as it is complete.
    #[test]
    fn a_spool_that_grows_is_followed(rows in prop::collection::vec(any_row(), 0..8), steps in prop::collection::vec(1_usize..90, 1..40)) {
        let whole = spool(&rows);
        let ends: Vec<usize> = (0..=rows.len()).map(|count| spool(&rows[..count]).len()).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&whole[..ends[0]]).unwrap();
        let mut written = ends[0];
        let reader = file.try_clone().unwrap();
        let mut follower = SpoolReader::open(Growing(reader, 0)).unwrap();
        let mut got = Vec::new();
        for step in steps.into_iter().chain([whole.len()]) {
            let to = (written + step).min(whole.len());
            file.write_all(&whole[written..to]).unwrap();
            written = to;
            while let Some(row) = follower.next_row_so_far().unwrap() {
                got.push(row);
            }
            let wanted = ends.iter().rposition(|end| *end <= written).unwrap();
            prop_assert_eq!(&got, &rows[..wanted]);
        }
    }

    /// With any flipped bit, the rows before it are returned.
    #[test]
    fn a_flipped_bit_ends_a_spool(rows in prop::collection::vec(any_row(), 1..8), at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut bytes = spool(&rows);
        let ends: Vec<usize> = (0..=rows.len()).map(|count| spool(&rows[..count]).len()).collect();
        let at = ends[0] + at.index(bytes.len() - ends[0]);
        bytes[at] ^= 1_u8 << bit;
        let kept = ends.iter().rposition(|end| *end <= at).unwrap();
        let (found, dropped) = read(&bytes);
        prop_assert_eq!(&found[..], &rows[..kept]);
        prop_assert_eq!(dropped, (bytes.len() - ends[kept]) as u64);
    }
}

/// Writes the corpus on request: `NETBURN_WRITE_CORPUS=1 cargo test -p netburn-record --test fuzz
/// write_corpus`.
#[test]
fn write_corpus() {
    if std::env::var_os("NETBURN_WRITE_CORPUS").is_none() {
        return;
    }
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
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
