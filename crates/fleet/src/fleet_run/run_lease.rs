//! Holds a run at the controller, across restarts of the controller.

use crate::control_client::{ControlClient, ControlError};
use crate::hub::State;
use crate::hub::control::{AcquireRun, ControlReply, ControlRequest, InviteMember, ReleaseRun};
use crate::local::FleetError;
use crate::own_clock::to_std;
use netburn_units::Duration;
use std::collections::BTreeSet;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Interval of attempts to reconnect to the controller.
const AGAIN: Duration = Duration::from_millis(250);
/// Time limit for releasing the run.
const LAST: Duration = Duration::from_secs(2);

/// Holds a run at the controller until [`end`](Self::end).
pub(super) struct RunLease {
    over: oneshot::Sender<ReleaseRun>,
    task: JoinHandle<()>,
    run: String,
}

impl RunLease {
    /// Acquires the run and invites its members, now and after each reconnect.
    ///
    /// # Errors
    /// [`FleetError::Busy`] if a member is in another run.
    pub(super) async fn begin(
        state: State,
        acquire: AcquireRun,
        invites: Vec<InviteMember>,
    ) -> Result<RunLease, FleetError> {
        let (over, told) = oneshot::channel();
        let run = acquire.run.clone();
        let control = match at(&state, &acquire, &invites).await {
            Err(ControlError::Refused(reason)) => return Err(FleetError::Busy(reason)),
            first => first,
        };
        let task = tokio::spawn(keep(state, acquire, invites, told, control));
        Ok(RunLease { over, task, run })
    }

    /// Releases the run; the results of these parts are missing.
    pub(super) async fn end(self, missing: BTreeSet<String>) {
        let RunLease { over, task, run } = self;
        let missing = missing.into_iter().collect();
        if over.send(ReleaseRun { run, missing }).is_ok() {
            let _ = tokio::time::timeout(to_std(LAST), task).await;
        }
    }
}

async fn keep(
    state: State,
    acquire: AcquireRun,
    invites: Vec<InviteMember>,
    mut told: oneshot::Receiver<ReleaseRun>,
    mut acquired: Result<ControlClient, ControlError>,
) {
    let mut complained = false;
    loop {
        let lost = match acquired {
            Ok(mut control) => {
                complained = false;
                tokio::select! {
                    lost = stay(&mut control) => lost,
                    release = &mut told => {
                        if let Ok(release) = release {
                            let _ = control.say(&ControlRequest::Release(release)).await;
                            control.close().await;
                        }
                        return;
                    }
                }
            }
            Err(error) => error,
        };
        if !complained {
            complained = true;
            tracing::warn!(error = %lost, "reconnecting to the fleet's controller");
        }
        tokio::select! {
            () = tokio::time::sleep(to_std(AGAIN)) => {}
            _ = &mut told => return,
        }
        acquired = tokio::select! {
            acquired = at(&state, &acquire, &invites) => acquired,
            // The controller does not know the run, so it need not be released.
            _ = &mut told => return,
        };
    }
}

/// Connects to the controller, acquires the run and sends all invitations.
async fn at(state: &State, acquire: &AcquireRun, invites: &[InviteMember]) -> Result<ControlClient, ControlError> {
    let mut control = ControlClient::connect(state).await?;
    control.acquire(acquire).await?;
    for invite in invites {
        control.say(&ControlRequest::Invite(invite.clone())).await?;
    }
    Ok(control)
}

/// Receives until the connection ends.
async fn stay(control: &mut ControlClient) -> ControlError {
    loop {
        match control.hear().await {
            Ok(ControlReply::Refused(refused)) => tracing::info!(refused.reason, "the controller"),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}
