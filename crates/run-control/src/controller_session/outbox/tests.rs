//! Rows on slow and full disks.

use super::super::spool_queue::Request;
use super::*;
use crate::disk_queue::DiskThread;
use crate::spool::{SpoolFolder, SpoolHeader, SpoolReader};
use netburn_protocol::messages::Start;
use netburn_record::IntervalRow;
use netburn_units::Instant;
use std::task::{Context, Waker};

fn row(number: u64) -> Row {
    Row::Interval(IntervalRow {
        station: 0,
        workload: 0,
        at: Instant::from_nanos(number as i64),
        bytes_down: number,
        bytes_up: 0,
    })
}

/// Adds a message of one row.
fn add(outbox: &mut Outbox, number: u64) {
    outbox.put(&row(number));
    outbox.seal();
}

/// An outbox with an empty spool. The test takes the place of its thread.
fn stalled() -> (Outbox, DiskThread<Request, Reply>) {
    let (spool, thread) = SpoolQueue::new(0);
    (Outbox::with(Store::Spool(spool)), thread)
}

/// Messages that can be sent without reading.
fn sent(outbox: &mut Outbox) -> Vec<u64> {
    std::iter::from_fn(|| outbox.take_next().unwrap())
        .map(|rows| rows.sequence)
        .collect()
}

/// Handles the replies so far.
fn handle_replies(outbox: &mut Outbox) {
    let mut context = Context::from_waker(Waker::noop());
    while std::pin::pin!(outbox.handle_disk()).poll(&mut context).is_ready() {}
}

fn header() -> SpoolHeader {
    SpoolHeader {
        run: "r".to_owned(),
        name: "a".to_owned(),
        stations: vec![],
        proof: String::new(),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Sends all messages, also those on disk.
async fn drain(outbox: &mut Outbox) -> Vec<u64> {
    let mut all = Vec::new();
    loop {
        all.extend(sent(outbox));
        if !outbox.store.spool().is_some_and(SpoolQueue::is_reading) {
            return all;
        }
        outbox.handle_disk().await;
    }
}

/// The disk is full after three messages. Unacknowledged messages are sent again from disk and from memory.
#[test]
fn rows_beyond_a_full_disk_are_sent_again_from_memory() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path());
    let writer = Writer::create(&folder, &header(), Start { at: 0 }).unwrap();
    block_on(async {
        let mut outbox = Outbox::spooled(writer);
        for number in 1..=6 {
            if number == 4
                && let Store::Spool(spool) = &outbox.store
            {
                spool.fill_disk();
            }
            add(&mut outbox, number);
        }
        // Handles all replies. The end of incomplete messages is not stored.
        outbox.end(&LateResultsEnd::default()).await;
        assert!(outbox.take_storage_error().is_some() && outbox.take_storage_error().is_none());
        assert_eq!(drain(&mut outbox).await, [1, 2, 3, 4, 5, 6]);
        outbox.acknowledged(1);
        outbox.rewind(2);
        assert_eq!(drain(&mut outbox).await, [3, 4, 5, 6]);
        add(&mut outbox, 7);
        assert!(outbox.take_storage_error().is_none(), "reported once");
        assert_eq!(drain(&mut outbox).await, [7]);
        outbox.acknowledged(7);
        assert_eq!(outbox.pending(), 0);
        outbox.rewind(7);
        assert_eq!(drain(&mut outbox).await, [0u64; 0]);
        outbox.close().await;
    });
    // The lock is released.
    let late = SpoolReader::open(&folder, "r", 1).unwrap();
    assert_eq!(late.messages(), 3);
    assert!(late.end().error.is_some(), "the end is missing");
}

