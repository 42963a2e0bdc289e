//! What connections meet: conversations that are opened, participants that are passed on.

use super::*;

/// What connections know of the house that they stand before.
pub(super) struct Rooms {
    pub(super) secure: Option<String>,
    pub(super) annex: Option<Arc<dyn Annex>>,
    pub(super) runs: Mutex<BTreeMap<String, u16>>,
    pub(super) next: AtomicU64,
    pub(super) passed: Arc<Semaphore>,
    pub(super) tell: mpsc::Sender<Event>,
    pub(super) clock: OwnClock,
    pub(super) crowd: Crowd,
}

impl Rooms {
    /// From now on, or no longer, participants of `run` are passed on to this port.
    pub(super) fn pass_on(&self, run: &str, port: Option<u16>) {
        let mut known = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        match port {
            Some(port) => known.insert(run.to_owned(), port),
            None => known.remove(run),
        };
    }

    fn port(&self, run: &str) -> Option<u16> {
        let known = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(run).copied()
    }
}

impl House for Rooms {
    fn secure(&self) -> Option<&str> {
        self.secure.as_deref()
    }

    fn annex(&self) -> Option<&Arc<dyn Annex>> {
        self.annex.as_ref()
    }

    fn knows(&self, run: &str) -> bool {
        self.port(run).is_some() && self.passed.available_permits() > 0
    }

    fn enter(self: Arc<Self>, opening: Opening, from: From, ticket: Ticket, stream: TokioIo<Upgraded>) {
        let line = match opening {
            Opening::Member => Line::Member,
            Opening::Owner => Line::Owner,
            Opening::Run(run) => {
                ticket.release();
                let port = self.port(&run);
                let permit = Arc::clone(&self.passed).try_acquire_owned();
                if let (Some(port), Ok(permit)) = (port, permit) {
                    tokio::spawn(async move {
                        if let Err(error) = pass::on(stream, port).await {
                            tracing::debug!(run, %error, "a participant is no longer passed on");
                        }
                        drop(permit);
                    });
                }
                return;
            }
        };
        let id = ConnectionId(self.next.fetch_add(1, Ordering::Relaxed));
        let way = Way {
            private: from.tls || from.is_near(),
            address: from.address,
        };
        let (queue, waiting) = mpsc::channel(OUTGOING);
        let known = Known::not_yet(ticket);
        let stream = Metered::new(stream, UNKNOWN, known.clone());
        let limit = if line == Line::Member {
            MAX_FROM_MEMBER
        } else {
            MAX_OWNER
        };
        tokio::spawn(async move {
            let outgoing = Outgoing {
                queue,
                known: known.clone(),
            };
            let opened = Event::Opened(id, line, way, outgoing);
            if self.tell.send(opened).await.is_ok() {
                let channel = Channel::opened(stream, limit).await;
                let reason = self.converse(id, line, channel, waiting, &known).await;
                // Nobody is there to hear it once the controller has ended.
                let _ = self.tell.send(Event::Closed(id, reason)).await;
            }
        });
    }
}

impl Rooms {
    /// Listens and talks until either side ends it, and says how that came.
    async fn converse(
        &self,
        id: ConnectionId,
        line: Line,
        channel: Channel,
        queue: mpsc::Receiver<String>,
        known: &Known,
    ) -> String {
        let hear = async |text: String| {
            let event = match line {
                Line::Member => {
                    let message = FromMember::from_text(&text);
                    Event::Member(self.clock.now(), id, message)
                }
                Line::Owner => {
                    let message = FromOwner::from_text(&text);
                    Event::Owner(self.clock.now(), id, message)
                }
            };
            let told = self.tell.send(event).await;
            told.map_err(|_| "the controller ends".to_owned())
        };
        // In a crowd not everybody who is sent away can be heard out.
        let linger = || match known.get() {
            true => Some(None),
            false => self.crowd.linger().map(Some),
        };
        conversation::converse(channel, queue, |text| text, hear, linger).await
    }
}
