//! A single request on its own connection, for requests that are not part of a measurement.

use super::exchange::{ExchangeError, Method, Request, Response, TransferObserver};
use super::h2::Session;
use super::tls::Handshake;
use super::{Length, Meter, Stream, Target, h1, tls};
use netburn_scenario::plan::Http;
use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;

/// Bytes that may be received in addition to content: TLS handshake, heads and framing.
const MAX_OVERHEAD: u64 = 256 * 1024;

/// A response with the beginning of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Status, location and lengths. `content` counts the bytes up to the limit.
    pub response: Response,
    /// Content, up to the limit.
    pub content: Vec<u8>,
    /// True if the content was truncated.
    pub cut: bool,
    /// TLS handshake of the connection; `None` in cleartext.
    pub handshake: Option<Handshake>,
}

/// Error of a single request.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The connection could not be established.
    #[error("can't connect: {0}")]
    Dial(#[source] std::io::Error),
    /// The response is incomplete or invalid.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The timeout expired.
    #[error("no response within {} s", .0.as_secs())]
    TimedOut(Duration),
}

/// Requests `path` from `target` and returns up to `limit` bytes of the content. Longer content is truncated and the
/// connection closed. The timeout is `patience`. HTTP/2 needs a `LocalSet`.
///
/// # Errors
/// [`RequestError`] without a response. A status other than success is not an error.
pub async fn request(
    target: &Target,
    method: Method,
    path: &str,
    limit: usize,
    patience: Duration,
) -> Result<Page, RequestError> {
    let asked = async {
        let tls = target
            .tls
            .as_ref()
            .map(|trust| tls::config(trust, target.http))
            .transpose();
        let tls = tls.map_err(RequestError::Dial)?;
        // TLS certificates, heads and framing of an unknown server have no limit of their own.
        let meter = Rc::new(Meter::receiving(2 * limit as u64 + MAX_OVERHEAD));
        let dialled = Stream::dial(target, tls.as_ref(), 0, &meter).await;
        let mut stream = dialled.map_err(RequestError::Dial)?;
        let request = Request {
            method,
            path: Cow::Borrowed(path),
            authority: Cow::Owned(target.authority()),
            last: true,
            length: Length::Any,
        };
        let handshake = stream.handshake();
        let full = Notify::new();
        let mut beginning = Beginning {
            content: Vec::new(),
            limit,
            more: false,
            full: &full,
        };
        let response = {
            let exchange = async {
                match target.http {
                    Http::H1 => h1::exchange(&mut stream, false, &request, &mut beginning).await,
                    Http::H2 => {
                        let session = Session::begin(stream, None).await?;
                        session.exchange(tls.is_some(), &request, &mut beginning).await
                    }
                }
            };
            tokio::select! {
                biased;
                response = exchange => Some(response),
                () = full.notified() => None,
            }
        };
        let (content, cut) = (beginning.content, beginning.more);
        let response = match response {
            Some(Ok(response)) => response,
            Some(Err(error)) if !cut => return Err(error.into()),
            // Errors behind the received content are ignored.
            Some(Err(_)) | None => Response {
                status: 200,
                location: None,
                declared: None,
                content: content.len() as u64,
                keep: false,
            },
        };
        Ok(Page {
            response,
            content,
            cut,
            handshake,
        })
    };
    let ended = tokio::time::timeout(patience, asked).await;
    ended.unwrap_or(Err(RequestError::TimedOut(patience)))
}

/// Stores the beginning of the content, and detects further content.
struct Beginning<'a> {
    content: Vec<u8>,
    limit: usize,
    more: bool,
    full: &'a Notify,
}

impl TransferObserver for Beginning<'_> {
    fn bytes(&mut self, _bytes: u64) {}

    fn wants_content(&self) -> bool {
        true
    }

    fn content(&mut self, piece: &[u8]) {
        let room = self.limit - self.content.len();
        self.content.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            self.more = true;
            self.full.notify_one();
        }
    }
}
