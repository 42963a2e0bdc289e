//! Routing of opened WebSockets: to the hub, or to the holder of a run.

use super::*;
use netburn_run_control::disk_queue::Slots;

/// State shared by all connections.
pub(super) struct Router {
    pub(super) secure: Option<String>,
    pub(super) http_handler: Option<Arc<dyn HttpHandler>>,
    pub(super) runs: Mutex<BTreeMap<String, u16>>,
    pub(super) next: AtomicU64,
    pub(super) proxied: Arc<Semaphore>,
    pub(super) event_sender: mpsc::Sender<Event>,
    pub(super) clock: OwnClock,
    pub(super) admission_limit: AdmissionLimit,
    /// Slots of the storage thread's queue.
    pub(super) storage_slots: Slots,
}

impl Router {
    /// Sets the port to which connections to `run` are proxied; `None`: no longer.
    pub(super) fn proxy(&self, run: &str, port: Option<u16>) {
        let mut ports = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        match port {
            Some(port) => ports.insert(run.to_owned(), port),
            None => ports.remove(run),
        };
    }

    fn port(&self, run: &str) -> Option<u16> {
        let ports = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        ports.get(run).copied()
    }
}

impl ConnectionHandler for Router {
    fn secure(&self) -> Option<&str> {
        self.secure.as_deref()
    }

    fn http_handler(&self) -> Option<&Arc<dyn HttpHandler>> {
        self.http_handler.as_ref()
    }

    fn knows(&self, run: &str) -> bool {
        self.port(run).is_some() && self.proxied.available_permits() > 0
    }

    fn enter(self: Arc<Self>, endpoint: Endpoint, from: PeerAddr, ticket: Ticket, stream: TokioIo<Upgraded>) {
        let kind = match endpoint {
            Endpoint::Member => ConnectionKind::Member,
            Endpoint::Operator => ConnectionKind::Operator,
            Endpoint::Run(run) => {
                ticket.release();
                let port = self.port(&run);
                let permit = Arc::clone(&self.proxied).try_acquire_owned();
                if let (Some(port), Ok(permit)) = (port, permit) {
                    tokio::spawn(async move {
                        if let Err(error) = proxy::run(stream, port).await {
                            tracing::debug!(run, %error, "a proxied connection ended");
                        }
                        drop(permit);
                    });
                }
                return;
            }
        };
        let id = ConnectionId(self.next.fetch_add(1, Ordering::Relaxed));
        let peer = PeerInfo {
            private: from.tls || from.is_local(),
            address: from.address,
        };
        let (queue, waiting) = mpsc::channel(MAX_OUTGOING);
        let authenticated = Authenticated::new(ticket);
        let stream = Metered::new(stream, MAX_UNAUTHENTICATED_BYTES, authenticated.clone());
        let limit = if kind == ConnectionKind::Member {
            MAX_FROM_MEMBER
        } else {
            MAX_CONTROL_MESSAGE
        };
        tokio::spawn(async move {
            let outgoing = Outgoing {
                queue,
                authenticated: authenticated.clone(),
            };
            let opened = Event::Opened(id, kind, peer, outgoing);
            if self.event_sender.send(opened).await.is_ok() {
                let channel = Channel::opened(stream, limit).await;
                let reason = self.run_connection(id, kind, channel, waiting, &authenticated).await;
                // Fails only when the controller has ended.
                let _ = self.event_sender.send(Event::Closed(id, reason)).await;
            }
        });
    }
}

impl Router {
    /// Receives and sends until either side closes the connection. Returns the reason.
    async fn run_connection(
        &self,
        id: ConnectionId,
        kind: ConnectionKind,
        channel: Channel,
        queue: mpsc::Receiver<String>,
        authenticated: &Authenticated,
    ) -> String {
        let on_message = async |text: String| {
            let event = match kind {
                ConnectionKind::Member => {
                    let message = FromMember::from_text(&text);
                    // Up to 1 MiB, which would be kept during the wait for a slot.
                    drop(text);
                    let slot = match message {
                        // A slow disk delays the reading of this connection, and then its member. A wait that is
                        // longer than `SILENCE_TIMEOUT` disconnects the member, because the hub receives nothing
                        // from it meanwhile.
                        Ok(FromMember::LateResults(_) | FromMember::LateResultsEnd(_)) => {
                            let slot = self.storage_slots.reserve().await;
                            Some(slot.map_err(|error| error.to_string())?)
                        }
                        _ => None,
                    };
                    // The time is taken after the wait for a slot. So the silence of the member begins after the wait,
                    // and not with the arrival of this message.
                    Event::Member(self.clock.now(), id, message, slot)
                }
                ConnectionKind::Operator => {
                    let message = ControlRequest::from_text(&text);
                    Event::Operator(self.clock.now(), id, message)
                }
            };
            let sent = self.event_sender.send(event).await;
            sent.map_err(|_| "the controller is shutting down".to_owned())
        };
        // Under high load, not every closing unauthenticated connection is read to its end.
        let linger = || {
            if authenticated.get() {
                Some(None)
            } else {
                self.admission_limit.linger().map(Some)
            }
        };
        duplex::run_connection(channel, queue, |text| text, on_message, linger).await
    }
}
