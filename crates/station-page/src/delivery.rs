//! Delivery of a run's rows: each batch is stored, sent, and kept until the controller acknowledges it.

use crate::event::CountedBatch;
use crate::host::{Host, row_key};
use crate::stored;
use netburn_protocol::clock::Stamp;
use netburn_units::Duration;
use std::collections::VecDeque;

/// Maximum size of unacknowledged batches in the browser's store, in bytes. Further batches stay in memory.
const MAX_STORED: usize = 2_000_000;
/// Time limit for the confirmation of a write. A page in the background may be slow.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum size of unacknowledged batches of a run, in bytes of JSON: about an hour of four workloads.
pub(crate) const MAX_PENDING: usize = 64 << 20;
/// Maximum sequence number of a run: that of 30 days, the longest run, with twelve batches a second.
pub(crate) const MAX_SEQUENCE: u64 = 1 << 25;

/// Batch with its sequence number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) sequence: u64,
    pub(crate) rows: usize,
    /// The batch in JSON.
    pub(crate) batch: String,
}

/// Batches of a run that are not acknowledged.
#[derive(Default)]
pub(crate) struct Delivery {
    run: String,
    pub(crate) messages: VecDeque<Message>,
    /// Sequence numbers: the last batch made, sent on this connection, and written to the store.
    pub(crate) sequence: u64,
    sent: u64,
    persisted: u64,
    /// Bytes of unacknowledged batches in the store.
    stored: usize,
    /// Write that is not confirmed, and the end of the wait for it.
    writing: Option<(u64, Stamp)>,
}

/// Entries of the store.
type Writes = Vec<(String, Option<String>)>;

impl Delivery {
    /// Creates the delivery of a run without rows.
    pub(crate) fn new(run: &str) -> Delivery {
        Delivery {
            run: run.to_owned(),
            ..Delivery::default()
        }
    }

    /// Continues with the stored batches of a run, whose last sequence number was `sequence`.
    pub(crate) fn restore(host: &Host, run: &str, sequence: u64) -> Delivery {
        let rows = host.rows(run).into_iter();
        let messages = rows
            .filter(|(sequence, _)| *sequence <= MAX_SEQUENCE)
            .filter_map(|(sequence, text)| {
                Some(Message {
                    sequence,
                    rows: stored::count(&text)?,
                    batch: text,
                })
            });
        let mut messages: Vec<Message> = messages.collect();
        messages.sort_by_key(|message| message.sequence);
        // The state is an entry of its own: it may be older than the last batch.
        let last = messages.last().map_or(0, |message| message.sequence);
        let sequence = sequence.min(MAX_SEQUENCE).max(last);
        Delivery {
            stored: messages.iter().map(|message| message.batch.len()).sum(),
            messages: messages.into(),
            sequence,
            persisted: sequence,
            ..Delivery::new(run)
        }
    }

    /// Number of unacknowledged rows.
    pub(crate) fn pending(&self) -> u64 {
        self.messages.iter().map(|message| message.rows as u64).sum()
    }

    /// Size of unacknowledged batches, in bytes of JSON.
    pub(crate) fn size(&self) -> usize {
        self.messages.iter().map(|message| message.batch.len()).sum()
    }

    /// Returns whether the unacknowledged batches have reached their maximum size.
    pub(crate) fn is_full(&self) -> bool {
        self.size() >= MAX_PENDING
    }

    /// Returns whether a write is not confirmed.
    pub(crate) const fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Adds batches. Returns the entries to store.
    pub(crate) fn add(&mut self, batches: Vec<CountedBatch>) -> Writes {
        let mut entries = Writes::new();
        for CountedBatch { rows, batch } in batches {
            self.sequence += 1;
            let sequence = self.sequence;
            let batch = serde_json::to_string(&batch).expect("rows have finite numbers");
            if self.stored + batch.len() <= MAX_STORED {
                self.stored += batch.len();
                entries.push((row_key(&self.run, sequence), Some(batch.clone())));
            }
            self.messages.push_back(Message { sequence, rows, batch });
        }
        entries
    }

    /// Stores entries. No batch is sent before the write is complete, so that a reload never sends different rows under the same
    /// sequence number.
    pub(crate) fn write(&mut self, host: &mut Host, entries: Writes) {
        let number = host.put(entries);
        self.writing = Some((number, host.now.after(WRITE_TIMEOUT)));
    }

    /// Write `number` is complete. Returns whether it was the last one.
    pub(crate) fn handle_stored(&mut self, number: u64) -> bool {
        self.writing.take_if(|(writing, _)| *writing == number).is_some()
    }

    /// Returns whether the last write is given up at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Stamp) -> bool {
        self.writing.take_if(|(_, until)| *until <= now).is_some()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Stamp> {
        self.writing.map(|(_, until)| until)
    }

    /// All batches so far are in the store, as far as they have room.
    pub(crate) fn handle_persisted(&mut self) {
        self.persisted = self.sequence;
    }

    /// Returns the next batch to send on this connection.
    pub(crate) fn poll_send(&mut self) -> Option<(u64, &str)> {
        let mut waiting = self.messages.iter();
        let next = waiting.find(|message| message.sequence > self.sent && message.sequence <= self.persisted)?;
        self.sent = next.sequence;
        Some((next.sequence, &next.batch))
    }

