//! The measurement of an agent's part.

use super::*;
use tokio::task::JoinHandle;

/// Tasks that measure, from the start message to the end of the part.
pub(super) struct RunningLoad {
    stopper: CancelHandle,
    baseline: Option<JoinHandle<io::Result<DriveReport>>>,
    driving: JoinHandle<io::Result<DriveReport>>,
    cpu: io::Result<CpuMonitor>,
    zero: Monotonic,
}

impl RunningLoad {
    /// Starts the measurement of `part`, whose run begins at `zero`. Returns also its rows.
    pub(super) fn start(
        part: &Part,
        adapter: Option<Adapter>,
        clock: RunClock,
        zero: std::time::Instant,
    ) -> (RunningLoad, mpsc::UnboundedReceiver<Vec<Row>>) {
        let cpu = Sampler::new().and_then(CpuMonitor::start);
        let (tell, rows) = mpsc::unbounded_channel();
        let (stopper, stop) = CancelHandle::new();
        let baseline = part.until().map(|until| {
            let (tell, stop) = (tell.clone(), stop.clone());
            tokio::spawn(drive::baseline(part.idle(), until, part.plan.seed, clock, tell, stop))
        });
        let monitor = adapter.map(|adapter| adapter.watch(part.stations.clone(), clock, tell.clone()));
        let monitor = monitor.transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "the interface can't be sampled");
            None
        });
        let loads = part.loads();
        let driving = tokio::spawn(async move {
            let report = drive::on_thread(loads, clock, tell, stop).await;
            if let Some(monitor) = monitor.flatten() {
                let _ = tokio::task::spawn_blocking(|| monitor.end()).await;
            }
            report
        });
        let zero = Monotonic::from(zero);
        let load = RunningLoad {
            stopper,
            baseline,
            driving,
            cpu,
            zero,
        };
        (load, rows)
    }

    /// Ends the load early.
    pub(super) fn stop(&self) {
        self.stopper.stop();
    }

    /// Waits for the end. Adds the health of the agent of this `name`, or the error, to `end`.
    pub(super) async fn end(self, part: &Part, name: &str, end: LateResultsEnd) -> LateResultsEnd {
        if let Some(baseline) = self.baseline
            && let Ok(Err(error)) = baseline.await
        {
            tracing::warn!(%error, "idle latency could not be measured");
        }
        match self.driving.await.map_err(io::Error::other).flatten() {
            Ok(report) => {
                let busy = self.cpu.ok().and_then(|cpu| machine_busy(&cpu, self.zero));
                let health = Some(part.health(name, &report, busy));
                LateResultsEnd { health, ..end }
            }
            Err(error) => LateResultsEnd {
                error: Some(error.to_string()),
                ..end
            },
        }
    }
}

/// Mean busy share of the machine since `zero`, 0 to 1; `None` if the run was shorter than a window.
fn machine_busy(cpu: &CpuMonitor, zero: Monotonic) -> Option<f64> {
    let windows = cpu.windows();
    let shares = windows.iter().filter(|w| w.end > zero).map(|w| w.machine_busy);
    let count = shares.clone().count();
    (count > 0).then(|| shares.sum::<f64>() / count as f64)
}
