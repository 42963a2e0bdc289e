//! Agents and servers in threads of this process.

use netburn_record::Role;
use netburn_run_control::launch::{Child, Launcher};
use netburn_run_control::{AgentError, Join, agent_main, server_main};
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Main function of an agent or server.
type Life = fn(&Join) -> Result<(), AgentError>;

/// Starts them.
#[derive(Default, Clone)]
pub(crate) struct Threads {
    /// Parameters of the started agents and servers.
    pub(crate) joins: Arc<Mutex<Vec<Join>>>,
    /// The agent that is replaced, with its main function.
    pub(crate) instead: Option<(&'static str, Life)>,
}

struct Thread(Option<JoinHandle<Result<(), AgentError>>>, Option<String>);

impl Launcher for Threads {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        self.joins.lock().unwrap().push(join.clone());
        let join = join.clone();
        let instead = self.instead.filter(|(name, _)| *name == join.name);
        let thread = std::thread::spawn(move || match (instead, join.role) {
            (Some((_, act)), _) => act(&join),
            (None, Role::Agent) => agent_main(&join),
            (None, Role::Server) => server_main(&join),
        });
        Ok(Box::new(Thread(Some(thread), None)))
    }
}

impl Child for Thread {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> Option<String> {
        if let Some(thread) = self.0.take_if(|thread| thread.is_finished()) {
            self.1 = Some(match thread.join() {
                Ok(Ok(())) => "well".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "panicked".to_owned(),
            });
        }
        self.1.clone()
    }

    fn kill(&mut self) {}
}
