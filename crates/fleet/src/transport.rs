//! How messages travel: as the texts of a WebSocket, or over any byte stream, each preceded by its length.
//!
//! Either way a message's length is checked before anything is set aside for it, so that a stranger who announces a
//! gigabyte costs nothing.

use crate::protocol::{Malformed, Message};
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
    /// What comes.
    pub receiver: Receiver,
    /// What goes.
    pub sender: Sender,
}

/// What comes over a connection.
#[derive(Debug)]
pub struct Receiver {
    inner: Incoming,
    limit: usize,
}

/// What goes over a connection.
#[derive(Debug)]
pub struct Sender(Outgoing);

/// Why a channel is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The other side closed it.
    #[error("the connection was closed")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// What came is longer than a message may be; where it ends is not waited for.
    #[error("a message longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A WebSocket was asked for, and the answer was of this HTTP status.
    #[error("no WebSocket is opened there, the answer is HTTP status {0}")]
    Answered(u16),
    /// What came is not of this transport.
    #[error("not the transport that was agreed: {0}")]
    Framing(String),
}

/// A byte stream of any kind.
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
    /// Over a byte stream: each message is its length in bytes (4 bytes, network order) and then its JSON. Messages
    /// longer than `limit` are not taken.
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

    /// Over a WebSocket (RFC 6455) that the other side opens on `stream`.
    ///
    /// # Errors
    /// When the other side doesn't.
    pub async fn accept(stream: TcpStream, limit: usize) -> Result<Channel, ChannelError> {
        stream.set_nodelay(true)?;
        let socket = accept_async_with_config(Box::new(stream) as Stream, Some(config(limit))).await;
        Ok(Channel::of_socket(
            socket.map_err(|error| of_socket(error, limit))?,
            limit,
        ))
    }

    /// Over a WebSocket whose opening the other side has been answered already.
    pub async fn opened(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, limit: usize) -> Channel {
        let stream = Box::new(stream) as Stream;
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config(limit))).await;
        Channel::of_socket(socket, limit)
    }

    /// Over a WebSocket to `url`, opened on a stream that leads there.
    ///
    /// # Errors
    /// When the other side refuses.
    pub async fn open(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        url: &str,
        limit: usize,
    ) -> Result<Channel, ChannelError> {
        let opened = client_async_with_config(url, Box::new(stream) as Stream, Some(config(limit))).await;
        let (socket, _) = opened.map_err(|error| of_socket(error, limit))?;
        Ok(Channel::of_socket(socket, limit))
    }

    /// Over a WebSocket to `url`, such as `ws://127.0.0.1:40123/`.
    ///
    /// # Errors
    /// When there is none.
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
    /// The next text. Not safe to cancel in the middle.
    ///
    /// # Errors
    /// When there will be no more.
    pub async fn text(&mut self) -> Result<String, ChannelError> {
        let limit = self.limit;
        match &mut self.inner {
            Incoming::Stream(stream) => {
                let length = stream.read_u32().await.map_err(closed)? as usize;
                if length > limit {
                    return Err(ChannelError::TooLong { limit });
                }
                let mut bytes = Vec::new();
                // Grows with what comes, not with what was announced.
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
                        return Err(ChannelError::Framing("a binary message".to_owned()));
                    }
                    Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => {}
                    Some(Err(error)) => return Err(of_socket(error, limit)),
                }
            },
        }
    }

    /// The next message, or what was there instead of one.
    ///
    /// # Errors
    /// When there will be no more.
    pub async fn message<M: Message>(&mut self) -> Result<Result<M, Malformed>, ChannelError> {
        Ok(M::from_text(&self.text().await?))
    }
}

impl Sender {
    /// Sends one text.
    ///
    /// # Errors
    /// When it can't be sent; nor can anything after it.
    pub async fn text(&mut self, text: String) -> Result<(), ChannelError> {
        match &mut self.0 {
            Outgoing::Stream(stream) => {
                let length = u32::try_from(text.len()).map_err(|_| ChannelError::TooLong {
                    limit: u32::MAX as usize,
                })?;
                // One write: two would be two packets.
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
    /// When it can't be sent; nor can anything after it.
    pub async fn message<M: Message>(&mut self, message: &M) -> Result<(), ChannelError> {
        self.text(message.to_text()).await
    }

    /// Says that nothing more will come.
    pub async fn close(&mut self) {
        // Whoever is gone already needs no goodbye.
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
