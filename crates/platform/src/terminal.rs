//! Terminals: input of single keys, size, and restoring the previous modes.

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io;
use std::os::fd::AsFd;

/// Modes of a terminal, to be restored later.
#[derive(Debug, Clone)]
pub struct Modes(Termios);

/// Returns the present modes of a terminal.
///
/// # Errors
/// An I/O error when the file is not a terminal.
pub fn modes(of: impl AsFd) -> io::Result<Modes> {
    Ok(Modes(tcgetattr(of)?))
}

/// Switches a terminal to input of single keys without echo. Output is unchanged. Ctrl-C still interrupts. Ctrl-Z and
/// Ctrl-\ are read as keys, so that the program cannot be stopped while the terminal is in this mode.
///
/// # Errors
/// An I/O error when the file is not a terminal, or another process group is in the foreground.
pub fn set_key_input(of: impl AsFd) -> io::Result<()> {
    let Modes(mut modes) = modes(of.as_fd())?;
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    // POSIX.1-2017 11.1.9: the value 0 disables the function on these systems.
    modes.special_codes[SpecialCodeIndex::VQUIT] = 0;
    modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
    Ok(tcsetattr(of, OptionalActions::Now, &modes)?)
}

/// Restores the modes of a terminal. Also works from the background, so that another process can restore the terminal
/// after a program was killed.
///
/// # Errors
/// An I/O error when the file is not a terminal.
pub fn put_back(of: impl AsFd, modes: &Modes) -> io::Result<()> {
    // SAFETY: ignoring a signal runs no code. SIGTTOU would stop a background process that changes its terminal.
    unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
    Ok(tcsetattr(of, OptionalActions::Now, &modes.0)?)
}

/// Returns the rows and columns of a terminal; `None` if they are unknown.
pub fn size(of: impl AsFd) -> Option<(u16, u16)> {
    let size = tcgetwinsize(of).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn other_files_are_not_terminals() {
        let file = File::open("/dev/null").unwrap();
        assert!(modes(&file).is_err());
        assert!(set_key_input(&file).is_err());
        assert_eq!(size(&file), None);
    }
}
