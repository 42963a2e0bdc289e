//! An agent: drives the stations it is assigned.

mod part;

pub use part::Part;

pub use crate::controller_session::ShutdownSignal;
use crate::controller_session::dial::Dial;
use crate::controller_session::outbox::Outbox;
use crate::controller_session::{ControllerSession, LEFT_BY_OWNER, StartTime, bye_reason};
use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::to_std;
use crate::protocol::standing::{LateResultsEnd, proof};
use crate::protocol::{Assign, Ready, ToAgent, ToController};
use crate::spool::{SpoolContent, SpoolFolder, SpoolHeader, Writer};
use crate::wifi::Adapter;
use netburn_linux::{Monotonic, Sampler, Watch};
use netburn_record::{EventKind, Row};
use netburn_scenario::Plan;
use netburn_traffic::client::{Target, Trust};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{self, DriveReport, Idle, Load, Stopper};
use netburn_units::{Duration, Instant};
use netburn_workload::{Kind, Workload};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The baseline ends this long before the load begins, so that its last answers come in time; a quarter of a shorter
/// baseline.
const QUIET: Duration = Duration::from_millis(200);
/// How far ahead a start may lie, besides the baseline. What a device's owner allows was looked at when the part was
/// assigned: at which hour, for how long.
const MAX_LEAD: Duration = Duration::from_secs(60);
/// The most assignments in one run: one for each connection before the start. A server is looked for with each.
const MAX_ASSIGNMENTS: u32 = 64;

