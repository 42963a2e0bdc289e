//! TCP sockets of a network namespace, from /proc (proc_pid_net(5)), and the unsent bytes of a socket.

use netburn_platform::system_call::check;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

/// A TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSocket {
    /// Local port.
    pub local_port: u16,
    /// Remote port; 0 for a listening socket.
    pub remote_port: u16,
    /// State (include/net/tcp_states.h).
    pub state: u8,
    /// Inode, which also appears in the links of /proc/PID/fd.
    pub inode: u64,
}

const SYN_SENT: u8 = 2;
const LISTEN: u8 = 10;

impl TcpSocket {
    /// Returns whether the socket listens.
    #[must_use]
    pub const fn listens(&self) -> bool {
        self.state == LISTEN
    }

    /// Returns whether the socket is connecting (SYN-SENT).
    #[must_use]
    pub const fn asks(&self) -> bool {
        self.state == SYN_SENT
    }
}

/// Returns the TCP sockets of this thread's network namespace.
///
/// # Errors
/// An I/O error when /proc cannot be read.
pub fn tcp() -> io::Result<Vec<TcpSocket>> {
    tcp_sockets_in(Path::new("/proc/thread-self/net"))
}

/// Returns the TCP sockets from the files `tcp` and `tcp6` of a directory, such as `/proc/PID/net`.
///
/// # Errors
/// An I/O error when `tcp` cannot be read. A missing `tcp6` is not an error.
pub fn tcp_sockets_in(folder: &Path) -> io::Result<Vec<TcpSocket>> {
    let mut text = std::fs::read_to_string(folder.join("tcp"))?;
    text.push_str(&std::fs::read_to_string(folder.join("tcp6")).unwrap_or_default());
    Ok(text.lines().filter_map(read).collect())
}

/// Parses a line: number, local and remote address, state, queues, timers, retransmissions, user, timeout, inode, and
/// more.
fn read(line: &str) -> Option<TcpSocket> {
    let mut words = line.split_whitespace();
    words.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
    let mut port = || u16::from_str_radix(words.next()?.rsplit(':').next()?, 16).ok();
    let (local_port, remote_port) = (port()?, port()?);
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let inode = words.nth(5)?.parse().ok()?;
    Some(TcpSocket {
        local_port,
        remote_port,
        state,
        inode,
    })
}

/// Returns the bytes that a socket has sent and that the host still counts as unsent, including memory overhead
/// (SIOCOUTQ). For TCP, these are the unacknowledged bytes.
///
/// # Errors
/// The kernel's error.
pub fn unsent(socket: impl AsFd) -> io::Result<u32> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one int.
    check(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ as _, &raw mut bytes) })?;
    Ok(bytes.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_line_is_read() {
        // Documentation/networking/proc_net_tcp.rst of Linux.
        let line = "  46: 010310AC:9C4C 030310AC:1770 01 00000150:00000000 01:00000019 00000000  1000        0 54165785 4 cd1e6040";
        let socket = read(line).unwrap();
        assert_eq!(
            (socket.local_port, socket.remote_port, socket.state),
            (40_012, 6_000, 1)
        );
        assert_eq!(socket.inode, 54_165_785);
        assert!(!socket.listens() && !socket.asks());
        assert_eq!(
            read("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"),
            None
        );
        assert_eq!(read(""), None);
        assert_eq!(read("  46: 010310AC:9C4C 030310AC:1770 01"), None);
    }

    #[test]
    fn sockets_of_this_process_are_listed() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let here = listener.local_addr().unwrap().port();
            // Connections of other processes may have the same local port and other remote addresses.
            let found = |ends: (u16, u16)| {
                let mut listed = tcp().unwrap().into_iter();
                listed.find(|socket| (socket.local_port, socket.remote_port) == ends)
            };
            assert!(found((here, 0)).unwrap().listens());
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let socket = found((near.local_addr().unwrap().port(), here)).unwrap();
            assert!(!socket.listens());
            assert!(socket.inode > 0);
        }
    }
}
