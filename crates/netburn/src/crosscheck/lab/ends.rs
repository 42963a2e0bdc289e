//! Both ends of a flow of datagrams: whole lives of processes inside the lab, which say at their end why they may be wrong.

use crate::args::FlowEnd;
use crate::exit::{CliError, ExitStatus};
use netburn_linux::socket::{arrived, set_receive_buffer, set_send_buffer};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What of a packet of 1500 bytes is content (UDP over IPv4).
pub(super) const CONTENT: u64 = 1_472;
/// The share of its datagrams that a sender may fail to send: a fifth of what two environments may differ by.
const LEFT_OUT: f64 = 0.002;
/// Room for what arrives while a receiver waits for a processor, and for what a sender that was held up catches up with; kernels
/// give less where less is usual.
const ROOM: usize = 64 << 20;

/// One end of a flow.
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

/// Why what a sender did is in doubt, where it is: it was held up, and left out so many of so many.
pub(super) fn left_out(skipped: u64, due: u64) -> Option<String> {
    unsent("a sender was held up and left out", skipped, due)
}

/// Why what a sender did is in doubt, where it is: its kernel, which has nowhere to keep them but for a moment, took so many of
/// so many not.
pub(super) fn refused(refused: u64, due: u64) -> Option<String> {
    unsent("a server's kernel refused", refused, due)
}

fn unsent(what: &str, unsent: u64, due: u64) -> Option<String> {
    let share = unsent as f64 / due.max(1) as f64;
    let (percent, limit) = (share * 100.0, LEFT_OUT * 100.0);
    (share > LEFT_OUT).then(|| format!("{what} {percent:.2} % of its datagrams; the limit is {limit:.1} %"))
}

/// Why what a receiver counted is in doubt, where it is: its kernel dropped so many that it hadn't read.
pub(super) fn unread(dropped: u64) -> Option<String> {
    (dropped > 0)
        .then(|| format!("a receiver's kernel dropped {dropped} datagrams before they were read; the limit is 0"))
}

/// What a sender has to send by when.
#[derive(Debug)]
struct Pace {
    /// Datagrams a second.
    rate: u64,
    sent: u64,
    skipped: u64,
}

impl Pace {
    /// How many are to be sent now. Who was held up for more than 10 ms leaves the rest out: it would be a burst that nobody asked
    /// for.
    fn due(&mut self, elapsed: Duration) -> u64 {
        let due = (elapsed.as_nanos() * u128::from(self.rate) / 1_000_000_000) as u64;
        let behind = due - self.sent - self.skipped;
        let beyond = behind.saturating_sub(self.rate / 100);
        self.skipped += beyond;
        self.sent += behind - beyond;
        behind - beyond
    }
}

/// Sends, and then prints how many datagrams were left out, how many the kernel refused, and how many there should have been.
fn send(to: SocketAddr, rate: u64, span: Duration) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    // Waiting for room in a full queue would look like being held up.
    socket.set_nonblocking(true)?;
    set_send_buffer(&socket, ROOM)?;
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
            // What a full queue refuses is lost, as on any host.
            refused += u64::from(socket.send(&content).is_err());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    println!("{} {refused} {}", pace.skipped, pace.sent + pace.skipped);
    Ok(())
}

/// Counts what arrives, and then prints how many bytes that were, and how many datagrams its kernel had to drop.
fn receive(port: u16, warmup: Duration, span: Duration) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    set_receive_buffer(&socket, ROOM)?;
    // From now on the kernel notes when each arrives, so that it doesn't matter when it is read.
    let _ = arrived(&socket);
    println!("ready");
    let mut buffer = [0_u8; 2_048];
    let mut begins = None;
    let mut bytes = 0;
    // It may stall for good, or never begin.
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

/// Datagrams for which no socket of this namespace had room.
fn dropped() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/net/snmp")?;
    counter(&text, "RcvbufErrors").ok_or_else(|| io::Error::other("the kernel doesn't count lost datagrams"))
}

/// A counter of UDP's: /proc/net/snmp has a line of names and a line of numbers for each protocol.
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
    fn who_was_held_up_catches_up_with_ten_milliseconds_and_leaves_the_rest_out() {
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
    fn a_fiftieth_of_a_tenth_is_left_out_without_a_doubt() {
        assert_eq!(left_out(0, 0), None);
        assert_eq!(left_out(20, 10_000), None);
        let doubt = left_out(21, 10_000).unwrap();
        assert!(doubt.contains("0.21 % of its datagrams"), "{doubt}");
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
