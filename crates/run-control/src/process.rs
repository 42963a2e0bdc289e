//! Main functions of the processes of an agent and of a server.

use crate::agent::AgentOptions;
use crate::controller_session::ShutdownSignal;
use crate::controller_session::dial::SingleConnection;
use crate::error::AgentError;
use crate::join::Join;
use crate::{agent, controller_session, server};

/// Main function of an agent's process: joins, measures and delivers the rows. Blocks.
///
/// # Errors
/// If it can't join, is rejected, or loses its controller.
pub fn agent_main(join: &Join) -> Result<(), AgentError> {
    live(join, async {
        let channel = controller_session::connect(join).await.map_err(AgentError::Connect)?;
        agent::run(SingleConnection::new(channel), join, AgentOptions::default())
            .await
            .map(drop)
    })
}

/// Main function of a server's process for one run. Blocks.
///
/// # Errors
/// If it can't join, is rejected, can't listen, or loses its controller.
pub fn server_main(join: &Join) -> Result<(), AgentError> {
    live(join, async {
        let channel = controller_session::connect(join).await.map_err(AgentError::Connect)?;
        server::run(SingleConnection::new(channel), join, None, ShutdownSignal::default()).await
    })
}

/// Main function of a process that a controller started: `life` is [`agent_main`] or [`server_main`]. An end for which the
/// controller prints the reason is no error.
///
/// # Errors
/// The text of the error, with the name of the process.
pub fn take_part(join: &Join, life: fn(&Join) -> Result<(), AgentError>) -> Result<(), String> {
    match life(join) {
        Ok(()) | Err(AgentError::RunEnded(_) | AgentError::Declined(_) | AgentError::EndedEarly(_)) => Ok(()),
        Err(error) => Err(format!("{}: {error}", join.name)),
    }
}

fn live(join: &Join, life: impl Future<Output = Result<(), AgentError>>) -> Result<(), AgentError> {
    if let Some(parent) = join.parent {
        match netburn_platform::die_with_parent(parent) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(AgentError::ParentEnded);
            }
            // Without kernel support, the process ends with its connection.
            _ => {}
        }
    }
    // A server needs a descriptor per connection, an agent one per socket.
    if let Err(error) = netburn_platform::raise_open_files() {
        tracing::debug!(%error, "the limit on open files can't be raised");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(AgentError::EventLoop)?;
    runtime.block_on(life)
}
