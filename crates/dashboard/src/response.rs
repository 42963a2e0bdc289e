//! HTTP responses.

use crate::body::ReplyBody;
use crate::render::{Format, RenderError};
use bytes::Bytes;
use hyper::body::Body;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};
use netburn_fleet_controller::embedded::{File, HTML};
use netburn_playground_page::{POLICY, page};
use netburn_record::Error;
use serde::Serialize;
use serde_json::json;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;

/// Response of the dashboard.
pub(crate) type Reply = Response<ReplyBody>;

/// Maximum length of a request body, in bytes.
const MAX_BODY: usize = 1 << 10;

/// Content Security Policy of reports and comparisons: inline scripts and styles only, and no requests.
const REPORT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Header fields of every response: only the page's own modules may run, and no other page may embed it.
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

/// Timeout for a request body, so that slow clients do not occupy connections.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a short body. Returns `None` if the body is too long, incomplete, or not received within `timeout`.
pub(crate) async fn read_body(mut body: impl Body<Data = Bytes> + Unpin, timeout: Duration) -> Option<Vec<u8>> {
    let read = async {
        let mut bytes = Vec::new();
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            if let Ok(data) = frame.ok()?.into_data() {
                if bytes.len() + data.len() > MAX_BODY {
                    return None;
                }
                bytes.extend_from_slice(&data);
            }
        }
        Some(bytes)
    };
    tokio::time::timeout(timeout, read).await.ok().flatten()
}

pub(crate) fn set_headers(answer: &mut Reply, media_type: &'static str) {
    let fields = answer.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS {
        fields.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

pub(crate) fn data(status: StatusCode, bytes: Vec<u8>) -> Reply {
    let mut answer = Response::new(ReplyBody::from(Bytes::from(bytes)));
    *answer.status_mut() = status;
    set_headers(&mut answer, "application/json");
    answer
}

pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Reply {
    data(
        status,
        serde_json::to_vec(value).expect("all keys of the documents are strings"),
    )
}

/// Response with an error text.
pub(crate) fn error(status: StatusCode, text: &str) -> Reply {
    json(status, &json!({ "error": text }))
}

pub(crate) fn unknown_run() -> Reply {
    error(StatusCode::NOT_FOUND, "unknown run")
}

pub(crate) fn busy() -> Reply {
    error(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many simultaneous requests; try again",
    )
}

pub(crate) fn redirect(to: &'static str) -> Reply {
    let mut answer = error(StatusCode::PERMANENT_REDIRECT, "the page is at /runs/");
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    answer
}

/// Response with a report or a comparison.
pub(crate) fn rendered(result: Result<Vec<u8>, RenderError>, format: Format) -> Reply {
    match result {
        Ok(bytes) => {
            let mut answer = data(StatusCode::OK, bytes);
            if format == Format::Html {
                let fields = answer.headers_mut();
                fields.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
                fields.insert("content-security-policy", HeaderValue::from_static(REPORT_POLICY));
            }
            answer
        }
        Err(cause @ RenderError::Unfinished) => error(StatusCode::CONFLICT, &cause.to_string()),
        Err(RenderError::Record(cause @ Error::Live(_))) => error(StatusCode::CONFLICT, &cause.to_string()),
        Err(RenderError::Record(cause)) => error(StatusCode::UNPROCESSABLE_ENTITY, &cause.to_string()),
    }
}

pub(crate) fn embedded(file: &'static File) -> Reply {
    let mut answer = Response::new(ReplyBody::from(Bytes::from_static(file.bytes)));
    set_headers(&mut answer, file.kind);
    // A new version of netburn has new files under the same paths.
    answer
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

/// Content Security Policy of the documentation: as of every response, and its pages may embed the playground.
const DOCUMENTATION_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                                    frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Response with a file of the documentation.
pub(crate) fn documentation(file: netburn_handbook::File) -> Reply {
    let mut answer = Response::new(ReplyBody::from(Bytes::from(file.bytes)));
    set_headers(&mut answer, file.kind);
    let fields = answer.headers_mut();
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    fields.insert(
        "content-security-policy",
        HeaderValue::from_static(DOCUMENTATION_POLICY),
    );
    answer
}

/// Response with the page of the playground, which contains no data of runs. Pages of the documentation embed it.
pub(crate) fn playground() -> Reply {
    static PAGE: LazyLock<(Bytes, HeaderValue)> = LazyLock::new(|| {
        let policy = format!("{POLICY}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'");
        let policy = HeaderValue::from_str(&policy).expect("a policy is ASCII");
        (Bytes::from(page(None)), policy)
    });
    let (bytes, policy) = &*PAGE;
    let mut answer = Response::new(ReplyBody::from(bytes.clone()));
    set_headers(&mut answer, HTML);
    let fields = answer.headers_mut();
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    fields.insert("content-security-policy", policy.clone());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    /// Body that never ends.
    struct EndlessBody(Option<Bytes>);

    impl Body for EndlessBody {
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
    async fn a_body_that_never_ends_times_out() {
        assert_eq!(
            read_body(EndlessBody(Some(Bytes::from_static(b"{"))), Duration::ZERO).await,
            None
        );
        let complete = ReplyBody::from(Bytes::from_static(b"{}"));
        assert_eq!(read_body(complete, BODY_TIMEOUT).await, Some(b"{}".to_vec()));
    }
}
