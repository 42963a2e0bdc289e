//! An agent: drives the stations of its assignment.

mod load;
mod part;

pub use part::Part;

pub use crate::controller_session::ShutdownSignal;
use crate::controller_session::dial::Dial;
use crate::controller_session::outbox::Outbox;
use crate::controller_session::{ControllerSession, LEFT_BY_OWNER, NotStarted, Prepare, Started};
use crate::error::AgentError;
use crate::join::Join;
use crate::spool::{SpoolContent, SpoolFolder, SpoolHeader, Writer};
use load::RunningLoad;
use netburn_platform::{CpuMonitor, Monotonic, Sampler};
use netburn_protocol::messages::standing::{LateResultsEnd, proof};
use netburn_protocol::messages::{Assign, Ready, Start, ToAgent, check_lead};
use netburn_record::{EventKind, Row};
use netburn_scenario::Plan;
use netburn_traffic::client::{Target, Trust};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{self, CancelHandle, DriveReport, Idle, Load};
use netburn_units::{Duration, Instant};
use netburn_wifi_monitor::Adapter;
use netburn_workload::{Direction, Workload};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Time between the end of the baseline and the start of the load, so that the last answers arrive before
/// the load. It is at most a quarter of the baseline.
const QUIET_BEFORE_START: Duration = Duration::from_millis(200);
/// Maximum number of assignments in one run: one per connection before the start. Each probes the server.
const MAX_ASSIGNMENTS: u32 = 64;

/// Runs one agent: connects as described by `join` over a connection of `dial`, measures and delivers the
/// rows. After a lost connection it continues to measure, reconnects and sends the unacknowledged rows.
///
/// If there is a spool of this run, this agent was killed during the run. Then it does not measure and only
/// delivers the spool.
///
/// # Errors
/// If the controller rejects the agent, if the agent can't do its part, or if it loses the controller and
/// has no stored rows.
pub async fn run<D: Dial, T: AgentPolicy>(
    dial: D,
    join: &Join,
    options: AgentOptions<T>,
) -> Result<PartEnd, AgentError> {
    let AgentOptions {
        run,
        spool,
        reconnect_timeout,
        policy,
        mut shutdown,
    } = options;
    if let (Some(folder), Some(reconnect_timeout)) = (spool.clone(), reconnect_timeout) {
        let name = run.clone();
        if let Ok((writer, spooled)) = on_disk(move || Writer::resume(&folder, &name)).await {
            return deliver_spooled(dial, join, reconnect_timeout, writer, spooled).await;
        }
    }
    let mut session = ControllerSession::connect(dial, join, reconnect_timeout).await?;
    let mut preparation = Preparation {
        policy,
        real: reconnect_timeout.is_some(),
        assignments: 0,
    };
    let started = session.wait_for_start(&mut preparation, &mut shutdown).await;
    let (Started { start, zero, part }, adapter) = match started.and_then(startable) {
        Ok(started) => started,
        Err(why) => return session.not_started(&run, why).await.map(|()| PartEnd::Delivered),
    };
    let mut policy = preparation.policy;
    let clock = RunClock::starting_at(zero);
    session.set_stations(&part.stations);
    if let Some(folder) = spool {
        let about = SpoolHeader {
            run: run.clone(),
            name: join.name.clone(),
            stations: part.names(),
            proof: proof(&join.token),
        };
        store_rows(&mut session, folder, about, start, clock).await;
    }
    let (load, mut rows) = RunningLoad::start(&part, adapter, clock, zero);
    let mut stopped = None;
    let check = |rows: &[Row]| {
        let reason = policy.check(rows, clock.now())?;
        stopped.get_or_insert_with(|| reason.clone());
        Some(reason)
    };
    let attended = session
        .run(&mut rows, clock, || load.stop(), check, &mut shutdown)
        .await;
    if shutdown.is_requested() {
        stopped.get_or_insert_with(|| LEFT_BY_OWNER.to_owned());
    }
    if attended.is_err() {
        load.stop();
        if !session.outbox.is_kept() {
            let lost = session.outbox.pending();
            tracing::warn!(lost, "rows that the controller has not acknowledged are lost");
            return attended.map(|()| PartEnd::Delivered);
        }
        // Store the remaining rows of the workloads on disk.
        session.store_remaining(&mut rows).await;
    }
    let end = LateResultsEnd {
        stop_requested_at: session.stop_requested_at.map(Instant::as_nanos),
        ..ended(&run, stopped)
    };
    let end = load.end(&part, &join.name, end).await;
    session.record_end(&end).await;
    match attended {
        Ok(()) => finish(session, end).await,
        Err(error) => {
            session.outbox.close().await;
            tracing::info!(%error, "the results are kept on this disk");
            Ok(PartEnd::Spooled)
        }
    }
}

