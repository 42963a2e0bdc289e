//! The measurement of a run on the page's clock: passes what happens in the browser to the assignment's [`Page`], and executes
//! its commands.

use crate::assignment::AssignmentError;
use crate::browser::Effect;
use crate::event::{Assigned, Card, Command, Event, Reply};
use crate::host::Host;
use crate::page::Page;
use crate::server::Prepared;
use crate::transfers::Transfers;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::Assign;
use netburn_units::Instant;
use serde::{Deserialize, Serialize};

/// A measurement. It does nothing before [`begin`](Self::begin).
#[derive(Default)]
pub(crate) struct Measurement {
    page: Page,
    transfers: Transfers,
    pub(crate) assigned: Option<Assigned>,
    pub(crate) server: Prepared,
    pub(crate) clock: Option<RunClock>,
    /// Time of the next timeout.
    timeout: Option<Stamp>,
    /// True once all operations have ended.
    pub(crate) is_settled: bool,
}

/// Start of a run on the page's clock, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunClock {
    pub(crate) zero: i64,
    /// Time at which the start was known.
    pub(crate) began: i64,
}

impl Measurement {
    /// Sets the assignment.
    pub(crate) fn assign(&mut self, assign: Assign) -> Result<&Assigned, AssignmentError> {
        let reply = self.page.handle(Instant::ZERO, Event::Assign(Box::new(assign)));
        match (reply.assignment, reply.error) {
            (Some(assigned), _) => Ok(self.assigned.insert(assigned)),
            (None, error) => Err(error.unwrap_or(AssignmentError::Stations)),
        }
    }

    /// Sets the server. Returns the notes on the measurement.
    pub(crate) fn prepare(&mut self, host: &Host, server: Prepared) -> Vec<String> {
        self.server = server;
        let event = Event::Ready {
            channel_error: self.channel_error(),
            ports: self.server.origins.as_ref().map_or(0, Vec::len),
            resolution: host.resolution,
        };
        self.page.handle(Instant::ZERO, event).notes
    }

    /// Reason why there is no data channel.
    pub(crate) fn channel_error(&self) -> Option<String> {
        self.server.channel.as_ref()?.as_ref().err().cloned()
    }

    /// Closes the data channel.
    pub(crate) fn close_channel(&mut self, host: &mut Host) {
        if let Some(Ok(connection)) = self.server.channel.take_if(|channel| channel.is_ok()) {
            host.push(Effect::Disconnect { connection });
        }
    }

    /// Starts the measurement, or continues it after a reload from `saved` and `results`. `is_over`: only displays the results.
    pub(crate) fn begin(
        &mut self,
        host: &mut Host,
        saved: Option<serde_json::Value>,
        results: Option<serde_json::Value>,
        is_over: bool,
    ) {
        let numbers = 2 * self.assigned.as_ref().map_or(0, |assigned| assigned.workloads);
        let start = Event::Start {
            channel: matches!(self.server.channel, Some(Ok(_))),
            random: (0..numbers).map(|_| host.random.number()).collect(),
            saved,
            results,
            over: is_over,
        };
        self.input(host, start);
    }

    /// Returns the time of the run; `None` before the start is known.
    pub(crate) fn run_time(&self, now: Stamp) -> Option<Instant> {
        let zero = self.clock?.zero;
        Some(Instant::from_nanos(now.0.saturating_sub(zero)))
    }

    /// Start of the run on the page's clock; 0 before it is known.
    fn zero(&self) -> i64 {
        self.clock.map_or(0, |clock| clock.zero)
    }

    /// Passes an event to the page, and executes its commands.
    pub(crate) fn input(&mut self, host: &mut Host, event: Event) -> Reply {
        let now = self.run_time(host.now).unwrap_or(Instant::ZERO);
        let mut reply = self.page.handle(now, event);
        self.execute(host, &mut reply);
        reply
    }

    fn execute(&mut self, host: &mut Host, reply: &mut Reply) {
        let origins = self.server.origins.as_deref().unwrap_or_default();
        for command in reply.commands.drain(..) {
            host.push(match command {
                Command::Begin {
                    request,
                    lane,
                    up,
                    path,
                    size,
                    priority,
                } => {
                    self.transfers.begin(request, up, size);
                    let url = format!("{}{path}", origins.get(lane).map_or("", String::as_str));
                    Effect::Begin {
                        request,
                        url,
                        up,
                        size,
                        priority,
                    }
                }
                Command::Cancel { request } => {
                    self.transfers.end(request);
                    Effect::Cancel { request }
                }
            });
        }
        self.timeout = reply.timeout.map(|timeout| Stamp(timeout).offset(self.zero()));
        self.is_settled = reply.settled;
    }

    /// Adds a warning for all stations, about the time since `from`.
    pub(crate) fn warn(&mut self, host: &mut Host, from: Stamp, text: &str) {
        let warn = Event::Warn {
            from: from.0.saturating_sub(self.zero()),
            length: host.now.checked_since(from).unwrap_or_default().as_nanos(),
            text: text.to_owned(),
        };
        self.input(host, warn);
    }

    /// Returns the values of the workloads, during the run or at its end.
    pub(crate) fn cards(&mut self, host: &mut Host, live: bool) -> Vec<Card> {
        if self.clock.is_none() {
            return Vec::new();
        }
        self.input(host, Event::View { live }).cards
    }

    /// A datagram of the data channel arrived.
    pub(crate) fn handle_datagram(&mut self, host: &mut Host, bytes: &[u8]) {
        if let Some(now) = self.run_time(host.now) {
            let mut reply = self.page.handle_datagram(now, bytes);
            self.execute(host, &mut reply);
        }
    }

    /// Returns the next datagram to send.
    pub(crate) fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.page.poll_transmit()
    }

    pub(crate) fn handle_status(&mut self, host: &mut Host, request: u64, status: u16) {
        if let Some(event) = self.transfers.handle_status(request, status) {
            host.push(Effect::Cancel { request });
            self.input(host, event);
        }
    }

    pub(crate) fn handle_bytes(&mut self, host: &mut Host, request: u64, bytes: u64) {
        if let Some(event) = self.transfers.handle_bytes(request, bytes) {
            if matches!(event, Event::Failed { .. }) {
                host.push(Effect::Cancel { request });
            }
            self.input(host, event);
        }
    }

    pub(crate) fn handle_sent(&mut self, host: &mut Host, request: u64, total: u64) {
        if let Some(event) = self.transfers.handle_sent(request, total) {
            self.input(host, event);
        }
    }

    /// The response to a transfer is complete. `connected`: time on the page's clock at which a new connection was established.
    pub(crate) fn handle_finished(&mut self, host: &mut Host, request: u64, connected: Option<i64>) {
        if let Some(at) = connected {
            let at = at.saturating_sub(self.zero());
            self.input(host, Event::Connected { request, at });
        }
        for event in self.transfers.handle_finished(request) {
            self.input(host, event);
        }
    }

    pub(crate) fn handle_failed(&mut self, host: &mut Host, request: u64) {
        if let Some(event) = self.transfers.handle_failed(request) {
            self.input(host, event);
        }
    }

    pub(crate) fn handle_timeout(&mut self, host: &mut Host) {
        if self.timeout.is_some_and(|timeout| timeout <= host.now) {
            self.input(host, Event::Timeout);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Stamp> {
        self.timeout
    }
}
