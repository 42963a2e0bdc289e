//! A plan from its baseline to the end of its drain.

use crate::capture::CaptureEvent;
use crate::error::SimulateError;
use crate::world::{Counters, TICK, World};
use netburn_record::{Header, MemoryRecorder, Row, Run, RunStatus, Sink};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::ops::ControlFlow;

/// Result of a simulated run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunResult {
    /// True if the caller stopped it before its end.
    pub interrupted: bool,
    /// Simulated time.
    pub simulated: Duration,
    /// Counters.
    pub counters: Counters,
}

/// Runs a plan and passes its rows to `rows` every 100 ms of simulated time, with the instant. The
/// run ends with the drain, or when `rows` breaks.
///
/// # Errors
/// If the plan can't be simulated.
pub fn run(
    plan: &Plan,
    mut rows: impl FnMut(Instant, Vec<Row>) -> ControlFlow<()>,
) -> Result<RunResult, SimulateError> {
    run_loop(plan, World::new, |now, put, _| rows(now, put))
}

/// Runs a plan, and keeps its rows in memory.
///
/// # Errors
/// If the plan can't be simulated.
///
/// # Panics
/// Never, because a recorder in memory accepts every row.
pub fn in_memory(plan: &Plan) -> Result<Run, SimulateError> {
    let mut recorder = MemoryRecorder::new(Header::simulated(plan.clone()));
    run(plan, |_, rows| {
        for row in &rows {
            recorder.put(row).expect("a recorder in memory accepts every row");
        }
        ControlFlow::Continue(())
    })?;
    Ok(recorder.finish(&plan.name, &RunStatus::Complete))
}

/// Checks that a plan can be simulated: simulates its first 100 ms, because only the models can make some checks.
///
/// # Errors
/// The plan can't be simulated.
pub fn check(plan: &Plan) -> Result<(), SimulateError> {
    run(plan, |_, _| ControlFlow::Break(())).map(|_| ())
}

/// As [`run`], and passes every packet and every transmission on the air of the 100 ms as well,
/// each kind in the order of time.
///
/// # Errors
/// As for [`run`].
pub fn run_with_capture(
    plan: &Plan,
    take: impl FnMut(Instant, Vec<Row>, Vec<CaptureEvent>) -> ControlFlow<()>,
) -> Result<RunResult, SimulateError> {
    run_loop(plan, World::with_capture, take)
}

fn run_loop(
    plan: &Plan,
    world: impl FnOnce(&Plan) -> Result<World, SimulateError>,
    mut take: impl FnMut(Instant, Vec<Row>, Vec<CaptureEvent>) -> ControlFlow<()>,
) -> Result<RunResult, SimulateError> {
    check_congestion(plan)?;
    let mut world = world(plan)?;
    let begin = world.now();
    let end = Instant::ZERO + plan.settled();
    let mut tick = begin;
    let mut interrupted = false;
    while tick < end {
        tick = (tick + TICK).min(end);
        world.run_until(tick);
        world.sample();
        if take(tick, world.take_rows(), world.take_captured()).is_break() {
            interrupted = tick < end;
            break;
        }
    }
    world.finish();
    let _ = take(tick, world.take_rows(), world.take_captured());
    Ok(RunResult {
        interrupted,
        simulated: tick.since(begin),
        counters: world.counters(),
    })
}

/// Checks that every congestion control has a model.
fn check_congestion(plan: &Plan) -> Result<(), SimulateError> {
    for (_, congestion) in plan.congestion_controls() {
        let config = netburn_tcp::EndpointConfig {
            congestion: congestion.clone(),
            ..netburn_tcp::EndpointConfig::default()
        };
        netburn_tcp::Endpoint::listen(&config, Instant::ZERO).map_err(SimulateError::Congestion)?;
    }
    Ok(())
}
