//! TCP state and options of the kernel, and receiving without copying.

use netburn_units::{BitRate, ByteSize, Duration};
use socket2::SockRef;
use std::io;

/// State of a TCP connection (`struct tcp_info` of linux/tcp.h). Fields that an older kernel does not report are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TcpInfo {
    /// Smoothed round-trip time, with a resolution of 1 µs.
    pub rtt: Duration,
    /// Mean deviation of the round-trip time, with a resolution of 1 µs.
    pub rtt_var: Duration,
    /// Minimum round-trip time, with a resolution of 1 µs.
    pub min_rtt: Duration,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Maximum segment size for sending, in bytes.
    pub mss: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Number of retransmitted segments.
    pub retransmits: u32,
    /// Most recent delivery rate.
    pub delivery_rate: Option<BitRate>,
    /// Pacing rate; `None` without pacing.
    pub pacing_rate: Option<BitRate>,
    /// Bytes acknowledged (RFC 4898 HCThruOctetsAcked).
    pub bytes_acked: ByteSize,
    /// Bytes received (RFC 4898 HCThruOctetsReceived).
    pub bytes_received: ByteSize,
    /// Bytes in the send buffer that have not been sent.
    pub bytes_unsent: ByteSize,
}

impl TcpInfo {
    /// Decodes a `struct tcp_info`. Missing fields are zero, because older kernels return a shorter structure.
    ///
    /// # Panics
    /// Never: the structure is padded to its full length.
    #[must_use]
    pub fn decode(known: &[u8]) -> TcpInfo {
        let mut raw = [0; 256];
        let length = known.len().min(raw.len());
        raw[..length].copy_from_slice(&known[..length]);
        let word = |at: usize| u32::from_ne_bytes(raw[at..at + 4].try_into().expect("four bytes"));
        let long = |at: usize| u64::from_ne_bytes(raw[at..at + 8].try_into().expect("eight bytes"));
        let micros = |at| Duration::from_micros(u64::from(word(at)));
        let rate = |at| match long(at) {
            0 | u64::MAX => None,
            bytes => Some(BitRate::from_bps(bytes.saturating_mul(8))),
        };
        TcpInfo {
            mss: word(16),
            unacked: word(24),
            rtt: micros(68),
            rtt_var: micros(72),
            ssthresh: word(76),
            cwnd: word(80),
            retransmits: word(100),
            pacing_rate: rate(104),
            bytes_acked: ByteSize::from_bytes(long(120)),
            bytes_received: ByteSize::from_bytes(long(128)),
            bytes_unsent: ByteSize::from_bytes(u64::from(word(144))),
            min_rtt: micros(148),
            delivery_rate: rate(160),
        }
    }
}

/// Reads the state of a TCP connection (TCP_INFO).
///
/// # Errors
/// The kernel's error when the socket is not TCP; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than
/// Linux.
pub fn tcp_info<'s>(socket: impl Into<SockRef<'s>>) -> io::Result<TcpInfo> {
    imp::tcp_info(&socket.into())
}

/// Receives up to `limit` bytes and discards them inside the kernel without copying (MSG_TRUNC, tcp(7)). Returns their
/// number; 0 is the end of the stream. Never blocks.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when no data is available; the socket's error.
pub fn discard<'s>(socket: impl Into<SockRef<'s>>, limit: usize) -> io::Result<usize> {
    imp::discard(&socket.into(), limit)
}

/// Sends data to which the kernel appends nothing that follows (MSG_EOR). Otherwise it fills the last packet buffer up to 64
/// KiB, whatever the limit of the unsent data is (`tcp_sendmsg_locked`). Never blocks and never raises SIGPIPE.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer or its limit of unsent data is full; the socket's error.
pub fn send_alone<'s>(socket: impl Into<SockRef<'s>>, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    imp::send_alone(&socket.into(), parts)
}

/// Sends data that more data follows at once. The kernel holds back a last, short segment (MSG_MORE). Never blocks and
/// never raises SIGPIPE.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the socket's error.
pub fn send_more<'s>(socket: impl Into<SockRef<'s>>, bytes: &[u8]) -> io::Result<usize> {
    imp::send_more(&socket.into(), bytes)
}

