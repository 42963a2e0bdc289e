//! Framing of messages: texts of a WebSocket, or texts with a length prefix on any byte stream.
//!
//! Both check the length of a message before they allocate memory for it, so that an announced gigabyte
//! costs nothing.

use crate::messages::{Malformed, Message};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, client_async_with_config};

/// Both directions of a connection.
#[derive(Debug)]
pub struct Channel {
    /// Receiving direction.
    pub receiver: Receiver,
    /// Sending direction.
    pub sender: Sender,
}

/// Receiving direction of a connection.
#[derive(Debug)]
pub struct Receiver {
    inner: Incoming,
    limit: usize,
}

/// Sending direction of a connection.
#[derive(Debug)]
pub struct Sender(Outgoing);

/// Error of a channel, after which it is unusable.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The peer closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Broken(#[from] io::Error),
    /// A received message exceeds the maximum length.
    #[error("message longer than {limit} bytes")]
    TooLong {
        /// Maximum length in bytes.
        limit: usize,
    },
    /// The WebSocket handshake was answered with this HTTP status.
    #[error("WebSocket handshake failed: HTTP status {0}")]
    Answered(u16),
    /// Received data is invalid for this transport.
    #[error("invalid transport data: {0}")]
    Framing(String),
}

/// Any byte stream.
trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}
type Stream = Box<dyn Bytes>;

enum Incoming {
    WebSocket(SplitStream<WebSocketStream<Stream>>),
    Stream(ReadHalf<Stream>),
}

enum Outgoing {
    WebSocket(SplitSink<WebSocketStream<Stream>, Frame>),
    Stream(WriteHalf<Stream>),
}

impl Channel {
    /// Channel over a byte stream. Each message is its length in bytes (4 bytes, network byte order) and
    /// its JSON. `limit` is the maximum length of received messages.
    pub fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, limit: usize) -> Channel {
        let (read, write) = tokio::io::split(Box::new(stream) as Stream);
        Channel {
            receiver: Receiver {
                inner: Incoming::Stream(read),
                limit,
            },
            sender: Sender(Outgoing::Stream(write)),
        }
    }

    /// Channel over a WebSocket (RFC 6455) that the peer opens on `stream`.
    ///
    /// # Errors
    /// If the handshake fails.
    pub async fn accept(stream: TcpStream, limit: usize) -> Result<Channel, ChannelError> {
        stream.set_nodelay(true)?;
        let socket = accept_async_with_config(Box::new(stream) as Stream, Some(config(limit))).await;
        Ok(Channel::of_socket(
            socket.map_err(|error| of_socket(error, limit))?,
            limit,
        ))
    }

    /// Channel over a WebSocket whose handshake is complete, as the server.
    pub async fn opened(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, limit: usize) -> Channel {
        let stream = Box::new(stream) as Stream;
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config(limit))).await;
        Channel::of_socket(socket, limit)
    }

    /// Channel over a WebSocket to `url`, opened on a connected stream.
    ///
    /// # Errors
    /// If the handshake fails.
    pub async fn open(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        url: &str,
        limit: usize,
    ) -> Result<Channel, ChannelError> {
        let opened = client_async_with_config(url, Box::new(stream) as Stream, Some(config(limit))).await;
        let (socket, _) = opened.map_err(|error| of_socket(error, limit))?;
        Ok(Channel::of_socket(socket, limit))
    }

    /// Channel over a WebSocket to `url`, such as `ws://127.0.0.1:40123/`.
    ///
    /// # Errors
    /// If the connection or the handshake fails.
    pub async fn connect(url: &str, limit: usize) -> Result<Channel, ChannelError> {
        let host = url
            .strip_prefix("ws://")
            .map(|rest| rest.split('/').next().unwrap_or(rest))
            .ok_or_else(|| ChannelError::Framing(format!("`{url}` does not begin with ws://")))?;
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        Channel::open(stream, url, limit).await
    }

    fn of_socket(socket: WebSocketStream<Stream>, limit: usize) -> Channel {
        let (sink, stream) = socket.split();
        Channel {
            receiver: Receiver {
                inner: Incoming::WebSocket(stream),
                limit,
            },
            sender: Sender(Outgoing::WebSocket(sink)),
        }
    }
}

