//! Sender and receiver of a flow of UDP datagrams.

use super::CONTENT;
use netburn_platform::socket::{arrived, set_receive_buffer, set_send_buffer};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Size of the socket buffers in bytes, for packets while a process waits for a processor. Kernels may limit it.
const BUFFER: usize = 64 << 20;

/// Counters of a sender. The endpoint prints them as a line of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sent {
    /// Datagrams that were skipped after a delay of the sender.
    pub skipped: u64,
    /// Datagrams that the sender's kernel rejected.
    pub rejected: u64,
    /// Datagrams that were due.
    pub due: u64,
}

/// Counters of a receiver. The endpoint prints them as a line of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Received {
    /// Payload that arrived in the measured time, in bytes.
    pub bytes: u64,
    /// Datagrams that full socket buffers dropped.
    pub dropped: u64,
}

/// Schedule of a sender.
#[derive(Debug)]
struct Pace {
    /// Datagrams per second.
    rate: u64,
    sent: u64,
    skipped: u64,
}

impl Pace {
    /// Number of datagrams to send now. A sender that was delayed for more than 10 ms skips the rest, which would be an
    /// unplanned burst.
    fn due(&mut self, elapsed: Duration) -> u64 {
        let due = (elapsed.as_nanos() * u128::from(self.rate) / 1_000_000_000) as u64;
        let behind = due - self.sent - self.skipped;
        let beyond = behind.saturating_sub(self.rate / 100);
        self.skipped += beyond;
        self.sent += behind - beyond;
        behind - beyond
    }
}

/// Sends `rate` datagrams per second to `to` for `span`. Blocks.
///
/// # Errors
/// The system does not permit the socket.
pub fn send(to: SocketAddr, rate: u64, span: Duration) -> io::Result<Sent> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    // Blocking on a full queue would be counted as a delay of the sender.
    socket.set_nonblocking(true)?;
    set_send_buffer(&socket, BUFFER)?;
    let content = [0_u8; CONTENT as usize];
    let mut pace = Pace {
        rate,
        sent: 0,
        skipped: 0,
    };
    let began = Instant::now();
    let mut rejected = 0;
    loop {
        let elapsed = began.elapsed();
        if elapsed >= span {
            break;
        }
        for _ in 0..pace.due(elapsed) {
            // A datagram that a full queue rejects is lost, as on any host.
            rejected += u64::from(socket.send(&content).is_err());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(Sent {
        skipped: pace.skipped,
        rejected,
        due: pace.sent + pace.skipped,
    })
}

/// Counts the datagrams that arrive at UDP port `port` in `span`, which begins `warmup` after the first datagram. Calls
/// `ready` when the port is open. Blocks.
///
/// # Errors
/// The system does not permit the socket, or does not count dropped datagrams.
pub fn receive(port: u16, warmup: Duration, span: Duration, ready: impl FnOnce()) -> io::Result<Received> {
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    set_receive_buffer(&socket, BUFFER)?;
    // From now on the kernel timestamps each datagram, so the time of the read does not matter.
    let _ = arrived(&socket);
    ready();
    let mut buffer = [0_u8; 2_048];
    let mut begins = None;
    let mut bytes = 0;
    // The timeout ends the loop if the flow stalls or never starts.
    while let Ok(length) = socket.recv(&mut buffer) {
        let at = match arrived(&socket) {
            Ok(at) => Duration::from_nanos(at.as_nanos()),
            Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        };
        let from = *begins.get_or_insert(at + warmup);
        if at >= from + span {
            break;
        }
        if at >= from {
            bytes += length as u64;
        }
    }
    Ok(Received {
        bytes,
        dropped: dropped()?,
    })
}

/// Number of datagrams that full socket buffers of this network namespace dropped.
fn dropped() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/net/snmp")?;
    counter(&text, "RcvbufErrors").ok_or_else(|| io::Error::other("the kernel doesn't count lost datagrams"))
}

/// A UDP counter: /proc/net/snmp has a line of names and a line of numbers for each protocol.
fn counter(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split(' ').position(|one| one == name)?;
    numbers.split(' ').nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delayed_sender_catches_up_on_ten_milliseconds_and_skips_the_rest() {
        let mut pace = Pace {
            rate: 1_000,
            sent: 0,
            skipped: 0,
        };
        let mut due = |millis| pace.due(Duration::from_millis(millis));
        assert_eq!((due(1), due(1), due(4)), (1, 0, 3));
        assert_eq!((due(14), due(15)), (10, 1));
        assert_eq!((due(45), due(46)), (10, 1));
        assert_eq!((pace.sent, pace.skipped), (26, 20));
    }

    #[test]
    fn a_counter_is_found_by_its_name() {
        let text = "Ip: Forwarding DefaultTTL\nIp: 1 64\nUdp: InDatagrams NoPorts RcvbufErrors\nUdp: 12 0 7\nUdpLite: \
                    InDatagrams\nUdpLite: 0\n";
        assert_eq!(counter(text, "RcvbufErrors"), Some(7));
        assert_eq!(counter(text, "SndbufErrors"), None);
        assert_eq!(counter("", "RcvbufErrors"), None);
    }
}
