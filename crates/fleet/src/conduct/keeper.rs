//! Keeps the controller informed of a run, through the controller's restarts.

use crate::hub::State;
use crate::hub::owner::{FromOwner, Hold, Release, SummonMember, ToOwner};
use crate::local::FleetError;
use crate::own_clock::std;
use crate::owner::{Owner, OwnerError};
use netburn_units::Duration;
use std::collections::BTreeSet;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// From one look for the controller to the next.
const AGAIN: Duration = Duration::from_millis(250);
/// How long the last words may take.
const LAST: Duration = Duration::from_secs(2);

/// Holds a run at the controller until it is told that it is over.
pub(super) struct Keeper {
    over: oneshot::Sender<Release>,
    task: JoinHandle<()>,
    run: String,
}

impl Keeper {
    /// Registers the run and has its members summoned, now and whenever the controller comes back.
    ///
    /// # Errors
    /// When the controller refuses: a member has come to be in another run.
    pub(super) async fn begin(state: State, hold: Hold, summons: Vec<SummonMember>) -> Result<Keeper, FleetError> {
        let (over, told) = oneshot::channel();
        let run = hold.run.clone();
        let owner = match at(&state, &hold, &summons).await {
            Err(OwnerError::Refused(reason)) => return Err(FleetError::Busy(reason)),
            first => first,
        };
        let task = tokio::spawn(keep(state, hold, summons, told, owner));
        Ok(Keeper { over, task, run })
    }

    /// The run is over; the results of these parts are missing.
    pub(super) async fn end(self, missing: BTreeSet<String>) {
        let Keeper { over, task, run } = self;
        let missing = missing.into_iter().collect();
        if over.send(Release { run, missing }).is_ok() {
            let _ = tokio::time::timeout(std(LAST), task).await;
        }
    }
}

async fn keep(
    state: State,
    hold: Hold,
    summons: Vec<SummonMember>,
    mut told: oneshot::Receiver<Release>,
    mut held: Result<Owner, OwnerError>,
) {
    let mut complained = false;
    loop {
        let lost = match held {
            Ok(mut owner) => {
                complained = false;
                tokio::select! {
                    lost = stay(&mut owner) => lost,
                    release = &mut told => {
                        if let Ok(release) = release {
                            let _ = owner.say(&FromOwner::Release(release)).await;
                            owner.close().await;
                        }
                        return;
                    }
                }
            }
            Err(error) => error,
        };
        if !complained {
            complained = true;
            tracing::warn!(error = %lost, "the fleet's controller is looked for again");
        }
        tokio::select! {
            () = tokio::time::sleep(std(AGAIN)) => {}
            _ = &mut told => return,
        }
        held = tokio::select! {
            held = at(&state, &hold, &summons) => held,
            // It isn't known there, so it need not be told that it is over.
            _ = &mut told => return,
        };
    }
}

/// Finds the controller and tells it all there is to know.
async fn at(state: &State, hold: &Hold, summons: &[SummonMember]) -> Result<Owner, OwnerError> {
    let mut owner = Owner::find(state).await?;
    owner.hold(hold).await?;
    for summon in summons {
        owner.say(&FromOwner::Summon(summon.clone())).await?;
    }
    Ok(owner)
}

/// Listens until there is nothing more to hear.
async fn stay(owner: &mut Owner) -> OwnerError {
    loop {
        match owner.hear().await {
            Ok(ToOwner::Refused(refused)) => tracing::info!(refused.reason, "the controller"),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}
