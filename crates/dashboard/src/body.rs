//! Bodies of responses: bytes, or a stream of events.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Body of a response.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// Complete content; `None` after it was sent.
    Full(Option<Bytes>),
    /// Server-sent events (WHATWG HTML §9.2), until the sender is dropped.
    Events(mpsc::Receiver<Bytes>),
}

impl From<Bytes> for ReplyBody {
    fn from(bytes: Bytes) -> ReplyBody {
        ReplyBody::Full(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ReplyBody::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            ReplyBody::Events(events) => events
                .poll_recv(cx)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ReplyBody::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            ReplyBody::Events(_) => SizeHint::default(),
        }
    }
}

/// One server-sent event with a name and one line of JSON.
pub(crate) fn event(name: &str, json: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}
