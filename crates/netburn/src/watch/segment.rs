//! One record: its plan, its probes and loads, and the thread that writes it.

use super::folder::{SCENARIO, name};
use super::page::{self, Finished};
use super::server::Found;
use netburn_analysis::View;
use netburn_record::{
    Detail, Environment, EventKind, EventRow, Header, Host, Recorder, Row, RunStatus, Sink, UnixTime,
};
use netburn_scenario::{Document, Plan};
use netburn_traffic::client::Target;
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{self, CancelHandle, CancelToken, DriveReport, Idle, Load};
use netburn_units::{Duration, Instant, Seed};
use netburn_watch::{Part, Sample, hour::Segment};
use netburn_wifi_monitor::Adapter;
use netburn_workload::{Outcome, Workload};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Name of this computer's station.
const STATION: &str = "computer";
/// Time between two writes to the disk: a loss of power loses at most the probes of this time.
const SYNC: Duration = Duration::from_secs(5);
/// Time after the last probe in which its answer is awaited: the time-out of a probe.
const DRAIN: Duration = Duration::from_secs(3);
/// Time of the probes of the idle latency before a load, at the start of the hour.
const BASELINE: Duration = Duration::from_secs(5);
/// Pause between download and upload.
const PAUSE: Duration = Duration::from_secs(5);

/// Times of a load in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoadTimes {
    /// Start of the download.
    pub(super) start: Duration,
    /// Length of the download, and of the upload after it.
    pub(super) each: Duration,
}

impl LoadTimes {
    /// A place in a record of `length`, selected by `seed`, so that computers do not load one server at the same time.
    /// `None` if the record is too short.
    pub(super) fn place(length: Duration, each: Duration, seed: u64) -> Option<LoadTimes> {
        let first = BASELINE + Duration::from_secs(1);
        let whole = each + PAUSE + each + Duration::from_secs(2);
        let room = length.checked_sub(first)?.checked_sub(whole)?;
        // An odd factor spreads seeds that are close together (Knuth's multiplicative hashing).
        let place = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let start = (u128::from(room.as_nanos()) * u128::from(place)) >> 32;
        Some(LoadTimes {
            start: first + Duration::from_nanos(u64::try_from(start).unwrap_or(0)),
            each,
        })
    }
}

/// Message of the thread that writes a record, or of the one that asks for its server.
#[derive(Debug)]
pub(super) enum Message {
    /// Probes ended.
    Samples(Vec<Sample>),
    /// A warning of the drive.
    Warning(String),
    /// The record can't be written any more.
    Broken(String),
    /// Answer about the server, with the number of the question.
    Found(u32, Box<Found>),
    /// The record is complete.
    Finished(Box<Finished>),
    /// The record has ended, and has no results.
    Unfinished(String),
    /// The thread ends.
    Ended,
}

/// Input of a record.
pub(super) struct Order {
    pub(super) segment: Segment,
    /// Start by the monotonic clock, which is that of `segment.begun`.
    pub(super) zero: std::time::Instant,
    pub(super) parts: Vec<Part>,
    pub(super) target: Target,
    pub(super) goal: Duration,
    pub(super) load: Option<LoadTimes>,
    /// Folder of all records; `None`: nothing is recorded.
    pub(super) folder: Option<PathBuf>,
    pub(super) messages: UnboundedSender<Message>,
}

/// A record that is written.
pub(super) struct Recording {
    stopper: CancelHandle,
    status: UnboundedSender<RunStatus>,
    /// True if there is a record.
    pub(super) is_recorded: bool,
}

impl Recording {
    /// Ends the probes early, with the status of the record.
    pub(super) fn stop(&self, status: RunStatus) {
        let _ = self.status.send(status);
        self.stopper.stop();
    }
}

