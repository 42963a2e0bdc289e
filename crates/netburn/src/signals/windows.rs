//! Windows: the events of a console (`SetConsoleCtrlHandler`).
//!
//! The system ends a process a few seconds after it closed the console. A handler has this time to save results.

use super::Asked;
use std::io;
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// Streams of the four events.
#[derive(Debug)]
pub(super) struct Streams {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl Streams {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Streams {
            interrupt: ctrl_c()?,
            terminate: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    pub(super) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Interrupt,
            // Another process can send Ctrl-Break to a process group (`GenerateConsoleCtrlEvent`), but not Ctrl-C.
            _ = self.terminate.recv() => Asked::Terminate,
            _ = self.close.recv() => Asked::Hangup,
            _ = self.shutdown.recv() => Asked::Terminate,
        }
    }
}
