//! Receives, counts and discards the body of a request.

use super::Http1;
use super::head::{Framing, Rejection};
use super::response::write_progress;
use crate::chunked::Decoder;
use crate::server::flow::clock;
use crate::server::stats::Stats;
use std::io;

/// Bytes discarded at once without a rate limit.
const PIECE: u64 = 1 << 20;
/// Buffer in bytes for the lines between chunks.
const ROOM: usize = 4 << 10;

const TOO_LARGE: Rejection = Rejection(413, "the body is larger than this server accepts");

impl Http1 {
    /// Receives a whole body of at most `most` bytes and returns its length.
    pub(super) async fn take_body(
        &mut self,
        framing: Framing,
        most: Option<u64>,
        expects_continue: bool,
    ) -> io::Result<Result<u64, Rejection>> {
        match framing {
            Framing::None => {
                return Ok(Err(Rejection(
                    411,
                    "missing Content-Length or chunked Transfer-Encoding",
                )));
            }
            Framing::Length(length) if most.is_some_and(|most| length > most) => return Ok(Err(TOO_LARGE)),
            Framing::Length(_) | Framing::Chunked => {}
        }
        if expects_continue && self.buffer.is_empty() {
            self.say_continue().await?;
        }
        self.context.up.interrupt();
        self.report()?;
        match framing {
            Framing::Length(length) => self.take_exactly(length).await.map(Ok),
            _ => self.take_chunked(most).await,
        }
    }

    async fn say_continue(&mut self) -> io::Result<()> {
        let mut rest: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        self.stream.wait_at_most(self.context.worker.shared.limits.stall_time);
        while !rest.is_empty() {
            let count = self.stream.send(rest, false).await?;
            rest = &rest[count..];
        }
        self.stream.flush().await
    }

    async fn take_exactly(&mut self, length: u64) -> io::Result<u64> {
        let here = (self.buffer.len() as u64).min(length);
        self.buffer.drain(..here as usize);
        self.took(here).await?;
        let mut left = length - here;
        while left > 0 {
            left -= self.drop_some(left).await?;
        }
        Ok(length)
    }

    async fn take_chunked(&mut self, most: Option<u64>) -> io::Result<Result<u64, Rejection>> {
        let mut decoder = Decoder::new();
        let mut total = 0;
        loop {
            let Ok(decoded) = decoder.decode(&self.buffer) else {
                return Ok(Err(Rejection(400, "invalid chunked transfer coding")));
            };
            self.buffer.drain(..decoded.taken);
            self.took(decoded.content).await?;
            total += decoded.content;
            if most.is_some_and(|most| total.saturating_add(decoder.ahead()) > most) {
                return Ok(Err(TOO_LARGE));
            }
            if decoder.is_done() {
                return Ok(Ok(total));
            }
            // The whole buffer has been decoded, so the content ahead can be discarded without it.
            while decoder.ahead() > 0 {
                let dropped = self.drop_some(decoder.ahead()).await?;
                decoder.skip(dropped);
                total += dropped;
            }
            self.buffer.reserve(ROOM);
            self.stream.wait_at_most(self.context.worker.shared.limits.stall_time);
            if self.stream.receive(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Discards part of the next `limit` bytes, which are all content.
    async fn drop_some(&mut self, limit: u64) -> io::Result<u64> {
        self.stream.wait_at_most(self.context.worker.shared.limits.stall_time);
        match self.stream.discard(limit.min(self.context.up.at_most(PIECE))).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.took(count).await?;
                Ok(count)
            }
        }
    }

    /// Counts received bytes of a body, and waits until they would have passed the rate limit.
    async fn took(&mut self, count: u64) -> io::Result<()> {
        let worker = &self.context.worker;
        Stats::add(&worker.stats.bytes_up, count);
        worker.shared.tally.up(self.station, count);
        self.context.up.pay(count).await;
        if let Some(reports) = &mut self.reports {
            reports.handle_passed(count);
            self.report()?;
        }
        Ok(())
    }

    /// Reports the progress of the upload if a report is due. Does not wait for the client.
    fn report(&mut self) -> io::Result<()> {
        let Some(reports) = &mut self.reports else {
            return Ok(());
        };
        let now = clock();
        // An interim response that the socket has accepted in part is completed first.
        if self.out.is_empty() {
            let Some(offset) = reports.poll_offset(now) else {
                return Ok(());
            };
            write_progress(&mut self.out, offset);
            let sent = self.stream.send_now(&self.out)?;
            if sent == 0 {
                self.out.clear();
            } else {
                self.out.drain(..sent);
                reports.handle_sent(now);
            }
        } else {
            let sent = self.stream.send_now(&self.out)?;
            self.out.drain(..sent);
        }
        Ok(())
    }
}
