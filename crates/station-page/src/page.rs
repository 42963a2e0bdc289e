//! One assignment of the page.

use crate::assignment::Assignment;
use crate::card;
use crate::drive::{Drive, SavedDrive};
use crate::event::{Assigned, Card, CountedBatch, Event, Reply};
use crate::limitations::{notes, obstacle};
use crate::load::Load;
use crate::result::WorkloadResult;
use netburn_protocol::messages::Batch;
use netburn_record::row::BASELINE;
use netburn_record::{EventKind, EventRow, Health, Row};
use netburn_units::{ByteSize, Instant};
use netburn_workload::Config;
use netburn_workload::kinds::{Periodic, Probe};
use serde::Deserialize;

/// Measurement of one assignment.
///
/// **Call order:** after every `handle_*`, execute the commands of the reply, send the datagrams of
/// [`poll_transmit`](Self::poll_transmit), and pass [`Event::Timeout`] at the time of the reply.
#[derive(Default)]
pub struct Page {
    assignment: Option<Assignment>,
    channel_error: Option<String>,
    ports: usize,
    /// Workloads that the browser can't run, with the reason.
    skipped: Vec<(Load, String)>,
    load: Option<Drive>,
    idle: Option<Drive>,
    results: Vec<WorkloadResult>,
    /// Rows that are in no batch yet.
    rows: Vec<Row>,
}

impl Page {
    /// Creates a page without an assignment.
    #[must_use]
    pub fn new() -> Self {
        Page::default()
    }

    /// Handles an event at `now`, in the time of the run.
    pub fn handle(&mut self, now: Instant, event: Event) -> Reply {
        let mut reply = Reply::default();
        match event {
            Event::Assign(assign) => match Assignment::read(*assign) {
                Ok(assignment) => {
                    reply.assignment = Some(assigned(&assignment));
                    *self = Page {
                        assignment: Some(assignment),
                        ..Page::default()
                    };
                }
                Err(error) => reply.error = Some(error),
            },
            Event::Ready {
                channel_error,
                ports,
                resolution,
            } => {
                let loads = self.assignment.as_ref().map(|all| all.loads(ports)).unwrap_or_default();
                reply.notes = notes(&loads, resolution, channel_error.as_deref(), ports);
                (self.channel_error, self.ports) = (channel_error, ports);
            }
            Event::Start {
                channel,
                random,
                saved,
                results,
                over,
            } => {
                self.start(now, saved, results.as_ref(), over);
                if let Some(load) = self.load.as_mut().filter(|_| !over) {
                    let mut numbers = random.into_iter();
                    load.open(now, channel, || numbers.next().unwrap_or_default());
                }
            }
            Event::Idle { until } => self.measure_idle(now, Instant::from_nanos(until)),
            Event::Timeout => self.drives(|drive| drive.handle_timeout(now)),
            Event::Connected { request, at } => {
                let at = Instant::from_nanos(at);
                self.drives(|drive| drive.handle_connected(now, request, at));
            }
            Event::Bytes { request, bytes } => self.drives(|drive| drive.handle_bytes(now, request, bytes)),
            Event::Finished { request } => self.drives(|drive| drive.handle_finished(now, request)),
            Event::Failed { request, failure } => self.drives(|drive| drive.handle_failed(now, request, failure)),
            Event::Unsent { count } => {
                if let Some(load) = &mut self.load {
                    load.handle_unsent(count);
                }
            }
            Event::Warn { from, length, text } => self.warn(Instant::from_nanos(from), length, &text),
            Event::Flush => {
                self.take_rows(now);
                reply.batches = batches(&std::mem::take(&mut self.rows));
            }
            Event::Stop => self.drives(|drive| drive.handle_stop(now)),
            Event::Abandon => {
                self.take_rows(now);
                self.drives(|drive| reply.commands.extend(drive.abandon()));
            }
            Event::Save => {
                // Operations that are due by `now` belong to the saved state.
                self.drives(|drive| drive.handle_timeout(now));
                self.take_rows(now);
                let load = self.load.as_ref();
                reply.saved = load.and_then(|load| serde_json::to_value(load.save(now)).ok());
            }
            Event::Results => {
                reply.saved = Some(self.results.iter().map(WorkloadResult::save).collect());
            }
            Event::View { live } => {
                self.take_rows(now);
                reply.cards = self.cards(now, live);
            }
            Event::Health { name } => reply.health = self.health(name),
        }
        self.finish(now, &mut reply);
        reply
    }

