//! Driver of the [`Hub`]: passes events to it and executes its outputs.

use super::*;

/// The hub, and the queues of its connections.
pub(super) struct HubDriver {
    pub(super) hub: Hub,
    pub(super) late_results: LateCollector,
    pub(super) outgoing: BTreeMap<ConnectionId, Outgoing>,
    pub(super) clock: OwnClock,
    pub(super) router: Arc<Router>,
    pub(super) load_monitor: LoadMonitor,
}

/// Queue of a connection.
pub(super) struct Outgoing {
    pub(super) queue: mpsc::Sender<String>,
    pub(super) authenticated: Authenticated,
}

/// Event for the hub.
pub(super) enum Event {
    Opened(ConnectionId, ConnectionKind, PeerInfo, Outgoing),
    Member(Stamp, ConnectionId, Result<FromMember, Malformed>),
    Operator(Stamp, ConnectionId, Result<ControlRequest, Malformed>),
    Closed(ConnectionId, String),
    JobResult(Box<JobResult>),
}

impl HubDriver {
    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Opened(id, kind, peer_info, outgoing) => {
                self.outgoing.insert(id, outgoing);
                self.hub.handle_connected(self.clock.now(), id, kind, peer_info);
            }
            Event::JobResult(done) => {
                if let Some((member, message)) = self.late_results.done(*done) {
                    self.hub.send_to_member(&member, message);
                }
            }
            Event::Member(at, id, message) => self.hub.handle_member(at, id, message),
            Event::Operator(at, id, message) => self.hub.handle_operator(at, id, message),
            Event::Closed(id, reason) => {
                tracing::debug!(connection = id.0, reason, "connection closed");
                self.outgoing.remove(&id);
                self.hub.handle_closed(self.clock.now(), id);
            }
        }
    }

    pub(super) fn apply(&mut self, output: Output) {
        match output {
            Output::Send(id, message) => self.send(id, message.to_text()),
            Output::Tell(id, message) => self.send(id, message.to_text()),
            Output::Close(id) => drop(self.outgoing.remove(&id)),
            Output::Proxy(run, port) => self.router.proxy(&run, Some(port)),
            Output::Register(registration) => {
                if let Err(error) = self.late_results.register(registration) {
                    tracing::warn!(%error, "late results can't be accepted");
                }
            }
            Output::PendingResults(member, waiting) => self.offer(&member, waiting),
            Output::RunOver(run, missing) => {
                self.router.proxy(&run, None);
                let names: Vec<String> = missing.iter().map(|(_, name)| name.clone()).collect();
                self.late_results.release(&run, &names);
                for (member, waiting) in self.late_results.holders(&run) {
                    if self.hub.is_here(&member) {
                        self.offer(&member, waiting);
                    }
                }
            }
            Output::LateResults(member, late) => {
                if let Some(message) = self.late_results.late(&member, late) {
                    self.hub.send_to_member(&member, message);
                }
            }
            Output::LateResultsEnd(member, end) => {
                if let Some(message) = self.late_results.end(&member, end, UnixTime::now()) {
                    self.hub.send_to_member(&member, message);
                }
            }
            Output::Gone(member) => self.late_results.gone(&member),
            Output::NewToken(_) | Output::Refused(..) | Output::Joined(_) => {}
        }
    }

    fn offer(&mut self, member: &str, waiting: PendingResults) {
        for message in self.late_results.offer(member, &[waiting]) {
            self.hub.send_to_member(member, message);
        }
    }

    /// Called once a second: syncs late results, and adds complete ones to their records.
    pub(super) fn sync_late_results(&mut self) {
        if self
            .load_monitor
            .sample(self.router.admission_limit.open() + self.outgoing.len())
        {
            // The call may take long, because it examines the whole heap.
            tokio::task::spawn_blocking(netburn_linux::release_free_memory);
        }
        for (member, message) in self.late_results.sync() {
            self.hub.send_to_member(&member, message);
        }
        if let Some(job) = self.late_results.next_job() {
            let event_sender = self.router.event_sender.clone();
            tokio::task::spawn_blocking(move || {
                // Fails only when the controller has ended. The record is complete then.
                let _ = event_sender.blocking_send(Event::JobResult(Box::new(job.carry_out())));
            });
        }
    }

    fn send(&mut self, id: ConnectionId, text: String) {
        let Some(Outgoing { queue, authenticated }) = self.outgoing.get(&id) else {
            return;
        };
        if self.hub.is_known(id) {
            authenticated.set();
        }
        if queue.try_send(text).is_err() {
            // The connection's task ends when its queue closes, and reports that.
            tracing::warn!(connection = id.0, "the queue of a connection is full");
            self.outgoing.remove(&id);
        }
    }

    /// Disconnects all peers before the end of the controller.
    pub(super) async fn disconnect_all(&mut self, events: &mut mpsc::Receiver<Event>) {
        self.hub.end();
        while let Some(output) = self.hub.poll_output() {
            self.apply(output);
        }
        let mut left = self.outgoing.len();
        self.outgoing.clear();
        let all = async {
            while left > 0 {
                match events.recv().await {
                    Some(Event::Closed(..)) => left -= 1,
                    Some(_) => {}
                    None => break,
                }
            }
        };
        let _ = timeout(to_std(CLOSE_TIMEOUT), all).await;
    }
}
