//! Terminals: input of single keys, size, and restoring the previous modes.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Modes of a terminal, to be restored later.
#[derive(Clone, Copy)]
pub struct Modes(libc::termios);

impl std::fmt::Debug for Modes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Modes")
    }
}

/// Returns the present modes of a terminal.
///
/// # Errors
/// An I/O error when the file is not a terminal.
pub fn modes(of: impl AsFd) -> io::Result<Modes> {
    // SAFETY: all-zero bytes are a valid termios, which is plain numbers.
    let mut modes: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a local termios, and the file stays open during the call.
    check(unsafe { libc::tcgetattr(of.as_fd().as_raw_fd(), &mut modes) })?;
    Ok(Modes(modes))
}

/// Switches a terminal to input of single keys without echo. Output is unchanged. Ctrl-C still interrupts. Ctrl-Z and
/// Ctrl-\ are read as keys, so that the program cannot be stopped while the terminal is in this mode.
///
/// # Errors
/// An I/O error when the file is not a terminal, or another process group is in the foreground.
pub fn set_key_input(of: impl AsFd) -> io::Result<()> {
    let Modes(mut modes) = modes(of.as_fd())?;
    modes.c_lflag &= !(libc::ICANON | libc::ECHO);
    modes.c_cc[libc::VMIN] = 1;
    modes.c_cc[libc::VTIME] = 0;
    // POSIX.1-2017 11.1.9: the value 0 disables the function on these systems.
    modes.c_cc[libc::VQUIT] = 0;
    modes.c_cc[libc::VSUSP] = 0;
    // SAFETY: the pointer is to a local termios, and the file stays open during the call.
    check(unsafe { libc::tcsetattr(of.as_fd().as_raw_fd(), libc::TCSANOW, &modes) })?;
    Ok(())
}

/// Restores the modes of a terminal. Also works from the background, so that another process can restore the terminal
/// after a program was killed.
///
/// # Errors
/// An I/O error when the file is not a terminal.
pub fn put_back(of: impl AsFd, modes: &Modes) -> io::Result<()> {
    // SAFETY: ignoring a signal runs no code. SIGTTOU would stop a background process that changes its terminal.
    unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
    // SAFETY: the pointer is to a termios that outlives the call, and the file stays open during the call.
    check(unsafe { libc::tcsetattr(of.as_fd().as_raw_fd(), libc::TCSANOW, &modes.0) })?;
    Ok(())
}

/// Returns the rows and columns of a terminal; `None` if they are unknown.
pub fn size(of: impl AsFd) -> Option<(u16, u16)> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: TIOCGWINSZ writes a winsize, and the file stays open during the call.
    check(unsafe { libc::ioctl(of.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &mut size) }).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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