    /// Handles a datagram of the data channel.
    pub fn handle_datagram(&mut self, now: Instant, bytes: &[u8]) -> Reply {
        if let Some(load) = &mut self.load {
            load.handle_datagram(now, bytes);
        }
        let mut reply = Reply::default();
        self.finish(now, &mut reply);
        reply
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.load.as_mut()?.poll_transmit()
    }

    fn drives(&mut self, mut input: impl FnMut(&mut Drive)) {
        for drive in self.idle.iter_mut().chain(&mut self.load) {
            input(drive);
        }
    }

    /// Completes a reply with what every event can cause.
    fn finish(&mut self, now: Instant, reply: &mut Reply) {
        let mut timeout: Option<Instant> = None;
        self.drives(|drive| {
            reply.commands.extend(drive.take_commands());
            timeout = timeout.into_iter().chain(drive.poll_timeout()).min();
        });
        if let Some(ended) = self.idle.take_if(|idle| idle.has_ended()) {
            self.put_rows(ended, now);
        }
        reply.timeout = timeout.map(Instant::as_nanos);
        reply.settled = self.load.as_ref().is_some_and(Drive::has_ended);
    }

    fn put_rows(&mut self, mut drive: Drive, now: Instant) {
        self.rows.extend(drive.take_rows(now));
    }

    /// Creates the workloads. `is_over`: all of them have ended before a reload, so that none runs again and no row follows.
    fn start(
        &mut self,
        now: Instant,
        saved: Option<serde_json::Value>,
        results: Option<&serde_json::Value>,
        is_over: bool,
    ) {
        let Some(assignment) = &self.assignment else { return };
        let mut loads = Vec::new();
        for load in assignment.loads(self.ports) {
            match obstacle(&load.config, self.channel_error.as_deref()) {
                None => loads.push(load),
                Some(reason) => {
                    if saved.is_none() && !is_over {
                        let text = format!("skipped: {reason}");
                        self.rows
                            .push(warning(load.station, Some(load.workload), now, 0, &text));
                    }
                    self.skipped.push((load, reason));
                }
            }
        }
        let saved = saved.and_then(|saved| SavedDrive::deserialize(saved).ok());
        let fresh = Drive::new(loads.clone(), assignment.plan.seed, 1, now, None);
        self.results = (0..loads.len())
            .map(|at| {
                let Load { start, end, .. } = loads[at];
                let place = (loads[at].station, loads[at].workload);
                WorkloadResult::new(place, fresh.machine(at), start, end, assignment.warm())
            })
            .collect();
        if let Some(serde_json::Value::Array(list)) = results {
            for (result, saved) in self.results.iter_mut().zip(list) {
                result.restore(saved);
            }
        }
        let mut drive = match saved {
            Some(saved) => Drive::new(loads, assignment.plan.seed, 1, now, Some(saved)),
            None => fresh,
        };
        if is_over {
            drop(drive.abandon());
        }
        self.load = Some(drive);
    }

    /// Measures idle latency with requests of one byte, as an agent does without datagrams.
    fn measure_idle(&mut self, now: Instant, until: Instant) {
        let Some(assignment) = &self.assignment else { return };
        let config = Config::with(|calls: &mut Periodic| {
            calls.requests.object_size = ByteSize::from_bytes(1);
            calls.grid = Probe::default().grid;
        });
        let config = Config {
            goals: Vec::new(),
            timeout: Config::probe().timeout,
            ..config
        };
        let text = "idle latency is measured with one-byte HTTP requests";
        let loads = assignment.stations.iter().map(|&station| Load {
            station,
            workload: BASELINE,
            station_name: String::new(),
            name: String::new(),
            config: config.clone(),
            cc: None,
            start: now,
            end: until,
            settle: until,
            lane: 0,
        });
        let warnings = assignment.stations.iter();
        let warnings = warnings.map(|&station| warning(station, Some(BASELINE), now, 0, text));
        self.rows.extend(warnings);
        // Numbers of both phases differ.
        let next = self.load.as_ref().map_or(1, Drive::next_request) + (1 << 40);
        let mut idle = Drive::new(loads.collect(), assignment.plan.seed, next, now, None);
        idle.open(now, false, || 0);
        self.idle = Some(idle);
    }