impl Receiver {
    /// Receives the next text. Not cancellation safe.
    ///
    /// # Errors
    /// If the channel is closed or fails.
    pub async fn text(&mut self) -> Result<String, ChannelError> {
        let limit = self.limit;
        match &mut self.inner {
            Incoming::Stream(stream) => {
                let length = stream.read_u32().await.map_err(closed)? as usize;
                if length > limit {
                    return Err(ChannelError::TooLong { limit });
                }
                let mut bytes = Vec::new();
                // Allocates for received data, not for the announced length.
                if stream.take(length as u64).read_to_end(&mut bytes).await? < length {
                    return Err(ChannelError::Closed);
                }
                String::from_utf8(bytes).map_err(|_| ChannelError::Framing("not UTF-8".to_owned()))
            }
            Incoming::WebSocket(socket) => loop {
                match socket.next().await {
                    None | Some(Ok(Frame::Close(_))) => return Err(ChannelError::Closed),
                    Some(Ok(Frame::Text(text))) => return Ok(text.as_str().to_owned()),
                    Some(Ok(Frame::Binary(_))) => {
                        return Err(ChannelError::Framing("unexpected binary message".to_owned()));
                    }
                    Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => {}
                    Some(Err(error)) => return Err(of_socket(error, limit)),
                }
            },
        }
    }

    /// Receives the next message, or the error of parsing it.
    ///
    /// # Errors
    /// If the channel is closed or fails.
    pub async fn message<M: Message>(&mut self) -> Result<Result<M, Malformed>, ChannelError> {
        Ok(M::from_text(&self.text().await?))
    }
}

impl Sender {
    /// Sends one text.
    ///
    /// # Errors
    /// If the channel fails. Then no further text can be sent.
    pub async fn text(&mut self, text: String) -> Result<(), ChannelError> {
        match &mut self.0 {
            Outgoing::Stream(stream) => {
                let length = u32::try_from(text.len()).map_err(|_| ChannelError::TooLong {
                    limit: u32::MAX as usize,
                })?;
                // One write, because two would be two packets.
                let mut bytes = Vec::with_capacity(4 + text.len());
                bytes.extend_from_slice(&length.to_be_bytes());
                bytes.extend_from_slice(text.as_bytes());
                stream.write_all(&bytes).await?;
                Ok(stream.flush().await?)
            }
            Outgoing::WebSocket(socket) => {
                let sent = socket.send(Frame::text(text)).await;
                sent.map_err(|error| of_socket(error, usize::MAX))
            }
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// If the channel fails. Then no further message can be sent.
    pub async fn message<M: Message>(&mut self, message: &M) -> Result<(), ChannelError> {
        self.text(message.to_text()).await
    }

    /// Closes the sending direction.
    pub async fn close(&mut self) {
        // Fails only if the peer has closed the connection.
        let _ = match &mut self.0 {
            Outgoing::Stream(stream) => stream.shutdown().await.map_err(ChannelError::from),
            Outgoing::WebSocket(socket) => socket.close().await.map_err(|error| of_socket(error, usize::MAX)),
        };
    }
}

fn config(limit: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
}

fn closed(error: io::Error) -> ChannelError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ChannelError::Closed,
        _ => ChannelError::Broken(error),
    }
}

fn of_socket(error: tungstenite::Error, limit: usize) -> ChannelError {
    match error {
        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => ChannelError::Closed,
        tungstenite::Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => {
            ChannelError::Closed
        }
        tungstenite::Error::Io(error) => closed(error),
        tungstenite::Error::Capacity(_) => ChannelError::TooLong { limit },
        tungstenite::Error::Http(answer) => ChannelError::Answered(answer.status().as_u16()),
        other => ChannelError::Framing(other.to_string()),
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Incoming::WebSocket(_) => "WebSocket",
            Incoming::Stream(_) => "Stream",
        })
    }
}

impl std::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Outgoing::WebSocket(_) => "WebSocket",
            Outgoing::Stream(_) => "Stream",
        })
    }
}
