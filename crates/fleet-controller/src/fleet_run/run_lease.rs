//! Holds a run at the controller, across restarts of the controller.

use crate::control_client::{ControlClient, ControlError};
use crate::hub::State;
use crate::hub::control::{AcquireRun, ControlReply, ControlRequest, InviteMember, ReleaseRun};
use netburn_protocol::messages::{RejectReason, Rejected};
use netburn_protocol::own_clock::to_std;
use netburn_run_control::ControllerError;
use netburn_units::Duration;
use std::collections::BTreeSet;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Interval of attempts to reconnect to the controller.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// Time limit for releasing the run.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// [`ControllerError::Busy`] if a member is in another run; [`ControllerError::Rejected`] if the controller rejects
    /// the run for another reason.
    pub(super) async fn begin(
        state: State,
        acquire: AcquireRun,
        invites: Vec<InviteMember>,
    ) -> Result<RunLease, ControllerError> {
        let (over, released) = oneshot::channel();
        let run = acquire.run.clone();
        let control = match acquire_run(&state, &acquire, &invites).await {
            Err(ControlError::Rejected(rejected)) => return Err(run_rejected(rejected)),
            first => first,
        };
        let task = tokio::spawn(keep(state, acquire, invites, released, control));
        Ok(RunLease { over, task, run })
    }

    /// Releases the run; the results of these parts are missing.
    pub(super) async fn end(self, missing: BTreeSet<String>) {
        let RunLease { over, task, run } = self;
        let missing = missing.into_iter().collect();
        if over.send(ReleaseRun { run, missing }).is_ok() {
            let _ = tokio::time::timeout(to_std(RELEASE_TIMEOUT), task).await;
        }
    }
}

async fn keep(
    state: State,
    acquire: AcquireRun,
    invites: Vec<InviteMember>,
    mut released: oneshot::Receiver<ReleaseRun>,
    mut acquired: Result<ControlClient, ControlError>,
) {
    let mut logged = false;
    loop {
        let lost = match acquired {
            Ok(control) => {
                logged = false;
                match hold(control, &mut released).await {
                    Some(lost) => lost,
                    None => return,
                }
            }
            Err(error) => error,
        };
        if !logged {
            logged = true;
            tracing::warn!(error = %lost, "reconnecting to the fleet's controller");
        }
        let retry = async {
            tokio::time::sleep(to_std(RETRY_INTERVAL)).await;
            acquire_run(&state, &acquire, &invites).await
        };
        acquired = tokio::select! {
            acquired = retry => acquired,
            // The controller does not know the run, so it need not be released.
            _ = &mut released => return,
        };
    }
}

/// Holds the run over this connection until it is lost, and returns the reason. Returns `None` after the release.
async fn hold(mut control: ControlClient, released: &mut oneshot::Receiver<ReleaseRun>) -> Option<ControlError> {
    tokio::select! {
        lost = recv_until_closed(&mut control) => Some(lost),
        release = released => {
            if let Ok(release) = release {
                let _ = control.send(&ControlRequest::Release(release)).await;
                control.close().await;
            }
            None
        }
    }
}

/// Connects to the controller, acquires the run and sends all invitations.
async fn acquire_run(
    state: &State,
    acquire: &AcquireRun,
    invites: &[InviteMember],
) -> Result<ControlClient, ControlError> {
    let mut control = ControlClient::connect(state).await?;
    control.acquire(acquire).await?;
    for invite in invites {
        control.send(&ControlRequest::Invite(invite.clone())).await?;
    }
    Ok(control)
}

/// Error of a run that the controller rejected.
fn run_rejected(rejected: Rejected) -> ControllerError {
    match rejected.code {
        RejectReason::MemberBusy => ControllerError::Busy(rejected.reason),
        _ => ControllerError::Rejected(rejected),
    }
}

/// Receives until the connection ends.
async fn recv_until_closed(control: &mut ControlClient) -> ControlError {
    loop {
        match control.recv().await {
            Ok(ControlReply::Rejected(rejected)) => tracing::info!(rejected.reason, "the controller"),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_decides_whether_a_member_is_busy() {
        let of = |code| {
            let reason = "kitchen is in the run `one`".to_owned();
            run_rejected(Rejected { code, reason })
        };
        assert!(matches!(of(RejectReason::MemberBusy), ControllerError::Busy(_)));
        assert!(matches!(of(RejectReason::LimitReached), ControllerError::Rejected(_)));
    }
}
