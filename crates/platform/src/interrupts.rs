//! The sender of SIGINT: a terminal, or a process.
//!
//! A terminal sends SIGINT to all processes in its foreground. A process sends it to whom it names, so a program that
//! ends its children on SIGINT must distinguish the two. The kernel reports the sender (`si_code`, sigaction(2)).

/// Observes SIGINT from now on. Handlers that are installed later must call this one, as those of `signal-hook-registry`
/// do, which tokio uses. Repeated calls have no effect.
pub fn observe() {
    imp::observe();
}

/// Returns whether the last SIGINT came from a process. On systems that do not report the sender: `false`.
#[must_use]
pub fn is_from_process() -> bool {
    imp::is_from_process()
}

#[cfg_attr(target_os = "linux", path = "interrupts/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "interrupts/portable.rs")]
mod imp;
