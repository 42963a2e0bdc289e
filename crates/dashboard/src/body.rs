//! Bodies of answers: there whole, or a stream of events.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// What an answer brings.
#[derive(Debug)]
pub(crate) enum Answered {
    /// These bytes.
    Whole(Option<Bytes>),
    /// Events as they come (WHATWG HTML §9.2), until whoever sends them stops.
    Events(mpsc::Receiver<Bytes>),
}

impl From<Bytes> for Answered {
    fn from(bytes: Bytes) -> Answered {
        Answered::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Answered {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Answered::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Answered::Events(events) => events
                .poll_recv(cx)
                .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Answered::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answered::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Answered::Events(_) => SizeHint::default(),
        }
    }
}

/// An event of a stream: its name, and one line of JSON.
pub(crate) fn event(name: &str, json: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}