/// The scenario of a record.
fn plan(order: &Order) -> Result<Plan, String> {
    let mut text = format!(
        "title = \"Watch of one network\"\nduration = \"{}\"\nwarmup = \"0 s\"\nbaseline = \"0 s\"\ndrain = \"{DRAIN}\"\n",
        order.segment.length
    );
    let mut names = Vec::new();
    for part in &order.parts {
        let _ = writeln!(
            text,
            "[workload.{part}]\nkind = \"probe\"\ntarget = \"{part}\"\ninterval = \"1 s\"\njitter = \"200 ms\""
        );
        if *part == Part::Server {
            let _ = writeln!(text, "goal = \"{}\"", order.goal);
        }
        names.push(format!("\"{part}\""));
    }
    if let Some(load) = order.load {
        let second = load.start + load.each + PAUSE;
        for (kind, start) in [("download", load.start), ("upload", second)] {
            let _ = writeln!(
                text,
                "[workload.hourly-{kind}]\nkind = \"{kind}\"\nstart = \"{start}\"\nstop = \"{}\"",
                start + load.each
            );
            names.push(format!("\"hourly-{kind}\""));
        }
    }
    let _ = writeln!(text, "[station.{STATION}]\nworkload = [{}]", names.join(", "));
    let resolved =
        Document::from_toml("watch.toml", &text).and_then(|document| document.resolve_for(Environment::Fleet));
    let (plan, _) = resolved.map_err(|error| error.to_string())?;
    Ok(Plan {
        name: SCENARIO.to_owned(),
        ..plan
    })
}

/// Starts the probes of a record, and its thread.
///
/// # Errors
/// A text, when there is no thread or no record.
pub(super) fn start(order: Order) -> Result<Recording, String> {
    let plan = plan(&order)?;
    let seed = Seed(order.segment.hour.0.unsigned_abs() / 1_000_000_000);
    let recorder = recorder(&order, &plan, seed)?;
    let clock = RunClock::starting_at(order.zero);
    let target = Arc::new(order.target.clone());
    let loads = loads(&plan, &target, seed);
    let (tell, rows) = unbounded_channel();
    let (stopper, stop) = CancelHandle::new();
    let (status, asked) = unbounded_channel();
    let monitor = Adapter::find(target.interface.as_deref(), target.address.ip())
        .and_then(|adapter| {
            adapter
                .watch(vec![0], clock, tell.clone())
                .map_err(|error| error.to_string())
        })
        .ok()
        .flatten();
    if order.load.is_some() {
        tokio::spawn(baseline(idle(&plan, &target), seed, clock, tell.clone(), stop.clone()));
    }
    let driving = tokio::spawn(async move {
        let report = drive::on_thread(loads, clock, tell, stop).await;
        if let Some(monitor) = monitor {
            let _ = tokio::task::spawn_blocking(|| monitor.end()).await;
        }
        report
    });
    let is_recorded = recorder.is_some();
    let writer = Writer {
        parts: order.parts.clone(),
        offset: order.segment.begun.mono,
        hour: order.segment.hour,
        load: order.load,
        recorder,
        messages: order.messages,
        sync: std::time::Duration::from_nanos(SYNC.min(order.segment.length / 10).as_nanos()),
        synced: std::time::Instant::now(),
    };
    let (done, report) = unbounded_channel();
    tokio::spawn(async move {
        let report = driving.await.map_err(std::io::Error::other).flatten();
        let _ = done.send(report);
    });
    thread::Builder::new()
        .name("watch-record".into())
        .spawn(move || writer.run(rows, report, asked))
        .map_err(|error| format!("no thread: {error}"))?;
    Ok(Recording {
        stopper,
        status,
        is_recorded,
    })
}

