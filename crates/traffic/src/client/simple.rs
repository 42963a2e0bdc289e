//! One request on a connection of its own, for questions that aren't part of a measurement.

use super::exchange::{ExchangeError, Method, Request, Response, TransferObserver};
use super::h2::Session;
use super::{Length, Meter, Stream, Target, h1, tls};
use netburn_scenario::plan::Http;
use netburn_workload::Priority;
use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;

/// What may be received besides content: TLS's handshake, heads and framing.
const BESIDES: u64 = 256 * 1024;

/// An answer with the beginning of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Status, location and lengths. `content` is what came until the limit.
    pub response: Response,
    /// The content, up to the limit.
    pub content: Vec<u8>,
    /// Whether there was more.
    pub cut: bool,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The connection could not be made.
    #[error("could not connect: {0}")]
    Dial(#[source] std::io::Error),
    /// There is no whole answer.
    #[error(transparent)]
    ExchangeError(#[from] ExchangeError),
    /// It took too long.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
}

/// Asks `target` for `path` and keeps up to `limit` bytes of the content; what is longer is cut off, and the connection
/// with it. It ends within `patience`. With HTTP/2 it needs a `LocalSet` around it.
///
/// # Errors
/// When there is no answer. One that isn't a success is no error here.
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
        // Besides the content there are TLS's certificates, heads and framing, none of which an unknown server bounds.
        let meter = Rc::new(Meter::receiving(2 * limit as u64 + BESIDES));
        let dialled = Stream::dial(target, tls.as_ref(), Priority::BestEffort, &meter).await;
        let mut stream = dialled.map_err(RequestError::Dial)?;
        let request = Request {
            method,
            path: Cow::Borrowed(path),
            authority: Cow::Owned(target.authority()),
            last: true,
            length: Length::Any,
        };
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
            // What is wrong with the rest is nobody's concern.
            Some(Err(_)) | None => Response {
                status: 200,
                location: None,
                declared: None,
                content: content.len() as u64,
                keep: false,
            },
        };
        Ok(Page { response, content, cut })
    };
    let ended = tokio::time::timeout(patience, asked).await;
    ended.unwrap_or(Err(RequestError::TimedOut(patience)))
}

/// Keeps the beginning of the content, and says when there is more.
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
