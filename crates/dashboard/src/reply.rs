//! Answers as they are written.

use crate::body::Answered;
use crate::shown::{Form, NotShown};
use bytes::Bytes;
use hyper::body::Body;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};
use netburn_fleet::embedded::File;
use netburn_record::Error;
use serde::Serialize;
use serde_json::json;
use std::pin::Pin;
use std::time::Duration;

/// An answer.
pub(crate) type Reply = Response<Answered>;

/// The longest body of a request, in bytes.
const LONGEST_BODY: usize = 1 << 10;

/// What a page of one file may: run and look as it says itself, and ask for nothing.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What every answer says. Nothing is run but the page's own modules, and nothing is shown inside other pages.
const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// How long a body may take: who sends a byte now and then keeps others from their places.
pub(crate) const BODY: Duration = Duration::from_secs(10);

/// A body of a few bytes; `None` when it is more, torn, or not there within `patience`.
pub(crate) async fn whole(mut body: impl Body<Data = Bytes> + Unpin, patience: Duration) -> Option<Vec<u8>> {
    let read = async {
        let mut bytes = Vec::new();
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            if let Ok(data) = frame.ok()?.into_data() {
                if bytes.len() + data.len() > LONGEST_BODY {
                    return None;
                }
                bytes.extend_from_slice(&data);
            }
        }
        Some(bytes)
    };
    tokio::time::timeout(patience, read).await.ok().flatten()
}

pub(crate) fn dress(answer: &mut Reply, kind: &'static str) {
    let fields = answer.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS {
        fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

pub(crate) fn data(status: StatusCode, bytes: Vec<u8>) -> Reply {
    let mut answer = Response::new(Answered::from(Bytes::from(bytes)));
    *answer.status_mut() = status;
    dress(&mut answer, "application/json");
    answer
}

pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Reply {
    data(
        status,
        serde_json::to_vec(value).expect("our documents have string keys only"),
    )
}

/// What went wrong, in words.
pub(crate) fn fault(status: StatusCode, why: &str) -> Reply {
    json(status, &json!({ "error": why }))
}

pub(crate) fn unknown() -> Reply {
    fault(StatusCode::NOT_FOUND, "there is no such run here")
}

pub(crate) fn busy() -> Reply {
    fault(
        StatusCode::SERVICE_UNAVAILABLE,
        "too much is asked for at once; try again",
    )
}

pub(crate) fn away(to: &'static str) -> Reply {
    let mut answer = fault(StatusCode::PERMANENT_REDIRECT, "the page is at /runs/");
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    answer
}

/// A page that was made of runs, or a document.
pub(crate) fn page(made: Result<Vec<u8>, NotShown>, form: Form) -> Reply {
    match made {
        Ok(bytes) => {
            let mut answer = data(StatusCode::OK, bytes);
            if form == Form::Page {
                let fields = answer.headers_mut();
                fields.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
                fields.insert("content-security-policy", HeaderValue::from_static(PAGE_POLICY));
            }
            answer
        }
        Err(why @ NotShown::Left) => fault(StatusCode::CONFLICT, &why.to_string()),
        Err(NotShown::Record(error @ Error::Live(_))) => fault(StatusCode::CONFLICT, &error.to_string()),
        Err(NotShown::Record(error)) => fault(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    }
}

pub(crate) fn embedded(file: &'static File) -> Reply {
    let mut answer = Response::new(Answered::from(Bytes::from_static(file.bytes)));
    dress(&mut answer, file.kind);
    // A new version of the command brings a new page under the same paths.
    answer
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    /// A body that begins and never ends.
    struct Begun(Option<Bytes>);

    impl Body for Begun {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.0.take() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Poll::Pending,
            }
        }
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_not_waited_for() {
        assert_eq!(whole(Begun(Some(Bytes::from_static(b"{"))), Duration::ZERO).await, None);
        let there = Answered::from(Bytes::from_static(b"{}"));
        assert_eq!(whole(there, BODY).await, Some(b"{}".to_vec()));
    }
}