/// Creates the record, if there is a folder for it.
fn recorder(order: &Order, plan: &Plan, seed: Seed) -> Result<Option<Recorder>, String> {
    let Some(folder) = &order.folder else { return Ok(None) };
    let header = Header {
        plan: plan.clone(),
        environment: Environment::Fleet,
        seed,
        host: Host::here(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: Some(order.segment.begun.wall),
        source: None,
    };
    let created = Recorder::create(&folder.join(order.segment.name()), header);
    created.map(Some).map_err(|error| error.to_string())
}

/// The workloads of this computer.
fn loads(plan: &Plan, target: &Arc<Target>, seed: Seed) -> Vec<Load> {
    let end = Instant::ZERO + plan.duration;
    let settle = end + plan.drain;
    let numbered = plan.stations[0].workloads.iter().zip(0u16..);
    let load = |(planned, number): (&netburn_scenario::StationWorkload, u16)| {
        let config = planned.config.clone();
        Load {
            station: 0,
            workload: number,
            machine: Workload::new(config, Instant::ZERO, end, settle, seed, u64::from(number)),
            target: Arc::clone(target),
        }
    };
    numbered.map(load).collect()
}

fn idle(plan: &Plan, target: &Arc<Target>) -> Vec<Idle> {
    vec![Idle {
        station: 0,
        target: Arc::clone(target),
        targets: plan.stations[0].idle_targets(),
        datagrams: true,
    }]
}

/// Measures the idle latency at the start of a record, with which the latency during the load is compared.
async fn baseline(idle: Vec<Idle>, seed: Seed, clock: RunClock, rows: drive::Rows, stop: CancelToken) {
    // Without it the record has no idle latency.
    let _ = drive::baseline(idle, Instant::ZERO + BASELINE, seed, clock, rows, stop).await;
}

/// The thread that writes a record.
struct Writer {
    parts: Vec<Part>,
    /// Start by the clock of the watch.
    offset: Instant,
    hour: UnixTime,
    load: Option<LoadTimes>,
    recorder: Option<Recorder>,
    messages: UnboundedSender<Message>,
    /// Time between two writes to the disk.
    sync: std::time::Duration,
    synced: std::time::Instant,
}

impl Writer {
    fn run(
        mut self,
        mut rows: UnboundedReceiver<Vec<Row>>,
        mut report: UnboundedReceiver<std::io::Result<DriveReport>>,
        mut asked: UnboundedReceiver<RunStatus>,
    ) {
        while let Some(batch) = rows.blocking_recv() {
            self.batch(&batch);
        }
        let status = asked.try_recv().unwrap_or(RunStatus::Complete);
        let status = match report.blocking_recv() {
            Some(Ok(report)) => {
                let health = report.health("watch", vec![STATION.to_owned()], None);
                self.put_event(EventKind::Health, health.into());
                self.put_event(
                    EventKind::UnusedServerLost,
                    "the server is not part of the record: it reports nothing about itself".into(),
                );
                status
            }
            Some(Err(error)) => RunStatus::Failed(error.to_string()),
            None => RunStatus::Failed("the probes ended without a report".to_owned()),
        };
        if let Some(recorder) = self.recorder.take() {
            let _ = self.messages.send(finish(recorder, &status, self.hour, self.load));
        }
        let _ = self.messages.send(Message::Ended);
    }

    fn batch(&mut self, batch: &[Row]) {
        let samples: Vec<Sample> = batch.iter().filter_map(|row| self.sample(row)).collect();
        if !samples.is_empty() {
            let _ = self.messages.send(Message::Samples(samples));
        }
        for row in batch {
            if let Row::Event(EventRow {
                kind: EventKind::Warning,
                detail: Detail::Text(text),
                ..
            }) = row
            {
                let _ = self.messages.send(Message::Warning(text.to_string()));
            }
            self.put(row);
        }
        if self.synced.elapsed() >= self.sync {
            self.synced = std::time::Instant::now();
            self.try_write(Recorder::sync);
        }
    }

    fn put_event(&mut self, kind: EventKind, detail: Detail) {
        self.put(&Row::Event(EventRow {
            station: None,
            workload: None,
            at: Instant::ZERO,
            length: 0,
            kind,
            detail,
        }));
    }

    fn put(&mut self, row: &Row) {
        self.try_write(|recorder| recorder.put(row));
    }

    /// Writes. After an error the record is left for a later recovery, and the probes go on.
    fn try_write(&mut self, write: impl FnOnce(&mut Recorder) -> std::io::Result<()>) {
        let Some(recorder) = &mut self.recorder else { return };
        if let Err(error) = write(recorder) {
            self.recorder = None;
            let _ = self.messages.send(Message::Broken(error.to_string()));
        }
    }

    /// The result of a probe. Probes that were in flight at the end have none.
    fn sample(&self, row: &Row) -> Option<Sample> {
        let Row::Operation(row) = row else { return None };
        let part = *self.parts.get(usize::from(row.workload))?;
        let operation = &row.operation;
        let round_trip = match operation.outcome {
            Outcome::Finished => Some(
                operation
                    .finished?
                    .checked_since(operation.due)
                    .unwrap_or(Duration::ZERO),
            ),
            Outcome::Failed(_) | Outcome::TimedOut => None,
            Outcome::NotStarted | Outcome::Unfinished | Outcome::Cut => return None,
        };
        Some(Sample {
            part,
            at: self.offset + operation.due.checked_since(Instant::ZERO)?,
            round_trip,
        })
    }
}

/// Completes a record, analyses it, and writes its page.
fn finish(recorder: Recorder, status: &RunStatus, hour: UnixTime, load: Option<LoadTimes>) -> Message {
    let path = recorder.path().to_owned();
    match recorder.finish(status) {
        Ok(run) => {
            let view = View::from_run(&run);
            page::write_hour(&path, &view);
            Message::Finished(Box::new(page::finished(&path, hour, &view, load.is_some())))
        }
        Err(error) => Message::Unfinished(format!("{}: {error}", name(&path))),
    }
}
