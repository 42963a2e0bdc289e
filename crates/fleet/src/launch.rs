//! How participants are started.

use crate::join::Join;
use std::io;
use std::path::PathBuf;

/// Starts participants: on this machine, in a lab's namespaces, on other machines.
pub trait Launcher {
    /// Starts one that will join as `join` says.
    ///
    /// # Errors
    /// When it can't be started.
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>>;
}

/// A participant that was started.
pub trait Child: Send {
    /// Its process id, where it has one on this machine.
    fn id(&self) -> Option<u32>;

    /// How it ended, for people; `None` while it is there.
    fn ended(&mut self) -> Option<String>;

    /// Ends it by force.
    fn kill(&mut self);
}

/// Processes on this machine, of one program with the hidden commands `agent` and `serve --join`.
#[derive(Debug, Clone)]
pub struct ThisMachine {
    /// The program.
    pub program: PathBuf,
}

impl Launcher for ThisMachine {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        let _ = join;
        todo!()
    }
}