    fn warn(&mut self, from: Instant, length: u64, text: &str) {
        let stations = self.assignment.iter().flat_map(|assignment| &assignment.stations);
        let rows = stations.map(|&station| warning(station, None, from, length, text));
        self.rows.extend(rows);
    }

    /// Collects the rows of all workloads, and counts them for the results.
    fn take_rows(&mut self, now: Instant) {
        let before = self.rows.len();
        let mut rows = Vec::new();
        self.drives(|drive| rows.extend(drive.take_rows(now)));
        self.rows.extend(rows);
        for row in &self.rows[before..] {
            self.results.iter_mut().for_each(|result| result.put(row));
        }
    }

    fn cards(&self, now: Instant, live: bool) -> Vec<Card> {
        let (Some(assignment), Some(drive)) = (&self.assignment, &self.load) else {
            return Vec::new();
        };
        let end = Instant::ZERO + assignment.duration();
        let at = if live { now.min(end) } else { end };
        let measured = drive.loads.iter().zip(&self.results).enumerate();
        let measured = measured.map(|(index, (load, result))| {
            let machine = live.then(|| drive.machine(index));
            let values = result.values(at);
            card::measured(&load.name, &load.config, &values, machine, drive.unconnected[index])
        });
        let skipped = self.skipped.iter();
        let skipped = skipped.map(|(load, reason)| card::skipped(&load.name, &load.config, reason));
        measured.chain(skipped).collect()
    }

    /// A browser measures neither its processor nor standstills.
    fn health(&self, name: String) -> Option<Health> {
        let stations = self.assignment.as_ref()?.names();
        let report = self.load.as_ref()?.report();
        Some(Health {
            standstill_us_max: None,
            cpu: None,
            ..report.health(&name, stations, None)
        })
    }
}

fn assigned(assignment: &Assignment) -> Assigned {
    let loads = assignment.loads(1);
    let needs_channel = |load: &Load| load.config.kind().is_datagram() && obstacle(&load.config, None).is_none();
    Assigned {
        title: assignment.title(),
        duration: assignment.plan.duration.as_nanos(),
        baseline: assignment.plan.baseline.as_nanos(),
        tls: assignment.plan.server.tls,
        needs_channel: loads.iter().any(needs_channel),
        workloads: loads.len(),
    }
}

fn warning(station: u16, workload: Option<u16>, at: Instant, length: u64, text: &str) -> Row {
    Row::Event(EventRow {
        station: Some(station),
        workload,
        at,
        length,
        kind: EventKind::Warning,
        detail: text.into(),
    })
}

fn batches(rows: &[Row]) -> Vec<CountedBatch> {
    let mut batches = Vec::new();
    let mut batch = Batch::default();
    for row in rows {
        batch.push(row);
        if batch.is_full() {
            batches.push(std::mem::take(&mut batch));
        }
    }
    batches.push(batch);
    let batches = batches.into_iter().filter(|batch| !batch.is_empty());
    batches
        .map(|batch| CountedBatch {
            rows: batch.len(),
            batch,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::{MAX_BATCH_EVENTS, MAX_BATCH_ROWS};
    use netburn_record::IntervalRow;

    #[test]
    fn batches_have_a_limited_size() {
        assert!(batches(&[]).is_empty());
        let intervals = std::iter::repeat_n(Row::Interval(IntervalRow::default()), MAX_BATCH_ROWS + 5);
        let event = warning(0, None, Instant::ZERO, 0, "");
        let events = std::iter::repeat_n(event, MAX_BATCH_EVENTS + 1);
        let batches = batches(&intervals.chain(events).collect::<Vec<Row>>());
        let rows: Vec<usize> = batches.iter().map(|batch| batch.rows).collect();
        assert_eq!(rows, [MAX_BATCH_ROWS, 5 + MAX_BATCH_EVENTS, 1]);
        assert!(batches.iter().all(|batch| batch.rows == batch.batch.len()));
    }
}
