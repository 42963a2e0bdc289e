//! A plan from its baseline to the end of its drain.

use crate::error::SimulateError;
use crate::seen::Seen;
use crate::world::{Counted, TICK, World};
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::ops::ControlFlow;

/// How a simulated run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Whether somebody stopped it before its end.
    pub interrupted: bool,
    /// The virtual time that it covered.
    pub simulated: Duration,
    /// What it took.
    pub counted: Counted,
}

/// Runs a plan, and gives `rows` what there is of them every tenth of a second of virtual time, with the instant. It goes on until the
/// drain is over, or until `rows` breaks.
///
/// # Errors
/// When the plan can't be simulated: what is wrong and what would be right.
pub fn run(plan: &Plan, mut rows: impl FnMut(Instant, Vec<Row>) -> ControlFlow<()>) -> Result<Done, SimulateError> {
    go(plan, World::new, |now, put, _| rows(now, put))
}

/// The same, and gives every packet and every transmission on the air of that tenth of a second too, each kind in the order of time.
///
/// # Errors
/// As for [`run`].
pub fn run_seen(
    plan: &Plan,
    take: impl FnMut(Instant, Vec<Row>, Vec<Seen>) -> ControlFlow<()>,
) -> Result<Done, SimulateError> {
    go(plan, World::watched, take)
}

fn go(
    plan: &Plan,
    world: impl FnOnce(&Plan) -> Result<World, SimulateError>,
    mut take: impl FnMut(Instant, Vec<Row>, Vec<Seen>) -> ControlFlow<()>,
) -> Result<Done, SimulateError> {
    check(plan)?;
    let mut world = world(plan)?;
    let begin = world.now();
    let end = Instant::ZERO + plan.settled();
    let mut tick = begin;
    let mut interrupted = false;
    while tick < end {
        tick = (tick + TICK).min(end);
        world.run_until(tick);
        world.look();
        if take(tick, world.take_rows(), world.take_seen()).is_break() {
            interrupted = tick < end;
            break;
        }
    }
    world.finish();
    let _ = take(tick, world.take_rows(), world.take_seen());
    Ok(Done {
        interrupted,
        simulated: tick.since(begin),
        counted: world.counted(),
    })
}

/// Every congestion control must be one that is modelled.
fn check(plan: &Plan) -> Result<(), SimulateError> {
    for (_, congestion) in plan.congestion_controls() {
        let config = netburn_tcp::EndpointConfig {
            congestion: congestion.clone(),
            ..netburn_tcp::EndpointConfig::default()
        };
        netburn_tcp::Endpoint::listen(&config, Instant::ZERO).map_err(SimulateError::Congestion)?;
    }
    Ok(())
}
