//! Arrival of uploaded content at the peer.
//!
//! TCP acknowledges what the peer's kernel has received. On systems that do not report acknowledged bytes (all but
//! Linux), content counts when it has been passed to the kernel.

use super::exchange::TransferObserver;
use crate::sent::{SentBytes, SentFrames};
use netburn_linux::tcp_info;
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// Interval at which the kernel is polled for acknowledged bytes.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum time without progress in which the rest of an upload must arrive after the response. Only a server that
/// responds before it has the content causes a wait.
const SETTLING: Duration = Duration::from_secs(1);

/// Counts the arrived bytes of a connection. Does not keep it open.
#[derive(Debug, Clone)]
pub(crate) struct ArrivalCounter {
    socket: Weak<TcpStream>,
    sent: Rc<RefCell<SentBytes>>,
}

impl ArrivalCounter {
    pub(crate) fn new(socket: &Rc<TcpStream>, sent: &Rc<RefCell<SentBytes>>) -> Self {
        ArrivalCounter {
            socket: Rc::downgrade(socket),
            sent: Rc::clone(sent),
        }
    }

    /// Returns the bytes that this end has passed on, before TLS.
    fn passed(&self) -> u64 {
        self.sent.borrow().passed()
    }

    /// Returns the bytes that have arrived, before TLS; `None` when the connection is closed.
    fn arrived(&self) -> Option<u64> {
        let socket = self.socket.upgrade()?;
        let mut sent = self.sent.borrow_mut();
        let acked = tcp_info(&*socket).map_or(sent.written(), |info| {
            // The SYN counts as one byte, and a FIN too (RFC 9293 §3.4).
            info.bytes_acked.as_bytes().saturating_sub(1).min(sent.written())
        });
        Some(sent.arrived(acked))
    }
}

/// Counts the arrived content of each stream of an HTTP/2 connection.
#[derive(Debug, Clone)]
pub(crate) struct StreamArrivals {
    counter: ArrivalCounter,
    frames: Rc<RefCell<SentFrames>>,
}

impl StreamArrivals {
    /// `frames` contains the frames of the connection since its first byte.
    pub(crate) fn new(counter: ArrivalCounter, frames: &Rc<RefCell<SentFrames>>) -> Self {
        StreamArrivals {
            counter,
            frames: Rc::clone(frames),
        }
    }
}

/// Content of an upload: where it is in the bytes of its connection.
enum Content {
    /// HTTP/1.1: all bytes after this one.
    After(ArrivalCounter, u64),
    /// HTTP/2: the payload of a stream.
    Stream(StreamArrivals, u32),
}

impl Content {
    fn arrived(&self) -> Option<u64> {
        match self {
            Content::After(counter, begin) => Some(counter.arrived()?.saturating_sub(*begin)),
            Content::Stream(arrivals, stream) => {
                let position = arrivals.counter.arrived()?;
                let mut frames = arrivals.frames.borrow_mut();
                frames.acknowledge(position);
                Some(frames.arrived(*stream))
            }
        }
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        if let Content::Stream(arrivals, stream) = self {
            arrivals.frames.borrow_mut().forget(*stream);
        }
    }
}

/// Reports the arrived content of one upload.
pub(crate) struct ArrivalReporter {
    content: Content,
    /// Bytes that have been reported.
    reported: u64,
    polled: Instant,
}

impl ArrivalReporter {
    /// The content follows what this connection has sent so far.
    pub(crate) fn after_head(counter: ArrivalCounter) -> Self {
        let begin = counter.passed();
        Self::new(Content::After(counter, begin))
    }

    /// The content is that of an HTTP/2 stream whose first DATA frame has not been sent.
    pub(crate) fn of_stream(arrivals: &StreamArrivals, stream: u32) -> Self {
        arrivals.frames.borrow_mut().observe(stream);
        Self::new(Content::Stream(arrivals.clone(), stream))
    }

    fn new(content: Content) -> Self {
        ArrivalReporter {
            content,
            reported: 0,
            polled: Instant::now(),
        }
    }

    /// Waits for `work`, and reports content that arrives in the meantime.
    pub(crate) async fn during<T, W: TransferObserver>(&mut self, work: impl Future<Output = T>, watch: &mut W) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.tick() => self.report(watch),
            }
        }
    }

    /// Waits for the next poll.
    pub(crate) async fn tick(&self) {
        sleep(POLL_INTERVAL).await;
    }

    /// Reports content that has arrived since the last report, if a poll is due.
    pub(crate) fn report_if_due<W: TransferObserver>(&mut self, watch: &mut W) {
        if Instant::now() >= self.polled + POLL_INTERVAL {
            self.report(watch);
        }
    }

    fn report<W: TransferObserver>(&mut self, watch: &mut W) {
        self.polled = Instant::now();
        if let Some(arrived) = self.content.arrived()
            && arrived > self.reported
        {
            watch.bytes(arrived - self.reported);
            self.reported = arrived;
        }
    }

    /// The response has arrived after `length` bytes of content were sent: reports the rest. The acknowledgement of the
    /// content comes with the response, unless the server responds early. Content that does not arrive then is not
    /// counted.
    pub(crate) async fn settle<W: TransferObserver>(&mut self, length: u64, watch: &mut W) {
        let mut since = Instant::now();
        loop {
            let before = self.reported;
            self.report(watch);
            if self.reported >= length || self.content.arrived().is_none() {
                return;
            }
            if self.reported > before {
                since = self.polled;
            }
            if self.polled >= since + SETTLING {
                return;
            }
            self.tick().await;
        }
    }
}
