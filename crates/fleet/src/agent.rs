//! An agent: drives the stations it is assigned.

mod part;

pub use part::Part;

use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::std;
pub use crate::participant::Leave;
use crate::participant::dial::Dial;
use crate::participant::outbox::Outbox;
use crate::participant::{Beginning, Conversation, LEFT, why};
use crate::protocol::standing::{LateEnd, proof};
use crate::protocol::{Assign, Ready, ToController, ToParticipant};
use crate::spool::{About, SpoolFolder, Spooled, Writer};
use crate::wifi::Adapter;
use netburn_linux::{CpuMonitor, Monotonic, Sampler};
use netburn_record::{EventKind, Row};
use netburn_scenario::Plan;
use netburn_traffic::client::{Target, Trust};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{self, CancelHandle, DriveReport, Idle, Load};
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
pub async fn run<D: Dial, T: Terms>(dial: D, join: &Join, manner: Manner<T>) -> Result<Ended, FleetError> {
    let Manner {
        run,
        spool,
        patience,
        mut terms,
        mut leave,
    } = manner;
    if let (Some(folder), Some(patience)) = (&spool, patience)
        && let Ok((writer, spooled)) = Writer::resume(folder, &run)
    {
        return bring_home(dial, join, patience, writer, spooled).await;
    }
    let mut conversation = Conversation::begin(dial, join, patience).await?;
    let (mut part, mut adapter, mut assignments) = (None, None, 0);
    // Whoever comes back before the start is given its part again.
    let (start, part) = loop {
        let heard = tokio::select! {
            heard = conversation.hear() => heard?,
            () = leave.wanted() => {
                let left = Some(LEFT.to_owned());
                return conversation.part(ended(&run, left)).await.map(|()| Ended::Delivered);
            }
        };
        match heard {
            ToParticipant::Assign(_) if assignments == MAX_ASSIGNMENTS => {
                let error = format!("it was assigned more than {MAX_ASSIGNMENTS} times");
                return conversation
                    .part(ended(&run, Some(error)))
                    .await
                    .map(|()| Ended::Delivered);
            }
            ToParticipant::Assign(assign) => match prepare(&assign, &mut terms, patience.is_some()).await {
                Ok((agreed, found, ready)) => {
                    assignments += 1;
                    part = Some(agreed);
                    adapter = found;
                    conversation.say(ToController::Ready(ready)).await;
                }
                Err(error) => {
                    return conversation
                        .part(ended(&run, Some(error)))
                        .await
                        .map(|()| Ended::Delivered);
                }
            },
            ToParticipant::Start(start) if part.is_some() => break (start, part.expect("it is")),
            ToParticipant::Stop(_) => return conversation.part(ended(&run, None)).await.map(|()| Ended::Delivered),
            ToParticipant::Bye(bye) => return Err(FleetError::Over(why(bye))),
            _ => {}
        }
    };
    let zero = match conversation.beginning(start) {
        Beginning::At(zero) => zero,
        Beginning::Never(error) => return conversation.part(ended(&run, error)).await.map(|()| Ended::Delivered),
    };
    if let Err(error) = startable(zero, std::time::Instant::now(), part.plan.baseline) {
        return conversation
            .part(ended(&run, Some(error)))
            .await
            .map(|()| Ended::Delivered);
    }
    let clock = RunClock::starting_at(zero);
    conversation.speaks_for(&part.stations);
    if let Some(folder) = &spool {
        let about = About {
            run: run.clone(),
            name: join.name.clone(),
            stations: part.names(),
            proof: proof(&join.token),
        };
        match Writer::create(folder, &about, start) {
            Ok(writer) => conversation.outbox = Outbox::spooled(writer),
            Err(error) => {
                let what = format!("results can't be kept on the agent's disk ({error}), only in its memory");
                tracing::warn!("{what}");
                conversation.tell(clock, EventKind::Warning, &what);
            }
        }
    }
    let watch = Sampler::new().and_then(CpuMonitor::start);
    let zero = Monotonic::from(zero);
    let (tell, mut rows) = mpsc::unbounded_channel();
    let (stopper, stop) = CancelHandle::new();
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
    let heed = |rows: &[Row]| {
        let reason = terms.heed(rows, clock.now())?;
        stopped.get_or_insert_with(|| reason.clone());
        Some(reason)
    };
    let attended = conversation
        .attend(&mut rows, clock, || stopper.stop(), heed, &mut leave)
        .await;
    if leave.is_wanted() {
        stopped.get_or_insert_with(|| LEFT.to_owned());
    }
    if attended.is_err() {
        stopper.stop();
        if !conversation.outbox.is_kept() {
            let lost = conversation.outbox.waiting();
            tracing::warn!(lost, "rows that the controller has not acknowledged are lost");
            return attended.map(|()| Ended::Delivered);
        }
        // What its workloads still have to say goes to the disk.
        conversation.keep(&mut rows).await;
    }
    if let Some(idling) = idling
        && let Ok(Err(error)) = idling.await
    {
        tracing::warn!(%error, "idle latency could not be measured");
    }
    let end = match driving.await.map_err(std::io::Error::other).and_then(|report| report) {
        Ok(report) => {
            let busy = watch.map_or(0.0, |watch| machine_busy(&watch, zero));
            LateEnd {
                health: Some(part.health(&join.name, &report, busy)),
                ..ended(&run, stopped)
            }
        }
        Err(error) => ended(&run, Some(error.to_string())),
    };
    let end = LateEnd {
        told: conversation.told.map(Instant::as_nanos),
        ..end
    };
    conversation.note_end(&end);
    match attended {
        Ok(()) => finish(conversation, end).await,
        Err(error) => {
            tracing::info!(%error, "the results wait on this disk");
            Ok(Ended::Kept)
        }
    }
}

