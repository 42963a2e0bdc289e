//! HTTP/1.1 (RFC 9112): one request and its response on a connection. Content is discarded as early as possible.

use super::Stream;
use super::arrival::ArrivalReporter;
use super::exchange::{ExchangeError, Method, Request, Response, TransferObserver, cut_short};
use super::head::{Body, Head};
use super::incoming::Incoming;
use super::upload;
use crate::chunked::Decoder;
use std::io;

/// Bytes discarded in the kernel before other tasks run.
const YIELD_EVERY: usize = 1 << 20;
/// Minimum number of bytes that are certainly content for which the kernel discards chunked content.
const MIN_DISCARD: u64 = 4096;

/// Sends `request` over a connection, which has been used before or not (`used`), and receives the response.
///
/// A response that is not a success ends with its head; the connection is then unusable.
///
/// # Errors
/// [`ExchangeError`] when the response is incomplete or invalid. The connection is then unusable.
pub async fn exchange<W: TransferObserver>(
    stream: &mut Stream,
    used: bool,
    request: &Request<'_>,
    watch: &mut W,
) -> Result<Response, ExchangeError> {
    let uploads = matches!(request.method, Method::Post(_));
    // Uploaded content is not sent again, so the connection is checked before.
    if uploads && used && upload::answers(stream.socket()).unwrap_or(true) {
        return Err(ExchangeError::Idle);
    }
    let mut incoming = Incoming::new(request);
    let mut upload = None;
    let head = if let Method::Post(length) = request.method {
        stream.send(render(request).as_bytes()).await?;
        let mut reporter = ArrivalReporter::after_head(stream.socket().arrivals(), incoming.offset());
        let sent = upload::send(stream, &mut incoming, &mut reporter, length, watch).await?;
        let head = reporter.during(read_head(stream, &mut incoming), watch).await?;
        upload = Some((reporter, sent));
        head
    } else {
        let begun = async {
            stream.send(render(request).as_bytes()).await?;
            incoming.fill(stream).await
        };
        match begun.await {
            Err(_) if used => return Err(ExchangeError::Idle),
            begun => begun?,
        }
        read_head(stream, &mut incoming).await?
    };
    watch.bytes(0);
    let mut response = Response {
        status: head.status,
        location: head.location,
        declared: head.declared,
        content: 0,
        keep: head.keep && !request.last,
    };
    if !response.is_success() {
        response.keep = false;
        return Ok(response);
    }
    if let Some((reporter, sent)) = &mut upload {
        reporter.settle(*sent, watch).await;
    }
    let mut content = Content {
        stream,
        incoming: &mut incoming,
        watch,
        tells: !uploads,
        came: 0,
        most: request.length.most(),
        had_turn: false,
    };
    let declared = match head.body {
        Body::Length(length) if request.method != Method::Head => Some(length),
        _ => None,
    };
    if declared.is_some_and(|declared| !request.length.allows(declared)) {
        return Err(ExchangeError::wrong_length());
    }
    match head.body {
        Body::Length(length) => content.fixed(length).await?,
        Body::Chunked => content.chunked().await?,
        Body::UntilClose => content.until_close().await?,
    }
    response.content = content.came;
    // Data beyond the end was not requested.
    response.keep &= incoming.buffer.is_empty();
    if matches!((request.method, upload), (Method::Post(length), Some((_, sent))) if sent < length) {
        return Err(ExchangeError::Response(
            "the server answered before the upload was complete".into(),
        ));
    }
    Ok(response)
}

fn render(request: &Request<'_>) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(160);
    let (method, path, authority) = (request.method.name(), &request.path, &request.authority);
    let _ = write!(
        text,
        "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: netburn\r\nAccept: */*\r\n"
    );
    if let Method::Post(length) = request.method {
        let _ = write!(
            text,
            "Content-Type: application/octet-stream\r\nContent-Length: {length}\r\n"
        );
    }
    text.push_str(if request.last {
        "Connection: close\r\n\r\n"
    } else {
        "\r\n"
    });
    text
}

/// Receives the final head. Interim responses (1xx) are skipped.
async fn read_head(stream: &mut Stream, incoming: &mut Incoming) -> Result<Head, ExchangeError> {
    loop {
        match incoming.take_head()? {
            Some(head) => return Ok(head),
            None => incoming.fill(stream).await?,
        }
    }
}

