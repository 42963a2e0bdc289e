//! What is driven, and what is handed back.

use crate::client::Target;
use netburn_record::{Health, Role, Row};
use netburn_workload::Workload;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Where rows go: batches of them, 20 times a second; one may be empty. A receiver that is gone stops nothing.
pub type Rows = mpsc::UnboundedSender<Vec<Row>>;

/// One workload of one station.
#[derive(Debug)]
pub struct Load {
    /// The station's number in the plan.
    pub station: u16,
    /// The workload's number within the station, or `record::row::BASELINE`.
    pub workload: u16,
    /// Its schedule.
    pub machine: Workload,
    /// Whom it asks.
    pub target: Arc<Target>,
}

/// What the driver says of its own doing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DriveReport {
    /// From when something was due to when the driver began it: 50th percentile, in µs.
    pub lateness_us_p50: f64,
    /// The 99th percentile, in µs.
    pub lateness_us_p99: f64,
    /// The worst, in µs.
    pub lateness_us_max: f64,
    /// How many times something was due.
    pub lateness_count: u64,
    /// The longest standstill of the driving thread, in µs.
    pub standstill_us_max: f64,
    /// What was due and never sent because the driver came too late or the socket would not take it.
    pub missed_sends: u64,
    /// The driving thread's processor time as a share of the time, 0 to 1: the 95th percentile of one-second windows.
    pub cpu: f64,
    /// Content bytes towards the stations.
    pub bytes_down: u64,
    /// Content bytes away from them.
    pub bytes_up: u64,
    /// Operations that ended, in whatever way.
    pub operations: u64,
    /// Those that finished.
    pub finished: u64,
}

impl DriveReport {
    /// The report as a participant's health. `machine_busy` is the whole machine's busy share over the run, 0 to 1.
    #[must_use]
    pub fn health(&self, name: &str, stations: Vec<String>, machine_busy: f64) -> Health {
        Health {
            name: name.to_owned(),
            role: Role::Agent,
            stations,
            lateness_us_p50: self.lateness_us_p50,
            lateness_us_p99: self.lateness_us_p99,
            lateness_us_max: self.lateness_us_max,
            lateness_count: self.lateness_count,
            standstill_us_max: Some(self.standstill_us_max),
            missed_sends: self.missed_sends,
            cpu: self.cpu,
            machine_busy,
            service_us_p99: 0.0,
            refused: 0,
            bytes_down: self.bytes_down,
            bytes_up: self.bytes_up,
            operations: self.operations,
            served: Default::default(),
        }
    }
}

/// Ends a drive early: what is under way is settled at once.
#[derive(Debug, Clone)]
pub struct CancelHandle(Arc<watch::Sender<bool>>);

/// The driver's end of a [`CancelHandle`].
#[derive(Debug, Clone)]
pub struct CancelToken(watch::Receiver<bool>);

impl CancelHandle {
    /// A stopper and its driver's end.
    #[must_use]
    pub fn new() -> (CancelHandle, CancelToken) {
        let (sender, receiver) = watch::channel(false);
        (CancelHandle(Arc::new(sender)), CancelToken(receiver))
    }

    /// Pulls it. A second time changes nothing.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl CancelToken {
    /// One that is never pulled.
    #[must_use]
    pub fn never() -> CancelToken {
        CancelHandle::new().1
    }

    /// Whether it has been pulled.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once it has been pulled; never when the stopper is gone without.
    pub async fn stopped(&mut self) {
        if self.0.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
