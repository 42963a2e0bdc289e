//! HTTP/1.1 (RFC 9112): one request and its response on a connection. Content is discarded as early as possible.

use super::Stream;
use super::arrival::ArrivalReporter;
use super::exchange::{ExchangeError, Method, Request, Response, TransferObserver, cut_short};
use super::head::{self, Body, Head};
use super::upload;
use crate::chunked::Decoder;
use crate::frames::MAX_INTERIM;
use std::cell::RefCell;
use std::io;

/// Size of the receive buffer in bytes.
const BUFFER: usize = 16 * 1024;
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
    let mut sent = 0;
    let mut buffer = Buffer::take();
    let uploads = matches!(request.method, Method::Post(_));
    // Uploaded content is not sent again, so the connection is checked before.
    if uploads && used && upload::answers(stream.socket()).unwrap_or(true) {
        return Err(ExchangeError::Idle);
    }
    let mut reporter = None;
    let begun = async {
        stream.send(render(request).as_bytes()).await?;
        match request.method {
            Method::Post(length) => {
                let reporter = reporter.insert(ArrivalReporter::after_head(stream.socket().arrivals()));
                sent = upload::send(stream, reporter, length, watch).await?;
                reporter.during(fill(stream, &mut buffer), watch).await
            }
            Method::Get | Method::Head => fill(stream, &mut buffer).await,
        }
    };
    match begun.await {
        Ok(()) => {}
        Err(_) if used && !uploads => return Err(ExchangeError::Idle),
        Err(broken) => return Err(broken),
    }
    let head = read_head(stream, &mut buffer, request.method == Method::Head).await?;
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
    if let Some(reporter) = &mut reporter {
        reporter.settle(sent, watch).await;
    }
    let mut content = Content {
        stream,
        buffer: &mut buffer,
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
    response.keep &= buffer.is_empty();
    if matches!(request.method, Method::Post(length) if sent < length) {
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

async fn fill(stream: &mut Stream, buffer: &mut Buffer) -> Result<(), ExchangeError> {
    match stream.receive(buffer.room()).await? {
        0 => Err(cut_short()),
        count => {
            buffer.end += count;
            Ok(())
        }
    }
}

/// Receives the final head. Interim responses (1xx) are skipped. Their number is limited, and so is their total length,
/// to that of one head.
async fn read_head(stream: &mut Stream, buffer: &mut Buffer, to_head: bool) -> Result<Head, ExchangeError> {
    let (mut interim, mut length) = (0, 0);
    loop {
        match head::parse(buffer.there(), to_head) {
            Err(error) => return Err(ExchangeError::Response(error.to_string())),
            Ok(Some(head)) => {
                buffer.begin += head.length;
                if !head.is_interim() {
                    return Ok(head);
                }
                interim += 1;
                length += head.length;
                if interim > MAX_INTERIM || length > head::MAX_HEAD {
                    return Err(ExchangeError::Response("too many interim responses".into()));
                }
                if buffer.is_empty() {
                    fill(stream, buffer).await?;
                }
            }
            Ok(None) => fill(stream, buffer).await?,
        }
    }
}

struct Content<'a, W> {
    stream: &'a mut Stream,
    buffer: &'a mut Buffer,
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
        let there = (self.buffer.there().len() as u64).min(length);
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
        self.take(self.buffer.there().len())?;
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
            while !self.buffer.is_empty() && !decoder.is_done() {
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
                fill(self.stream, self.buffer).await?;
            }
        }
    }

    /// Decodes the buffer; content is passed on in pieces.
    fn decode(&mut self, decoder: &mut Decoder) -> Result<(), ExchangeError> {
        let there = self.buffer.there();
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
        self.buffer.begin += decoded.taken;
        Ok(())
    }

    /// Consumes content that is in the buffer.
    fn take(&mut self, count: usize) -> Result<(), ExchangeError> {
        if count == 0 {
            return Ok(());
        }
        if self.watch.wants_content() {
            self.watch.content(&self.buffer.there()[..count]);
        }
        self.buffer.begin += count;
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
        let room = self.buffer.room();
        let room_len = room.len();
        let limit = usize::try_from(limit).unwrap_or(room_len).min(room_len);
        let count = self.stream.receive(&mut room[..limit]).await?;
        if self.watch.wants_content() {
            let begin = self.buffer.end;
            self.watch.content(&self.buffer.bytes[begin..begin + count]);
        }
        Ok(count as u64)
    }
}

/// Bytes that were received and not used yet. The memory belongs to the thread, so idle connections have no buffer.
struct Buffer {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Number of free buffers that a thread keeps.
const SPARES: usize = 64;

impl Buffer {
    fn take() -> Self {
        let bytes = SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; BUFFER]);
        Buffer {
            bytes,
            begin: 0,
            end: 0,
        }
    }

    fn there(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    /// Returns the free part of the buffer: never empty, and limited to the maximum length of a head in total.
    fn room(&mut self) -> &mut [u8] {
        if self.is_empty() {
            (self.begin, self.end) = (0, 0);
        }
        if self.end == self.bytes.len() {
            self.bytes.drain(..self.begin);
            (self.begin, self.end) = (0, self.end - self.begin);
            let length = self.bytes.len().max(self.end) * 2;
            self.bytes.resize(length.max(BUFFER), 0);
        }
        &mut self.bytes[self.end..]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes.len() == BUFFER {
            let bytes = std::mem::take(&mut self.bytes);
            SPARE.with_borrow_mut(|spare| {
                if spare.len() < SPARES {
                    spare.push(bytes);
                }
            });
        }
    }
}