struct Content<'a, W> {
    stream: &'a mut Stream,
    incoming: &'a mut Incoming,
    watch: &'a mut W,
    /// True if received content is reported. For an upload, sent content is reported instead.
    tells: bool,
    came: u64,
    /// Maximum number of bytes that may still arrive.
    most: u64,
    /// True if the last discard reached the limit per turn.
    had_turn: bool,
}

impl<W: TransferObserver> Content<'_, W> {
    async fn fixed(&mut self, length: u64) -> Result<(), ExchangeError> {
        let there = (self.incoming.buffer.there().len() as u64).min(length);
        self.take(there as usize)?;
        while self.came < length {
            match self.drop_some(length - self.came).await? {
                0 => return Err(cut_short()),
                count => self.count(count)?,
            }
        }
        Ok(())
    }

    async fn until_close(&mut self) -> Result<(), ExchangeError> {
        self.take(self.incoming.buffer.there().len())?;
        loop {
            match self.drop_some(u64::MAX).await? {
                0 => return Ok(()),
                count => self.count(count)?,
            }
        }
    }

    async fn chunked(&mut self) -> Result<(), ExchangeError> {
        let mut decoder = Decoder::new();
        loop {
            let before = self.came;
            while !self.incoming.buffer.is_empty() && !decoder.is_done() {
                self.decode(&mut decoder)?;
            }
            if self.came > before && self.tells {
                self.watch.bytes(self.came - before);
            }
            if self.came.saturating_add(decoder.ahead()) > self.most {
                return Err(ExchangeError::wrong_length());
            }
            if decoder.is_done() {
                return Ok(());
            }
            if decoder.ahead() >= MIN_DISCARD {
                match self.drop_some(decoder.ahead()).await? {
                    0 => return Err(cut_short()),
                    count => {
                        decoder.skip(count);
                        self.count(count)?;
                    }
                }
            } else {
                self.incoming.fill(self.stream).await?;
            }
        }
    }

    /// Decodes the buffer; content is passed on in pieces.
    fn decode(&mut self, decoder: &mut Decoder) -> Result<(), ExchangeError> {
        let there = self.incoming.buffer.there();
        // A piece is either content only, or framing only.
        let piece = match decoder.ahead() {
            0 => &there[..1],
            ahead => &there[..there.len().min(usize::try_from(ahead).unwrap_or(usize::MAX))],
        };
        let decoded = decoder
            .decode(piece)
            .map_err(|error| ExchangeError::Response(error.to_string()))?;
        if decoded.content > 0 && self.watch.wants_content() {
            self.watch.content(piece);
        }
        self.came += decoded.content;
        self.incoming.buffer.begin += decoded.taken;
        Ok(())
    }

    /// Consumes content that is in the buffer.
    fn take(&mut self, count: usize) -> Result<(), ExchangeError> {
        if count == 0 {
            return Ok(());
        }
        if self.watch.wants_content() {
            self.watch.content(&self.incoming.buffer.there()[..count]);
        }
        self.incoming.buffer.begin += count;
        self.count(count as u64)
    }

    fn count(&mut self, count: u64) -> Result<(), ExchangeError> {
        self.came += count;
        if self.tells {
            self.watch.bytes(count);
        }
        if self.came > self.most {
            Err(ExchangeError::wrong_length())
        } else {
            Ok(())
        }
    }

    /// Receives up to `limit` bytes that are certainly content; 0 is the end of the stream.
    async fn drop_some(&mut self, limit: u64) -> io::Result<u64> {
        let limit = if self.tells {
            self.watch.allowed(limit).await
        } else {
            limit
        };
        if let Stream::Plain(socket) = &self.stream
            && !self.watch.wants_content()
        {
            if self.had_turn {
                tokio::task::yield_now().await;
            }
            let limit = usize::try_from(limit).unwrap_or(YIELD_EVERY).min(YIELD_EVERY);
            let count = socket.discard(limit).await?;
            self.had_turn = count == YIELD_EVERY;
            return Ok(count as u64);
        }
        let room = self.incoming.buffer.room();
        let room_len = room.len();
        let limit = usize::try_from(limit).unwrap_or(room_len).min(room_len);
        let count = self.stream.receive(&mut room[..limit]).await?;
        if self.watch.wants_content() {
            let begin = self.incoming.buffer.end;
            self.watch.content(&self.incoming.buffer.bytes[begin..begin + count]);
        }
        Ok(count as u64)
    }
}
