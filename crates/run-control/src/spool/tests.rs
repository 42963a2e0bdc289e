//! Truncated and damaged spools.

use super::*;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Batch, Rows, Start};
use netburn_record::{IntervalRow, Row};
use netburn_units::Instant;
use proptest::prelude::*;

fn rows(sequence: u64) -> Rows {
    let mut batch = Batch::default();
    for number in 0..sequence % 7 + 1 {
        batch.push(&Row::Interval(IntervalRow {
            station: 0,
            workload: 0,
            at: Instant::from_millis(sequence as i64 * 1000 + number as i64 * 100),
            bytes_down: sequence,
            bytes_up: number,
        }));
    }
    Rows { sequence, batch }
}

fn about() -> SpoolHeader {
    SpoolHeader {
        run: "r".to_owned(),
        name: "tv".to_owned(),
        stations: vec!["tv".to_owned()],
        proof: String::new(),
    }
}

/// A spool of `messages` messages, with or without an end.
fn spool(folder: &SpoolFolder, messages: u64, ended: bool) -> PathBuf {
    let mut writer = Writer::create(folder, &about(), Start { at: 7 }).unwrap();
    for sequence in 1..=messages {
        writer.rows(&rows(sequence)).unwrap();
    }
    if ended {
        let end = LateResultsEnd {
            run: "r".to_owned(),
            error: None,
            health: None,
            stop_requested_at: None,
            proof: String::new(),
        };
        writer.end(&end).unwrap();
    }
    folder.path().join("r.spool")
}

/// Content of a spool.
fn read(folder: &SpoolFolder, from: u64) -> Vec<Rows> {
    let mut late = SpoolReader::open(folder, "r", from).unwrap();
    let mut got = Vec::new();
    while let Some(late) = late.next().unwrap() {
        let (sequence, batch) = (late.sequence, late.batch);
        got.push(Rows { sequence, batch });
    }
    got
}

#[test]
fn a_spool_is_read_from_any_message_on() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path().join("made"));
    assert_eq!(pending(&folder), []);
    spool(&folder, 20, true);
    assert_eq!(read(&folder, 1), (1..=20).map(rows).collect::<Vec<_>>());
    assert_eq!(read(&folder, 15), (15..=20).map(rows).collect::<Vec<_>>());
    assert_eq!(read(&folder, 21), []);
    assert_eq!(SpoolReader::open(&folder, "r", 1).unwrap().end().error, None);
    assert!(
        Writer::create(&folder, &about(), Start { at: 7 }).is_err(),
        "there is one"
    );
    let (mut writer, spooled) = Writer::resume(&folder, "r").unwrap();
    assert_eq!((spooled.messages, spooled.end.is_some()), (20, true));
    assert_eq!(writer.message(3).unwrap(), Some(rows(3)));
    assert_eq!((writer.message(0).unwrap(), writer.message(21).unwrap()), (None, None));
    // While an agent has it open, no other process can.
    assert!(SpoolReader::open(&folder, "r", 1).is_err() && remove(&folder, "r").is_err());
    assert_eq!(pending(&folder), []);
    writer.rows(&rows(21)).unwrap();
    writer.sync().unwrap();
    drop(writer);
    assert_eq!(read(&folder, 21), [rows(21)]);
    remove(&folder, "r").unwrap();
    assert_eq!(pending(&folder), []);
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_spool() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path().join("made"));
    spool(&folder, 1, false);
    let mode = std::fs::metadata(folder.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_run_is_called_so_that_it_leads_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path());
    assert!(SpoolReader::open(&folder, "../x", 1).is_err() && remove(&folder, "../x").is_err());
}

#[test]
fn a_file_of_something_else_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path());
    for bytes in [
        &b""[..],
        b"nbagent\n",
        b"nbspool\n\x01\0\0\0",
        b"nbagent\n\x02\0\0\0",
        b"nbagent\n\x01\0\0\0\xff\xff\xff\xff\0",
    ] {
        std::fs::write(dir.path().join("r.spool"), bytes).unwrap();
        assert!(SpoolReader::open(&folder, "r", 1).is_err(), "{bytes:?}");
        assert!(Writer::resume(&folder, "r").is_err(), "{bytes:?}");
        assert_eq!(pending(&folder), []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Truncated or changed anywhere behind the header: the frames before are read, and a resumed spool
    /// continues after them.
    #[test]
    fn a_truncated_spool_is_read_up_to_the_truncation(cut in any::<prop::sample::Index>(), flip in any::<Option<u8>>()) {
        let dir = tempfile::tempdir().unwrap();
        let folder = SpoolFolder::new(dir.path());
        let path = spool(&folder, 12, true);
        let header = {
            let file = std::fs::File::open(&path).unwrap();
            super::read::Source::open(file).unwrap().at()
        };
        let mut bytes = std::fs::read(&path).unwrap();
        let at = header as usize + cut.index(bytes.len() - header as usize);
        match flip {
            Some(flip) => bytes[at] ^= flip | 1,
            None => bytes.truncate(at),
        }
        std::fs::write(&path, &bytes).unwrap();
        let got = read(&folder, 1);
        prop_assert_eq!(&got, &(1..=got.len() as u64).map(rows).collect::<Vec<_>>());
        let (mut writer, spooled) = Writer::resume(&folder, "r").unwrap();
        prop_assert_eq!(spooled.messages, got.len() as u64);
        let next = rows(spooled.messages + 1);
        writer.rows(&next).unwrap();
        prop_assert_eq!(writer.message(next.sequence).unwrap(), Some(next.clone()));
        drop(writer);
        prop_assert_eq!(read(&folder, next.sequence), [next]);
    }
}