#[test]
fn the_end_is_stored_after_all_rows_and_a_delivered_spool_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path());
    let writer = Writer::create(&folder, &header(), Start { at: 0 }).unwrap();
    block_on(async {
        let mut outbox = Outbox::spooled(writer);
        for number in 1..=50 {
            add(&mut outbox, number);
        }
        outbox.request_sync();
        outbox.end(&LateResultsEnd::default()).await;
        outbox.close().await;
        let (writer, spooled) = Writer::resume(&folder, "r").unwrap();
        assert_eq!((spooled.messages, spooled.end.is_some()), (50, true));
        let mut outbox = Outbox::spooled(writer);
        assert_eq!(drain(&mut outbox).await, (1..=50).collect::<Vec<u64>>());
        outbox.acknowledged(50);
        outbox.discard().await;
    });
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_stalled_disk_delays_no_rows() {
    let (mut outbox, mut thread) = stalled();
    for number in 1..=3 {
        add(&mut outbox, number);
    }
    assert_eq!(sent(&mut outbox), [1, 2, 3]);
    outbox.rewind(0);
    assert_eq!(sent(&mut outbox), [1, 2, 3], "again from memory");
    // The thread gets the messages in order. A stored message is read again.
    for number in 1..=3 {
        let Some(Request::Append(message)) = thread.next() else {
            panic!("no message")
        };
        assert_eq!(message.sequence, number);
        if number < 3 {
            thread.reply(Reply::Appended(number, 1));
        }
    }
    handle_replies(&mut outbox);
    outbox.rewind(1);
    assert_eq!(sent(&mut outbox), [0u64; 0]);
    assert!(!outbox.has_next(), "it is being read");
    let Some(Request::Read(2)) = thread.next() else {
        panic!("no request")
    };
    let batch = Batch::default();
    thread.reply(Reply::Read(2, Ok(Some(Rows { sequence: 2, batch }))));
    handle_replies(&mut outbox);
    assert_eq!(sent(&mut outbox), [2, 3], "in order");
}

#[test]
fn a_message_that_is_acknowledged_while_it_is_read_is_not_sent() {
    let (mut outbox, mut thread) = stalled();
    add(&mut outbox, 1);
    assert_eq!(sent(&mut outbox), [1]);
    assert!(matches!(thread.next(), Some(Request::Append(_))));
    thread.reply(Reply::Appended(1, 1));
    handle_replies(&mut outbox);
    outbox.rewind(0);
    assert_eq!(sent(&mut outbox), [0u64; 0]);
    outbox.acknowledged(1);
    thread.reply(Reply::Read(1, Err(io::ErrorKind::InvalidData.into())));
    handle_replies(&mut outbox);
    add(&mut outbox, 2);
    assert_eq!(sent(&mut outbox), [2]);
}

#[test]
fn rows_stay_in_memory_if_the_disk_is_too_slow() {
    let (mut outbox, mut thread) = stalled();
    for number in 0..MAX_MEMORY_ROWS as u64 {
        if outbox.put(&row(number)) {
            outbox.seal();
        }
    }
    assert!(outbox.take_storage_error().is_none());
    add(&mut outbox, 0);
    let error = outbox.take_storage_error().unwrap().to_string();
    assert_eq!(error, "the disk is too slow: 200000 rows wait to be written");
    assert!(outbox.is_kept());
    let messages = outbox.sequence;
    // All messages can be sent, and more once some are acknowledged.
    assert_eq!(sent(&mut outbox), (1..=messages).collect::<Vec<u64>>());
    assert!(!outbox.put(&row(0)));
    outbox.acknowledged(messages);
    assert_eq!((outbox.take_lost(), outbox.pending()), (1, 0));
    add(&mut outbox, 0);
    assert_eq!(sent(&mut outbox), [messages + 1]);
    // The thread gets no message without all earlier ones.
    drop(outbox);
    let mut appended = 0;
    while let Some(Request::Append(message)) = thread.next() {
        appended += 1;
        assert_eq!(message.sequence, appended);
    }
    assert_eq!(appended, messages - 1);
}

#[test]
fn without_its_thread_an_outbox_uses_memory() {
    let (mut outbox, thread) = stalled();
    add(&mut outbox, 1);
    drop(thread);
    handle_replies(&mut outbox);
    assert!(outbox.take_storage_error().is_some() && !outbox.is_kept());
    add(&mut outbox, 2);
    assert_eq!(sent(&mut outbox), [1, 2]);
}
