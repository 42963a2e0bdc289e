//! A controller for the time of one command.

use super::serve::{announced, listen_at, unbound, warn_of_rejections};
use super::{here, runtime};
use crate::args::Listen;
use crate::exit::CliError;
use netburn_fleet_controller::hub::{Config, Controller, State};
use netburn_fleet_member::discovery::Announcement;
use std::fmt;
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// A controller in a thread of this process. It ends when it is dropped, and its members reconnect to a later one.
pub(crate) struct OwnController {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// It ends with the value.
    _announcement: Option<Announcement>,
}

impl OwnController {
    /// Starts a controller of this user at these addresses; without one, at the default address. Unless `quiet`, the fleet
    /// is announced on the local network.
    pub(crate) fn start(state: &State, listen: &[Listen], quiet: bool) -> Result<Self, CliError> {
        // Each member and each agent of a run has a connection. A lower limit of the system is not an error.
        let _ = netburn_platform::raise_open_files();
        let name = here();
        let mut config = Config::new(state.clone(), name.clone());
        listen_at(&mut config, listen);
        let runtime = runtime()?;
        let controller = {
            let _inside = runtime.enter();
            Controller::bind(config).map_err(|error| unbound(state, error))?
        };
        let announcement = announced(&name, &controller, quiet);
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            let stopped = async move {
                // An error means that the sender was dropped.
                let _ = stopped.await;
            };
            runtime.block_on(controller.run(stopped, |event| warn_of_rejections(&event)));
        };
        let thread = thread::Builder::new()
            .spawn(serve)
            .map_err(|error| CliError::Failed(format!("can't start threads: {error}")))?;
        Ok(OwnController {
            stop: Some(stop),
            thread: Some(thread),
            _announcement: announcement,
        })
    }
}

impl fmt::Debug for OwnController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnController").finish_non_exhaustive()
    }
}

impl Drop for OwnController {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