/// How an agent takes part.
#[derive(Debug, Clone)]
pub struct Manner<T = AsTold> {
    /// What the run is called, for the spool.
    pub run: String,
    /// Where rows are kept until the controller has them; `None`: in memory.
    pub spool: Option<SpoolFolder>,
    /// How long a controller that is gone is looked for once this agent's part is over, or before it has begun; while it
    /// measures it never gives up. `None`: the end of the connection is the end.
    pub patience: Option<Duration>,
    /// What it makes of its part.
    pub terms: T,
    /// Whether its owner wants it to end now: what it has goes home first.
    pub leave: Leave,
}

impl Default for Manner {
    /// One connection, nothing on the disk, everything as told: an agent on the controller's own machine.
    fn default() -> Self {
        Manner {
            run: String::new(),
            spool: None,
            patience: None,
            terms: AsTold,
            leave: Leave::default(),
        }
    }
}

/// What an agent makes of its part, before it says that it is ready and while it measures.
pub trait Terms: Send {
    /// Looks at the part. It may change whom it measures against and how that is reached, and says how it was.
    ///
    /// # Errors
    /// Why it won't take part, for people.
    fn consider(&mut self, part: &mut Part) -> impl Future<Output = Result<Ready, String>> + Send {
        let _ = part;
        async { Ok(Ready::default()) }
    }

    /// These rows were measured, and the run's time is `now`: why it stops here, if it does. That is said in the record.
    fn heed(&mut self, rows: &[Row], now: Instant) -> Option<String> {
        let _ = (rows, now);
        None
    }
}

/// Takes every part as it comes.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsTold;

impl Terms for AsTold {}

/// How an agent's part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The controller has all there was.
    Delivered,
    /// The controller was not to be found any more: the results wait in the spool.
    Kept,
}

/// Says that all is done, and waits to be let go.
async fn finish<D: Dial>(conversation: Conversation<D>, end: LateEnd) -> Result<Ended, FleetError> {
    let kept = conversation.outbox.is_kept();
    match conversation.part(end).await {
        Ok(()) => Ok(Ended::Delivered),
        Err(error @ (FleetError::Gone(_) | FleetError::Over(_) | FleetError::Unheld | FleetError::Refused(_)))
            if kept =>
        {
            tracing::info!(%error, "the results wait on this disk");
            Ok(Ended::Kept)
        }
        Err(error) => Err(error),
    }
}

/// Brings home what an agent left that was killed.
async fn bring_home<D: Dial>(
    dial: D,
    join: &Join,
    patience: Duration,
    writer: Writer,
    spooled: Spooled,
) -> Result<Ended, FleetError> {
    tracing::info!(messages = spooled.messages, "bringing home what was spooled");
    let end = spooled.end.unwrap_or_else(|| {
        let error = "it ended before its part was done, and was started again".to_owned();
        ended(&spooled.about.run, Some(error))
    });
    let conversation = Conversation::back(dial, join, patience, Outbox::spooled(writer));
    match finish(conversation, end).await {
        // What it has to say of itself is said; that it was cut short is no failure of bringing it home.
        Err(FleetError::Declined(_) | FleetError::Partly(_)) => Ok(Ended::Delivered),
        ended => ended,
    }
}

fn ended(run: &str, error: Option<String>) -> LateEnd {
    LateEnd {
        run: run.to_owned(),
        error,
        ..LateEnd::default()
    }
}

/// Makes a part of what was assigned, and asks what is to be made of it. On a `real` network the interface counts, too.
async fn prepare(
    assign: &Assign,
    terms: &mut impl Terms,
    real: bool,
) -> Result<(Part, Option<Adapter>, Ready), String> {
    let mut part = Part::of(assign)?;
    let mut ready = terms.consider(&mut part).await?;
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
        Some(ahead) if ahead > std(most) => Err(format!(
            "the start is {} s ahead, and at most {most} are allowed",
            ahead.as_secs()
        )),
        Some(_) => Ok(()),
    }
}

/// The mean busy share of the machine from `zero` on, 0 to 1.
fn machine_busy(watch: &CpuMonitor, zero: Monotonic) -> f64 {
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