/// Sets the congestion control by its kernel name ("cubic", "bbr").
///
/// # Errors
/// The kernel's error when it is unavailable or not permitted; [`Unsupported`](io::ErrorKind::Unsupported) on other
/// systems than Linux.
pub fn set_congestion_control<'s>(socket: impl Into<SockRef<'s>>, name: &str) -> io::Result<()> {
    imp::set_congestion_control(&socket.into(), name)
}

/// Returns the kernel name of the congestion control.
///
/// # Errors
/// The kernel's error when the socket is not TCP; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than
/// Linux.
pub fn congestion_control<'s>(socket: impl Into<SockRef<'s>>) -> io::Result<String> {
    imp::congestion_control(&socket.into())
}

/// Returns the congestion controls that the kernel has loaded; empty if the system does not report them.
#[must_use]
pub fn available_congestion_controls() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let text = text.unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Limits the unsent bytes in the send buffer (TCP_NOTSENT_LOWAT, tcp(7)).
///
/// # Errors
/// The kernel's error when the socket is not TCP; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than
/// Linux.
pub fn set_unsent_limit<'s>(socket: impl Into<SockRef<'s>>, limit: u32) -> io::Result<()> {
    imp::set_unsent_limit(&socket.into(), limit)
}

#[cfg_attr(target_os = "linux", path = "tcp/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "tcp/portable.rs")]
mod imp;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn tcp_info_counts_the_bytes() {
        let (mut near, mut far) = pair();
        near.write_all(&[7; 5000]).unwrap();
        let mut got = [0; 5000];
        far.read_exact(&mut got).unwrap();
        far.write_all(&[1]).unwrap();
        near.read_exact(&mut got[..1]).unwrap();
        let info = tcp_info(&near).unwrap();
        assert_eq!(info.bytes_acked, ByteSize::from_bytes(5001), "the SYN counts as one");
        assert_eq!(info.bytes_received, ByteSize::from_bytes(1));
        assert_eq!(info.retransmits, 0);
        assert!(
            info.cwnd >= 1 && info.rtt > Duration::ZERO && info.mss > 500,
            "{info:?}"
        );
        assert_eq!(tcp_info(&far).unwrap().bytes_received, ByteSize::from_bytes(5000));
    }

    #[test]
    fn tcp_info_of_a_datagram_socket_is_an_error() {
        assert!(tcp_info(&UdpSocket::bind("127.0.0.1:0").unwrap()).is_err());
    }

    #[test]
    fn discard_discards_the_requested_number_of_bytes() {
        let (mut near, mut far) = pair();
        far.set_nonblocking(true).unwrap();
        assert_eq!(discard(&far, 10).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        far.set_nonblocking(false).unwrap();
        let sent: Vec<u8> = (0..=255).collect();
        near.write_all(&sent).unwrap();
        let mut first = [0; 1];
        far.read_exact(&mut first).unwrap();
        assert_eq!(discard(&far, 100).unwrap(), 100);
        let mut rest = vec![0; 155];
        far.read_exact(&mut rest).unwrap();
        assert_eq!(rest, sent[101..]);
        drop(near);
        far.set_nonblocking(false).unwrap();
        assert_eq!(far.read(&mut first).unwrap(), 0);
        assert_eq!(discard(&far, 10).unwrap(), 0, "the end of the stream");
    }

    #[test]
    fn discard_of_a_datagram_returns_an_error() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[1; 20], socket.local_addr().unwrap()).unwrap();
        assert!(discard(&socket, 10).is_err());
    }

    #[test]
    fn data_sent_with_msg_more_arrives_first() {
        let (near, mut far) = pair();
        assert_eq!(send_more(&near, b"head ").unwrap(), 5);
        (&near).write_all(b"body").unwrap();
        let mut got = [0; 9];
        far.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"head body");
    }

    #[test]
    fn congestion_control_is_chosen_by_name() {
        let (near, _far) = pair();
        set_congestion_control(&near, "reno").unwrap();
        assert_eq!(congestion_control(&near).unwrap(), "reno");
        assert!(available_congestion_controls().contains(&"reno".to_owned()));
        assert!(set_congestion_control(&near, "no-such-thing").is_err());
    }
}
