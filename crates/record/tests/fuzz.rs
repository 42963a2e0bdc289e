//! Replays each corpus, and pseudo-random changes of its files.

mod util;

use netburn_record::spool::SpoolReader;
use netburn_record::{Row, fuzz};
use proptest::prelude::*;
use std::io::{self, Write};
use std::path::PathBuf;
use util::{any_row, spool};

/// The files of a corpus, and `count` inputs made from them.
fn replay(target: &str, count: usize, mut check: impl FnMut(&[u8])) {
    let corpus = fuzz::corpus(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target));
    assert!(corpus.len() >= 8, "the corpus of {target} is there");
    for bytes in &corpus {
        check(bytes);
    }
    for (number, mut bytes) in fuzz::mutations(&corpus).take(count).enumerate() {
        // Most changes would end at a wrong CRC. With a correct one they reach the payloads.
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
    replay("spool", 3000, fuzz::check_spool);
}

#[test]
fn writers() {
    replay("writer", 3000, fuzz::check_writer);
}

#[test]
fn watched_machines() {
    replay("watched", 3000, fuzz::check_watched);
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