/// Options of an agent.
#[derive(Debug, Clone)]
pub struct AgentOptions<T = AcceptAll> {
    /// Name of the run, for the spool.
    pub run: String,
    /// Folder of the spool; `None`: rows are kept in memory.
    pub spool: Option<SpoolFolder>,
    /// Time limit for reconnecting before the start and after the end of the part. During the run there is
    /// none. `None`: no reconnect.
    pub reconnect_timeout: Option<Duration>,
    /// Policy for the part.
    pub policy: T,
    /// Owner's request to stop. The agent delivers its rows first.
    pub shutdown: ShutdownSignal,
}

impl Default for AgentOptions {
    /// One connection, no spool, no limits: for an agent on the controller's machine.
    fn default() -> Self {
        AgentOptions {
            run: String::new(),
            spool: None,
            reconnect_timeout: None,
            policy: AcceptAll,
            shutdown: ShutdownSignal::default(),
        }
    }
}

/// Device-side policy: may reject or restrict an assignment before the agent reports ready, and may stop it
/// during the run.
pub trait AgentPolicy: Send {
    /// Reviews an assignment. May change the server and the way to reach it, and describes the result.
    ///
    /// # Errors
    /// Human-readable reason for rejecting the assignment.
    fn review(&mut self, part: &mut Part) -> impl Future<Output = Result<Ready, String>> + Send {
        let _ = part;
        async { Ok(Ready::default()) }
    }

    /// Checks measured rows at the run time `now`. Returns the reason to stop, if any, which is recorded.
    fn check(&mut self, rows: &[Row], now: Instant) -> Option<String> {
        let _ = (rows, now);
        None
    }
}

/// Accepts every assignment.
#[derive(Debug, Clone, Copy, Default)]
pub struct AcceptAll;

impl AgentPolicy for AcceptAll {}

/// End of an agent's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartEnd {
    /// The controller has all rows.
    Delivered,
    /// The controller was not found; the rows are in the spool.
    Spooled,
}

/// Executes `work`, which reads or writes the disk, on a thread that may block.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Reports the end of the part, and waits for `bye`.
async fn finish<D: Dial>(session: ControllerSession<D>, end: LateResultsEnd) -> Result<PartEnd, AgentError> {
    let kept = session.outbox.is_kept();
    match session.finish(end).await {
        Ok(()) => Ok(PartEnd::Delivered),
        Err(
            error @ (AgentError::ControllerLost(_)
            | AgentError::RunEnded(_)
            | AgentError::Spool(_)
            | AgentError::Undelivered),
        ) if kept => {
            tracing::info!(%error, "the results are kept on this disk");
            Ok(PartEnd::Spooled)
        }
        Err(error) => Err(error),
    }
}

/// Delivers the spool of an agent that was killed.
async fn deliver_spooled<D: Dial>(
    dial: D,
    join: &Join,
    reconnect_timeout: Duration,
    writer: Writer,
    spooled: SpoolContent,
) -> Result<PartEnd, AgentError> {
    tracing::info!(messages = spooled.messages, "delivering the spooled results");
    let end = spooled.end.unwrap_or_else(|| {
        let error = "it ended before its part was done, and was started again".to_owned();
        ended(&spooled.about.run, Some(error))
    });
    let session = ControllerSession::resume(dial, join, reconnect_timeout, Outbox::spooled(writer));
    match finish(session, end).await {
        // The spool is delivered. The early end of the part is reported there and is no error here.
        Err(AgentError::Declined(_) | AgentError::EndedEarly(_)) => Ok(PartEnd::Delivered),
        ended => ended,
    }
}

