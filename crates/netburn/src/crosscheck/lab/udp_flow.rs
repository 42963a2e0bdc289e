//! Sender and receiver of a flow of UDP datagrams. Each is a process inside the lab and prints its counters at its end.

use crate::args::FlowEnd;
use crate::exit::{CliError, ExitStatus};
use netburn_linux::socket::{arrived, set_receive_buffer, set_send_buffer};
use netburn_study::conformance::datagrams::CONTENT;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum share of its datagrams that a sender may fail to send: a fifth of the tolerance of the comparison.
const MAX_UNSENT: f64 = 0.002;
/// Size of the socket buffers in bytes, for packets while a process waits for a processor. Kernels may limit it.
const BUFFER: usize = 64 << 20;

/// `netburn flow`: runs an endpoint of a flow.
pub(crate) fn flow(end: &FlowEnd) -> Result<ExitStatus, CliError> {
    let done = match *end {
        FlowEnd::Send { to, rate, milliseconds } => send(to, rate, Duration::from_millis(milliseconds)),
        FlowEnd::Receive {
            port,
            warmup,
            milliseconds,
        } => receive(port, Duration::from_millis(warmup), Duration::from_millis(milliseconds)),
    };
    done.map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(ExitStatus::Success)
}

/// Quality issue if a delayed sender skipped more than the limit of its datagrams.
pub(super) fn skipped_too_many(skipped: u64, due: u64) -> Option<String> {
    unsent("a sender was delayed and skipped", skipped, due)
}

/// Quality issue if a sender's kernel refused more than the limit of its datagrams.
pub(super) fn refused(refused: u64, due: u64) -> Option<String> {
    unsent("a server's kernel refused", refused, due)
}

fn unsent(what: &str, unsent: u64, due: u64) -> Option<String> {
    let share = unsent as f64 / due.max(1) as f64;
    let (percent, limit) = (share * 100.0, MAX_UNSENT * 100.0);
    (share > MAX_UNSENT).then(|| format!("{what} {percent:.2} % of its datagrams; the limit is {limit:.1} %"))
}

/// Quality issue if a receiver's kernel dropped datagrams before the receiver read them.
pub(super) fn unread(dropped: u64) -> Option<String> {
    (dropped > 0)
        .then(|| format!("a receiver's kernel dropped {dropped} datagrams before they were read; the limit is 0"))
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

/// Sends, and then prints the numbers of skipped, refused and due datagrams.
fn send(to: SocketAddr, rate: u64, span: Duration) -> io::Result<()> {
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
    let mut refused = 0;
    loop {
        let elapsed = began.elapsed();
        if elapsed >= span {
            break;
        }
        for _ in 0..pace.due(elapsed) {
            // A datagram that a full queue refuses is lost, as on any host.
            refused += u64::from(socket.send(&content).is_err());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    println!("{} {refused} {}", pace.skipped, pace.sent + pace.skipped);
    Ok(())
}

/// Counts received payload, and then prints its bytes and the number of datagrams that the kernel dropped.
fn receive(port: u16, warmup: Duration, span: Duration) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    set_receive_buffer(&socket, BUFFER)?;
    // From now on the kernel timestamps each datagram, so the time of the read does not matter.
    let _ = arrived(&socket);
    println!("ready");
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
    println!("{bytes} {}", dropped()?);
    Ok(())
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
    fn up_to_0_2_percent_unsent_is_no_quality_issue() {
        assert_eq!(skipped_too_many(0, 0), None);
        assert_eq!(skipped_too_many(20, 10_000), None);
        let issue = skipped_too_many(21, 10_000).unwrap();
        assert!(issue.contains("0.21 % of its datagrams"), "{issue}");
        assert_eq!(refused(20, 10_000), None);
        assert!(refused(21, 10_000).unwrap().contains("refused 0.21 %"));
        assert_eq!(unread(0), None);
        assert!(unread(3).unwrap().contains("dropped 3 datagrams"));
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
