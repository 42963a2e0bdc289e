//! Shared by the tests with real traffic: plans, and a sink and a progress receiver that store their input.

use netburn_record::{Detail, EventKind, EventRow, Health, OperationRow, Row, Sink};
use netburn_run_control::{
    ControllerError, Launcher, Options, Outcome, Phase, ProgressObserver, run_local, with_writer,
};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};
use std::io;
use tokio::sync::watch;

/// Plan of a scenario text.
pub(crate) fn plan(text: &str) -> Plan {
    let document = Document::from_toml("test.toml", text).unwrap();
    document.resolve().unwrap()
}

/// Four stations with four workloads, `duration` long.
pub(crate) fn four_uses(duration: &str) -> Plan {
    plan(&format!(
        r#"
        duration = "{duration}"
        # An agent rejects a start that is past, and this is the time for it to arrive.
        baseline = "2 s"
        drain = "2 s"
        warmup = "0 s"
        [server]
        link = {{ rate = "200 Mbit/s" }}
        [station.laptop]
        workload = "browsing"
        [station.tv]
        workload = "4kstream"
        [station.phone]
        workload = "voip"
        [station.desktop]
        workload = "download"
        "#
    ))
}

/// A sink that stores rows, and fails when it holds too many.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) rows: Vec<Row>,
    pub(crate) syncs: usize,
    pub(crate) full_at: Option<usize>,
}

impl Sink for Memory {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        if self.full_at.is_some_and(|full| self.rows.len() >= full) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.rows.push(row.clone());
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.syncs += 1;
        Ok(())
    }
}

impl Memory {
    pub(crate) fn operations(&self, station: u16) -> impl Iterator<Item = &OperationRow> {
        self.rows.iter().filter_map(move |row| match row {
            Row::Operation(row) if row.station == station => Some(row),
            _ => None,
        })
    }

    pub(crate) fn events(&self, kind: EventKind) -> Vec<&EventRow> {
        let events = self.rows.iter().filter_map(|row| match row {
            Row::Event(event) if event.kind == kind => Some(event),
            _ => None,
        });
        events.collect()
    }

    pub(crate) fn health(&self) -> Vec<Health> {
        let events = self.events(EventKind::Health);
        events
            .iter()
            .filter_map(|event| match &event.detail {
                Detail::Health(report) => Some((**report).clone()),
                _ => None,
            })
            .collect()
    }
}

/// Stores progress reports, and executes an action at the first tick of the running phase.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) phases: Vec<Phase>,
    pub(crate) ticks: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) when_running: Option<Box<dyn FnOnce()>>,
    /// Run time of the action.
    pub(crate) after: Option<Instant>,
}

impl ProgressObserver for Told {
    fn phase(&mut self, phase: Phase, _: Duration) {
        self.phases.push(phase);
    }

    fn tick(&mut self, now: Instant) {
        self.ticks += 1;
        if now >= self.after.unwrap_or(Instant::ZERO)
            && let Some(act) = self.when_running.take()
        {
            act();
        }
    }

    fn warn(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
}

/// Runs a plan to its end.
pub(crate) fn run(
    plan: &Plan,
    launcher: &mut dyn Launcher,
    sink: &mut (dyn Sink + Send),
    observer: &mut dyn ProgressObserver,
    stop: watch::Receiver<bool>,
) -> Result<Outcome, ControllerError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    with_writer(&mut [sink], |rows| {
        runtime.block_on(run_local(
            plan,
            Options {
                launcher,
                rows,
                observer,
                stop,
            },
        ))
    })
}

/// A stop signal that is never sent.
pub(crate) fn never() -> watch::Receiver<bool> {
    watch::channel(false).1
}