fn ended(run: &str, error: Option<String>) -> LateResultsEnd {
    LateResultsEnd {
        run: run.to_owned(),
        error,
        ..LateResultsEnd::default()
    }
}

/// Stores the rows of the run in a spool. If this is not possible, they are kept in memory.
async fn store_rows<D: Dial>(
    session: &mut ControllerSession<D>,
    folder: SpoolFolder,
    about: SpoolHeader,
    start: Start,
    clock: RunClock,
) {
    match on_disk(move || Writer::create(&folder, &about, start)).await {
        Ok(writer) => session.outbox = Outbox::spooled(writer),
        Err(error) => {
            let what = format!("results can't be stored on the agent's disk ({error}); they are kept in memory");
            tracing::warn!("{what}");
            session.tell(clock, EventKind::Warning, &what);
        }
    }
}

/// Preparation of an agent. After several assignments the last one counts.
struct Preparation<T> {
    policy: T,
    /// True on a real network, whose interface is sampled.
    real: bool,
    assignments: u32,
}

impl<T: AgentPolicy> Prepare for Preparation<T> {
    /// The part, and the interface on a real network.
    type Part = (Part, Option<Adapter>);

    async fn prepare(&mut self, message: ToAgent, prepared: &mut Option<Self::Part>) -> Result<Option<Ready>, String> {
        let ToAgent::Assign(assign) = message else {
            return Ok(None);
        };
        if self.assignments == MAX_ASSIGNMENTS {
            return Err(format!("it was assigned more than {MAX_ASSIGNMENTS} times"));
        }
        let mut part = Part::from_assignment(&assign)?;
        let mut ready = self.policy.review(&mut part).await?;
        part.prepare_content().await;
        let target = &part.target;
        let adapter = if self.real {
            Some(Adapter::find(target.interface.as_deref(), target.address.ip())?)
        } else {
            None
        };
        ready
            .notes
            .extend(adapter.as_ref().and_then(Adapter::note).map(str::to_owned));
        self.assignments += 1;
        *prepared = Some((part, adapter));
        Ok(Some(ready))
    }
}

/// Checks the start of a part.
fn startable(started: Started<(Part, Option<Adapter>)>) -> Result<(Started<Part>, Option<Adapter>), NotStarted> {
    let Started { start, zero, part } = started;
    let (part, adapter) = part;
    check_start(zero, std::time::Instant::now(), part.plan.baseline).map_err(|error| NotStarted::Ended(Some(error)))?;
    Ok((Started { start, zero, part }, adapter))
}

/// Checks whether a run can begin at `zero`, with this baseline before it.
fn check_start(zero: std::time::Instant, now: std::time::Instant, baseline: Duration) -> Result<(), String> {
    let Some(ahead) = zero.checked_duration_since(now) else {
        return Err("it reconnected after the start".to_owned());
    };
    let ahead = u64::try_from(ahead.as_nanos()).unwrap_or(u64::MAX);
    check_lead(Duration::from_nanos(ahead), baseline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_lies_ahead_and_not_far() {
        let now = std::time::Instant::now();
        let at = |millis: u64| now + std::time::Duration::from_millis(millis);
        let baseline = Duration::from_secs(5);
        assert_eq!(check_start(at(5_300), now, baseline), Ok(()));
        assert_eq!(check_start(at(65_000), now, baseline), Ok(()));
        let late = check_start(now, at(1), baseline).unwrap_err();
        assert_eq!(late, "it reconnected after the start");
        // With a start many hours after the assignment, the owner's hours would have no effect.
        let far = check_start(at(6 * 3_600_000), now, baseline).unwrap_err();
        assert_eq!(far, "the start is 21600 s ahead: at most 65 s is allowed");
    }
}