/// One agent's whole part: joins as `join` says over a connection that `dial` opens, measures, brings home the results.
/// Where the connection is lost it goes on measuring, comes back with `dial` and sends what was not taken.
///
/// Where there is a spool of this run, because this agent was killed in the middle of it, it measures no more and brings
/// home what that holds.
///
/// # Errors
/// When it is refused, can't do its part, or loses the controller for good and has nothing to keep.
pub async fn run<D: Dial, T: AgentPolicy>(dial: D, join: &Join, options: AgentOptions<T>) -> Result<Ended, FleetError> {
    let AgentOptions {
        run,
        spool,
        reconnect_timeout,
        mut policy,
        mut shutdown,
    } = options;
    if let (Some(folder), Some(reconnect_timeout)) = (&spool, reconnect_timeout)
        && let Ok((writer, spooled)) = Writer::resume(folder, &run)
    {
        return deliver_spooled(dial, join, reconnect_timeout, writer, spooled).await;
    }
    let mut session = ControllerSession::connect(dial, join, reconnect_timeout).await?;
    let (mut part, mut adapter, mut assignments) = (None, None, 0);
    // Whoever comes back before the start is given its part again.
    let (start, part) = loop {
        let heard = tokio::select! {
            heard = session.recv() => heard?,
            () = shutdown.requested() => {
                let left = Some(LEFT_BY_OWNER.to_owned());
                return session.part(ended(&run, left)).await.map(|()| Ended::Delivered);
            }
        };
        match heard {
            ToAgent::Assign(_) if assignments == MAX_ASSIGNMENTS => {
                let error = format!("it was assigned more than {MAX_ASSIGNMENTS} times");
                return session.part(ended(&run, Some(error))).await.map(|()| Ended::Delivered);
            }
            ToAgent::Assign(assign) => match prepare(&assign, &mut policy, reconnect_timeout.is_some()).await {
                Ok((agreed, found, ready)) => {
                    assignments += 1;
                    part = Some(agreed);
                    adapter = found;
                    session.say(ToController::Ready(ready)).await;
                }
                Err(error) => {
                    return session.part(ended(&run, Some(error))).await.map(|()| Ended::Delivered);
                }
            },
            ToAgent::Start(start) if part.is_some() => break (start, part.expect("it is")),
            ToAgent::Stop(_) => return session.part(ended(&run, None)).await.map(|()| Ended::Delivered),
            ToAgent::Bye(bye) => return Err(FleetError::RunEnded(bye_reason(bye))),
            _ => {}
        }
    };
    let zero = match session.start_time(start) {
        StartTime::At(zero) => zero,
        StartTime::Rejected(error) => return session.part(ended(&run, error)).await.map(|()| Ended::Delivered),
    };
    if let Err(error) = startable(zero, std::time::Instant::now(), part.plan.baseline) {
        return session.part(ended(&run, Some(error))).await.map(|()| Ended::Delivered);
    }
    let clock = RunClock::starting_at(zero);
    session.set_stations(&part.stations);
    if let Some(folder) = &spool {
        let about = SpoolHeader {
            run: run.clone(),
            name: join.name.clone(),
            stations: part.names(),
            proof: proof(&join.token),
        };
        match Writer::create(folder, &about, start) {
            Ok(writer) => session.outbox = Outbox::spooled(writer),
            Err(error) => {
                let what = format!("results can't be kept on the agent's disk ({error}), only in its memory");
                tracing::warn!("{what}");
                session.tell(clock, EventKind::Warning, &what);
            }
        }
    }
    let watch = Sampler::new().and_then(Watch::start);
    let zero = Monotonic::from(zero);
    let (tell, mut rows) = mpsc::unbounded_channel();
    let (stopper, stop) = Stopper::new();
    let idling = part.until().map(|until| {
        let (tell, stop) = (tell.clone(), stop.clone());
        tokio::spawn(drive::baseline(part.idle(), until, part.plan.seed, clock, tell, stop))
    });
    let watching = match adapter.map(|adapter| adapter.watch(part.stations.clone(), clock, tell.clone())) {
        Some(Ok(watching)) => watching,
        Some(Err(error)) => {
            tracing::warn!(%error, "nobody looks at the interface");
            None
        }
        None => None,
    };
    let loads = part.loads();
    let driving = tokio::spawn(async move {
        let report = drive::on_thread(loads, clock, tell, stop).await;
        if let Some(watching) = watching {
            let _ = tokio::task::spawn_blocking(|| watching.end()).await;
        }
        report
    });
    let mut stopped = None;
    let check = |rows: &[Row]| {
        let reason = policy.check(rows, clock.now())?;
        stopped.get_or_insert_with(|| reason.clone());
        Some(reason)
    };
    let attended = session
        .run(&mut rows, clock, || stopper.stop(), check, &mut shutdown)
        .await;
    if shutdown.is_requested() {
        stopped.get_or_insert_with(|| LEFT_BY_OWNER.to_owned());
    }
    if attended.is_err() {
        stopper.stop();
        if !session.outbox.is_kept() {
            let lost = session.outbox.pending();
            tracing::warn!(lost, "rows that the controller has not acknowledged are lost");
            return attended.map(|()| Ended::Delivered);
        }
        // What its workloads still have to say goes to the disk.
        session.keep(&mut rows).await;
    }
    if let Some(idling) = idling
        && let Ok(Err(error)) = idling.await
    {
        tracing::warn!(%error, "idle latency could not be measured");
    }
    let end = match driving.await.map_err(std::io::Error::other).and_then(|report| report) {
        Ok(report) => {
            let busy = watch.map_or(0.0, |watch| machine_busy(&watch, zero));
            LateResultsEnd {
                health: Some(part.health(&join.name, &report, busy)),
                ..ended(&run, stopped)
            }
        }
        Err(error) => ended(&run, Some(error.to_string())),
    };
    let end = LateResultsEnd {
        told: session.told.map(Instant::as_nanos),
        ..end
    };
    session.record_end(&end);
    match attended {
        Ok(()) => finish(session, end).await,
        Err(error) => {
            tracing::info!(%error, "the results wait on this disk");
            Ok(Ended::Kept)
        }
    }
}

/// How an agent takes part.
#[derive(Debug, Clone)]
pub struct AgentOptions<T = AcceptAll> {
    /// What the run is called, for the spool.
    pub run: String,
    /// Where rows are kept until the controller has them; `None`: in memory.
    pub spool: Option<SpoolFolder>,
    /// How long a controller that is gone is looked for once this agent's part is over, or before it has begun; while it
    /// measures it never gives up. `None`: the end of the connection is the end.
    pub reconnect_timeout: Option<Duration>,
    /// What it makes of its part.
    pub policy: T,
    /// Whether its owner wants it to end now: what it has goes home first.
    pub shutdown: ShutdownSignal,
}

impl Default for AgentOptions {
    /// One connection, nothing on the disk, everything as told: an agent on the controller's own machine.
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

/// What an agent makes of its part, before it says that it is ready and while it measures.
pub trait AgentPolicy: Send {
    /// Looks at the part. It may change whom it measures against and how that is reached, and says how it was.
    ///
    /// # Errors
    /// Why it won't take part, for people.
    fn review(&mut self, part: &mut Part) -> impl Future<Output = Result<Ready, String>> + Send {
        let _ = part;
        async { Ok(Ready::default()) }
    }

