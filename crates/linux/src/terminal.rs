//! Terminals: single keys in place of lines, the size, and putting back what was.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// How a terminal was, to be put back.
#[derive(Clone, Copy)]
pub struct Modes(libc::termios);

impl std::fmt::Debug for Modes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Modes")
    }
}

/// How a terminal is now.
///
/// # Errors
/// When the file is no terminal.
pub fn modes(of: impl AsFd) -> io::Result<Modes> {
    // SAFETY: all-zero bytes are a valid termios, which is plain numbers.
    let mut modes: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a termios of our own, and the file stays open meanwhile.
    check(unsafe { libc::tcgetattr(of.as_fd().as_raw_fd(), &mut modes) })?;
    Ok(Modes(modes))
}

/// Gives a terminal's keys one by one, without showing them. What is written to it looks as before; Ctrl-C still interrupts, while
/// Ctrl-Z and Ctrl-\ are keys as others, so that nothing leaves the terminal as it is now.
///
/// # Errors
/// When the file is no terminal, or that of somebody else's foreground.
pub fn take_keys(of: impl AsFd) -> io::Result<()> {
    let Modes(mut modes) = modes(of.as_fd())?;
    modes.c_lflag &= !(libc::ICANON | libc::ECHO);
    modes.c_cc[libc::VMIN] = 1;
    modes.c_cc[libc::VTIME] = 0;
    // POSIX.1-2017 11.1.9: this value, 0 where we run, disables the function.
    modes.c_cc[libc::VQUIT] = 0;
    modes.c_cc[libc::VSUSP] = 0;
    // SAFETY: the pointer is to a termios of our own, and the file stays open meanwhile.
    check(unsafe { libc::tcsetattr(of.as_fd().as_raw_fd(), libc::TCSANOW, &modes) })?;
    Ok(())
}

/// Puts a terminal back to how it was; also from the background, so that another process can do it when the one that changed it is
/// gone.
///
/// # Errors
/// When the file is no terminal.
pub fn put_back(of: impl AsFd, modes: &Modes) -> io::Result<()> {
    // SAFETY: ignoring a signal runs no code. It would stop a process in the background that changes its terminal.
    unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
    // SAFETY: the pointer is to a termios that outlives the call, and the file stays open meanwhile.
    check(unsafe { libc::tcsetattr(of.as_fd().as_raw_fd(), libc::TCSANOW, &modes.0) })?;
    Ok(())
}

/// A terminal's rows and columns; `None` where it has none.
pub fn size(of: impl AsFd) -> Option<(u16, u16)> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: TIOCGWINSZ writes a winsize, which this is, and the file stays open meanwhile.
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
    fn what_is_no_terminal_is_said_to_be_none() {
        let file = File::open("/dev/null").unwrap();
        assert!(modes(&file).is_err());
        assert!(take_keys(&file).is_err());
        assert_eq!(size(&file), None);
    }
}
