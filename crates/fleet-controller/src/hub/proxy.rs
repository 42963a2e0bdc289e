//! Proxying of a connection to the process that holds its run, without parsing.

use netburn_protocol::own_clock::to_std;
use netburn_protocol::transport::ChannelError;
use netburn_units::Duration;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time limit for the answer of the holder, which is on this machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of the head of the answer, in bytes.
const MAX_HEAD: usize = 4096;

/// Opens a WebSocket at the holder's port, and copies bytes in both directions until one side closes.
pub(super) async fn run(mut stream: impl AsyncRead + AsyncWrite + Unpin, port: u16) -> Result<(), ChannelError> {
    let opened = timeout(to_std(ANSWER_TIMEOUT), open(port)).await;
    let (mut holder, early) = opened.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    stream.write_all(&early).await?;
    tokio::io::copy_bidirectional_with_sizes(&mut stream, &mut holder, 16 << 10, 16 << 10).await?;
    Ok(())
}

/// Client handshake of RFC 6455 §4.1. Returns the bytes after the answer as well.
async fn open(port: u16) -> Result<(TcpStream, Vec<u8>), ChannelError> {
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut holder = TcpStream::connect(at).await?;
    holder.set_nodelay(true)?;
    let key = tokio_tungstenite::tungstenite::handshake::client::generate_key();
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {at}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: {key}\r\n\r\n"
    );
    holder.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    let end = loop {
        if let Some(at) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if head.len() > MAX_HEAD || holder.read_buf(&mut head).await? == 0 {
            return Err(ChannelError::Framing(
                "the holder of the run opened no WebSocket".to_owned(),
            ));
        }
    };
    if !head.starts_with(b"HTTP/1.1 101 ") {
        return Err(ChannelError::Framing(
            "the holder of the run rejected the connection".to_owned(),
        ));
    }
    let early = head.split_off(end);
    Ok((holder, early))
}