    /// These rows were measured, and the run's time is `now`: why it stops here, if it does. That is said in the record.
    fn check(&mut self, rows: &[Row], now: Instant) -> Option<String> {
        let _ = (rows, now);
        None
    }
}

/// Takes every part as it comes.
#[derive(Debug, Clone, Copy, Default)]
pub struct AcceptAll;

impl AgentPolicy for AcceptAll {}

/// How an agent's part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The controller has all there was.
    Delivered,
    /// The controller was not to be found any more: the results wait in the spool.
    Kept,
}

/// Says that all is done, and waits to be let go.
async fn finish<D: Dial>(session: ControllerSession<D>, end: LateResultsEnd) -> Result<Ended, FleetError> {
    let kept = session.outbox.is_kept();
    match session.part(end).await {
        Ok(()) => Ok(Ended::Delivered),
        Err(
            error @ (FleetError::ControllerLost(_)
            | FleetError::RunEnded(_)
            | FleetError::UnknownRun
            | FleetError::Rejected { .. }),
        ) if kept => {
            tracing::info!(%error, "the results wait on this disk");
            Ok(Ended::Kept)
        }
        Err(error) => Err(error),
    }
}

/// Brings home what an agent left that was killed.
async fn deliver_spooled<D: Dial>(
    dial: D,
    join: &Join,
    reconnect_timeout: Duration,
    writer: Writer,
    spooled: SpoolContent,
) -> Result<Ended, FleetError> {
    tracing::info!(messages = spooled.messages, "bringing home what was spooled");
    let end = spooled.end.unwrap_or_else(|| {
        let error = "it ended before its part was done, and was started again".to_owned();
        ended(&spooled.about.run, Some(error))
    });
    let session = ControllerSession::resume(dial, join, reconnect_timeout, Outbox::spooled(writer));
    match finish(session, end).await {
        // What it has to say of itself is said; that it was cut short is no failure of bringing it home.
        Err(FleetError::Declined(_) | FleetError::EndedEarly(_)) => Ok(Ended::Delivered),
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

/// Makes a part of what was assigned, and asks what is to be made of it. On a `real` network the interface counts, too.
async fn prepare(
    assign: &Assign,
    policy: &mut impl AgentPolicy,
    real: bool,
) -> Result<(Part, Option<Adapter>, Ready), String> {
    let mut part = Part::from_assignment(assign)?;
    let mut ready = policy.review(&mut part).await?;
    part.prepare_content().await;
    let target = &part.target;
    let adapter = match real {
        true => Some(Adapter::find(target.interface.as_deref(), target.address.ip())?),
        false => None,
    };
    ready
        .notes
        .extend(adapter.as_ref().and_then(Adapter::note).map(str::to_owned));
    Ok((part, adapter, ready))
}

/// Whether a run can begin at `zero`, with this baseline before it.
fn startable(zero: std::time::Instant, now: std::time::Instant, baseline: Duration) -> Result<(), String> {
    let most = baseline.checked_add(MAX_LEAD).unwrap_or(baseline);
    match zero.checked_duration_since(now) {
        None => Err("it came back after the start".to_owned()),
        Some(ahead) if ahead > to_std(most) => Err(format!(
            "the start is {} s ahead, and at most {most} are allowed",
            ahead.as_secs()
        )),
        Some(_) => Ok(()),
    }
}

/// The mean busy share of the machine from `zero` on, 0 to 1.
fn machine_busy(watch: &Watch, zero: Monotonic) -> f64 {
    let windows = watch.windows();
    let shares = windows.iter().filter(|w| w.end > zero).map(|w| w.machine_busy);
    match shares.clone().count() {
        0 => 0.0,
        count => shares.sum::<f64>() / count as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_lies_ahead_and_not_far() {
        let now = std::time::Instant::now();
        let at = |millis: u64| now + std::time::Duration::from_millis(millis);
        let baseline = Duration::from_secs(5);
        assert_eq!(startable(at(5_300), now, baseline), Ok(()));
        assert_eq!(startable(at(65_000), now, baseline), Ok(()));
        let late = startable(now, at(1), baseline).unwrap_err();
        assert_eq!(late, "it came back after the start");
        // Summoned in the evening, started at night: the owner's hours would mean nothing.
        let far = startable(at(6 * 3_600_000), now, baseline).unwrap_err();
        assert_eq!(far, "the start is 21600 s ahead, and at most 65 s are allowed");
    }
}
