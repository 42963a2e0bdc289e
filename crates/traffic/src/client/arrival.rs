//! Arrival of uploaded content at the peer.
//!
//! TCP acknowledges what the peer's kernel has received. On systems that do not report acknowledged bytes (all but
//! Linux), content counts when it has been passed to the kernel. If the server reports progress, content counts when the
//! server has reported it.

use super::exchange::TransferObserver;
use crate::clock::RunClock;
use crate::progress::{ArrivedContent, ReportedOffset};
use crate::sent::{SentBytes, SentFrames};
use netburn_platform::tcp_info;
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
    /// The part of it that counts, if the server may report progress. `None` after a response.
    progress: Option<ArrivedContent>,
    clock: RunClock,
    /// Bytes that have been reported.
    reported: u64,
    polled: Instant,
}

impl ArrivalReporter {
    /// The content follows what this connection has sent so far. `offset`: progress that the server may report.
    pub(crate) fn after_head(counter: ArrivalCounter, offset: Option<ReportedOffset>) -> Self {
        let begin = counter.passed();
        Self::new(Content::After(counter, begin), offset)
    }

    /// The content is that of an HTTP/2 stream whose first DATA frame has not been sent.
    pub(crate) fn of_stream(arrivals: &StreamArrivals, stream: u32, offset: Option<ReportedOffset>) -> Self {
        arrivals.frames.borrow_mut().observe(stream);
        Self::new(Content::Stream(arrivals.clone(), stream), offset)
    }

    fn new(content: Content, offset: Option<ReportedOffset>) -> Self {
        ArrivalReporter {
            content,
            progress: offset.map(ArrivedContent::new),
            clock: RunClock::starting_now(),
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

    /// Returns whether a poll is due.
    pub(crate) fn is_due(&self) -> bool {
        Instant::now() >= self.polled + POLL_INTERVAL
    }

    /// Reports content that has arrived since the last report.
    pub(crate) fn report<W: TransferObserver>(&mut self, watch: &mut W) {
        self.polled = Instant::now();
        if let Some(arrived) = self.arrived()
            && arrived > self.reported
        {
            watch.bytes(arrived - self.reported);
            self.reported = arrived;
        }
    }

    /// Returns the content that counts as arrived; `None` when the connection is closed.
    fn arrived(&mut self) -> Option<u64> {
        let acked = self.content.arrived()?;
        Some(match &mut self.progress {
            Some(content) => content.arrived(self.clock.now(), acked),
            None => acked,
        })
    }

    /// The response has arrived after `length` bytes of content were sent: reports the rest. The acknowledgement of the
    /// content comes with the response, unless the server responds early. Progress no longer matters. Content that does not arrive then is not
    /// counted.
    pub(crate) async fn settle<W: TransferObserver>(&mut self, length: u64, watch: &mut W) {
        self.progress = None;
        let mut since = Instant::now();
        loop {
            let before = self.reported;
            self.report(watch);
            if self.reported >= length || self.arrived().is_none() {
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