    /// The controller has all batches up to `sequence`. Returns false if none of them was still here.
    pub(crate) fn handle_acknowledged(&mut self, host: &mut Host, sequence: u64) -> bool {
        let mut entries = Writes::new();
        self.messages.retain(|message| {
            let is_open = message.sequence > sequence;
            if !is_open {
                self.stored = self.stored.saturating_sub(message.batch.len());
                entries.push((row_key(&self.run, message.sequence), None));
            }
            is_open
        });
        let any = !entries.is_empty();
        if any {
            host.put(entries);
        }
        any
    }

    /// A new connection continues after sequence number `last`. Batches get consecutive numbers after it. Returns false if some
    /// are missing: a reload leaves a gap if the store could not hold all pending batches.
    pub(crate) fn handle_connected(&mut self, host: &mut Host, last: u64) -> bool {
        self.sent = last;
        let numbers = last + 1..;
        let is_complete = self
            .messages
            .iter()
            .zip(numbers.clone())
            .all(|(message, number)| message.sequence == number);
        if is_complete && self.sequence >= last {
            return true;
        }
        // By key, so that a new entry replaces an old one.
        let mut entries: std::collections::BTreeMap<String, Option<String>> = self
            .messages
            .iter()
            .map(|message| (row_key(&self.run, message.sequence), None))
            .collect();
        for (message, number) in self.messages.iter_mut().zip(numbers) {
            message.sequence = number;
            entries.insert(row_key(&self.run, number), Some(message.batch.clone()));
        }
        self.sequence = last + self.messages.len() as u64;
        self.persisted = self.sequence;
        host.put(entries.into_iter().collect());
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Loaded;
    use netburn_protocol::messages::Batch;
    use netburn_record::{IntervalRow, Row};

    fn batch() -> CountedBatch {
        let mut batch = Batch::default();
        batch.push(&Row::Interval(IntervalRow::default()));
        CountedBatch { rows: 1, batch }
    }

    fn sent(delivery: &mut Delivery) -> Vec<u64> {
        std::iter::from_fn(|| delivery.poll_send().map(|(sequence, _)| sequence)).collect()
    }

    fn delivery(host: &mut Host, batches: usize) -> Delivery {
        let mut delivery = Delivery::new("r");
        let entries = delivery.add(vec![batch(); batches]);
        delivery.write(host, entries);
        delivery
    }

    #[test]
    fn a_batch_is_sent_after_its_write_and_again_on_a_new_connection() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let mut delivery = delivery(&mut host, 3);
        assert!(sent(&mut delivery).is_empty());
        assert!(!delivery.handle_stored(99), "another write");
        assert!(delivery.handle_stored(1));
        delivery.handle_persisted();
        assert_eq!(sent(&mut delivery), [1, 2, 3]);
        assert_eq!((delivery.pending(), sent(&mut delivery)), (3, vec![]));
        assert!(delivery.handle_acknowledged(&mut host, 1));
        assert!(!delivery.handle_acknowledged(&mut host, 1), "a second time");
        assert!(delivery.handle_connected(&mut host, 1));
        assert_eq!(sent(&mut delivery), [2, 3]);
        let keys: Vec<String> = host.entries("rows.r.").into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["2", "3"]);
    }

    #[test]
    fn a_write_without_confirmation_is_given_up_after_two_seconds() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let mut delivery = delivery(&mut host, 1);
        let until = delivery.poll_timeout().unwrap();
        assert_eq!(until, Stamp(2_000_000_000));
        assert!(!delivery.handle_timeout(Stamp(1_999_999_999)) && delivery.is_writing());
        assert!(delivery.handle_timeout(until) && !delivery.is_writing());
    }

    #[test]
    fn batches_after_a_gap_get_consecutive_numbers() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        drop(delivery(&mut host, 4));
        // The store lost the second one.
        host.put(vec![("rows.r.2".to_owned(), None)]);
        let mut delivery = Delivery::restore(&host, "r", 4);
        assert_eq!(delivery.pending(), 3);
        assert!(!delivery.handle_connected(&mut host, 0));
        assert_eq!(sent(&mut delivery), [1, 2, 3]);
        let keys: Vec<String> = host.entries("rows.r.").into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["1", "2", "3"]);
    }

    /// The browser stores each entry alone, so it can have a batch and not the state of the same write.
    #[test]
    fn the_next_batch_follows_the_last_one_that_is_stored() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        drop(delivery(&mut host, 3));
        let mut delivery = Delivery::restore(&host, "r", 2);
        let entries = delivery.add(vec![batch()]);
        assert_eq!(entries[0].0, "rows.r.4");
    }

    #[test]
    fn a_run_has_a_maximum_size_of_rows_without_an_acknowledgement() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let mut delivery = delivery(&mut host, 2);
        assert!(!delivery.is_full());
        delivery.messages[0].batch = " ".repeat(MAX_PENDING);
        assert!(delivery.is_full());
        delivery.handle_acknowledged(&mut host, 1);
        assert!(!delivery.is_full());
    }

    #[test]
    fn a_full_store_keeps_further_batches_in_memory() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let mut delivery = delivery(&mut host, 1);
        delivery.stored = MAX_STORED;
        assert_eq!(delivery.add(vec![batch()]), []);
        assert_eq!(delivery.pending(), 2);
    }
}
