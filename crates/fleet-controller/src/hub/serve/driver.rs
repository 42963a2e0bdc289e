//! Driver of the [`Hub`]: passes events to it and executes its outputs.

use super::storage::Request;
use super::*;
use netburn_run_control::disk_queue::{DiskQueue, Slot};
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

/// The hub, and the queues of its connections.
pub(super) struct HubDriver {
    pub(super) hub: Hub,
    pub(super) storage: DiskQueue<Request, Reply>,
    /// Slots of the late rows that the hub has handled, in any order.
    pub(super) slots: Vec<Slot>,
    /// Disconnections of each member that the storage thread has not handled. Its replies from before belong to a
    /// closed connection.
    pub(super) departures: BTreeMap<String, u32>,
    /// True if a requested sync is not completed.
    pub(super) syncing: bool,
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
    /// A message of a member. Late rows have a slot in the queue of the storage thread.
    Member(Stamp, ConnectionId, Result<FromMember, Malformed>, Option<Slot>),
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
            Event::JobResult(done) => self.request(Request::JobResult(done)),
            Event::Member(at, id, message, slot) => {
                self.slots.extend(slot);
                self.hub.handle_member(at, id, message);
            }
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
            Output::NewToken(operator) => self.request(Request::NewTokens(operator)),
            Output::Register(operator, registration) => self.request(Request::Register(operator, registration)),
            Output::PendingResults(member, waiting) => self.request(Request::Offer(member, waiting)),
            Output::RunOver(run, missing) => {
                self.router.proxy(&run, None);
                let names = missing.into_iter().map(|(_, name)| name).collect();
                self.request(Request::RunOver(run, names));
            }
            Output::LateResults(member, late) => self.request_with_slot(Request::LateResults(member, late)),
            Output::LateResultsEnd(member, end) => {
                self.request_with_slot(Request::LateResultsEnd(member, end, UnixTime::now()));
            }
            Output::Gone(member) => {
                *self.departures.entry(member.clone()).or_default() += 1;
                self.request(Request::Gone(member));
            }
            Output::Rejected(..) | Output::Joined(_) => {}
        }
    }

    /// Handles a reply of the storage thread. New tokens concern the whole controller, which handles them.
    pub(super) fn handle_reply(&mut self, reply: Reply) {
        match reply {
            Reply::NewTokens(..) => {}
            Reply::Registered(operator, run, Ok(())) => self.hub.handle_registered(operator, run),
            Reply::Registered(operator, run, Err(error)) => {
                let (now, reason) = (self.clock.now(), error.to_string());
                self.hub.handle_not_registered(now, operator, &run, &reason);
            }
            Reply::Holders(holders) => {
                for (member, waiting) in holders {
                    if self.hub.is_here(&member) {
                        self.request(Request::Offer(member, waiting));
                    }
                }
            }
            Reply::Send(member, message) => {
                if !self.departures.contains_key(&member) {
                    self.hub.send_to_member(&member, message);
                }
            }
            Reply::Gone(member) => {
                if let Entry::Occupied(mut departures) = self.departures.entry(member) {
                    *departures.get_mut() -= 1;
                    if *departures.get() == 0 {
                        departures.remove();
                    }
                }
            }
            Reply::Job(job) => {
                let event_sender = self.router.event_sender.clone();
                tokio::task::spawn_blocking(move || {
                    // Fails only when the controller has ended. The record is complete then.
                    let _ = event_sender.blocking_send(Event::JobResult(Box::new(job.carry_out())));
                });
            }
            Reply::Synced => self.syncing = false,
        }
    }

    /// Called once a second: requests that late results are synced, and that complete ones are added to their
    /// records.
    pub(super) fn sync_late_results(&mut self) {
        if self
            .load_monitor
            .sample(self.router.admission_limit.take_peak() + self.outgoing.len())
        {
            // The call may take long, because it examines the whole heap.
            tokio::task::spawn_blocking(netburn_platform::release_free_memory);
        }
        if !self.syncing {
            self.syncing = true;
            self.request(Request::Sync);
        }
    }

    /// Adds a request without rows. These are short and few: connects, disconnects, requests of operators, and at most
    /// one sync and one job.
    fn request(&self, request: Request) {
        // Fails only if the thread has panicked. The end of its replies shows that.
        let _ = self.storage.put_unlimited(request);
    }

    /// Adds a request with rows.
    fn request_with_slot(&mut self, request: Request) {
        let slot = self.slots.pop().expect("the message came with a slot");
        let _ = self.storage.put_reserved(slot, request);
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

    /// Disconnects all peers before the end of the controller, and waits until their connections are closed.
    pub(super) async fn disconnect_all(&mut self, events: &mut mpsc::Receiver<Event>) {
        let mut open: BTreeSet<ConnectionId> = self.outgoing.keys().copied().collect();
        self.hub.end();
        while let Some(output) = self.hub.poll_output() {
            self.apply(output);
        }
        self.outgoing.clear();
        let all = async {
            while !open.is_empty()
                && let Some(event) = events.recv().await
            {
                match event {
                    // It closes, because its queue is dropped.
                    Event::Opened(id, ..) => drop(open.insert(id)),
                    Event::Closed(id, _) => drop(open.remove(&id)),
                    event => self.handle_at_end(event),
                }
            }
        };
        let _ = timeout(to_std(CLOSE_TIMEOUT), all).await;
        while let Ok(event) = events.try_recv() {
            self.handle_at_end(event);
        }
    }

    /// Handles an event after the disconnection of all peers.
    fn handle_at_end(&self, event: Event) {
        match event {
            // Otherwise the next controller would request results that are in the record.
            Event::JobResult(done) => self.request(Request::JobResult(done)),
            // Late rows in them are not acknowledged, so their member delivers them again.
            Event::Opened(..) | Event::Closed(..) | Event::Member(..) | Event::Operator(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::control::{AcquireRun, Open};
    use crate::late::tests::{RUN, kept, registration, run};
    use futures_util::FutureExt;
    use netburn_protocol::messages::VERSION;
    use netburn_protocol::messages::standing::{LateAck, LateResults, MemberInfo, Register, ToMember};
    use netburn_record::Role;
    use netburn_run_control::disk_queue::{DiskThread, disk_queue};
    use netburn_run_control::spool::{self, SpoolFolder, SpoolReader};
    use std::path::Path;

    /// A driver. The test takes the place of the storage thread.
    struct Rig {
        driver: HubDriver,
        thread: DiskThread<Request, Reply>,
        next: u64,
        events: mpsc::Receiver<Event>,
    }

    impl Rig {
        fn new() -> Rig {
            let (storage, thread) = disk_queue(2);
            let (event_sender, events) = mpsc::channel(1);
            let router = Arc::new(Router {
                secure: None,
                http_handler: None,
                runs: Mutex::default(),
                next: AtomicU64::new(0),
                proxied: Arc::new(Semaphore::new(1)),
                event_sender,
                clock: OwnClock::new(),
                admission_limit: AdmissionLimit::new(),
                storage_slots: storage.slots(),
            });
            let setup = Setup {
                fleet: "home".to_owned(),
                version: "netburn test".to_owned(),
                token: Token::known("token"),
                secret: Token::known("secret"),
                urls: Vec::new(),
                loopback_only: true,
                observed: Default::default(),
            };
            let driver = HubDriver {
                hub: Hub::new(setup),
                storage,
                slots: Vec::new(),
                departures: BTreeMap::new(),
                syncing: false,
                outgoing: BTreeMap::new(),
                clock: router.clock,
                router,
                load_monitor: LoadMonitor::default(),
            };
            Rig {
                driver,
                thread,
                next: 0,
                events,
            }
        }

        fn handle(&mut self, event: Event) {
            self.driver.handle(event);
            self.apply();
        }

        fn reply(&mut self, reply: Reply) {
            self.driver.handle_reply(reply);
            self.apply();
        }

        fn apply(&mut self) {
            while let Some(output) = self.driver.hub.poll_output() {
                self.driver.apply(output);
            }
        }

        fn connect(&mut self, kind: ConnectionKind) -> (ConnectionId, mpsc::Receiver<String>) {
            let id = ConnectionId(self.next);
            self.next += 1;
            let (queue, sent) = mpsc::channel(MAX_OUTGOING);
            let outgoing = Outgoing {
                queue,
                authenticated: Authenticated::new(Ticket::uncounted()),
            };
            let peer_info = PeerInfo {
                private: true,
                address: None,
            };
            self.handle(Event::Opened(id, kind, peer_info, outgoing));
            (id, sent)
        }

        fn member(&mut self) -> (ConnectionId, mpsc::Receiver<String>) {
            let (id, mut sent) = self.connect(ConnectionKind::Member);
            let register = Register {
                protocol: VERSION,
                name: "kitchen".to_owned(),
                token: "token".to_owned(),
                version: "netburn test".to_owned(),
                about: MemberInfo::this_process(Role::Agent, None, BTreeMap::new()),
                pending: Vec::new(),
            };
            let register = Ok(FromMember::Register(register));
            self.handle(Event::Member(self.driver.clock.now(), id, register, None));
            assert!(matches!(
                ToMember::from_text(&sent.try_recv().unwrap()),
                Ok(ToMember::Welcome(_))
            ));
            (id, sent)
        }
    }

    fn ack(sequence: u64) -> ToMember {
        let run = "r".to_owned();
        ToMember::Ack(LateAck { run, sequence })
    }

    #[test]
    fn replies_from_before_a_disconnection_do_not_reach_the_next_connection() {
        let mut rig = Rig::new();
        let (first, mut sent) = rig.member();
        rig.reply(Reply::Send("kitchen".to_owned(), ack(1)));
        assert_eq!(sent.try_recv().unwrap(), ack(1).to_text());
        rig.handle(Event::Closed(first, String::new()));
        let (second, mut sent) = rig.member();
        rig.handle(Event::Closed(second, String::new()));
        let (_, mut again) = rig.member();
        let gone = || Reply::Gone("kitchen".to_owned());
        assert!(matches!(rig.thread.next(), Some(Request::Gone(_))));
        rig.reply(Reply::Send("kitchen".to_owned(), ack(2)));
        rig.reply(gone());
        rig.reply(Reply::Send("kitchen".to_owned(), ack(3)));
        assert!(sent.try_recv().is_err() && again.try_recv().is_err());
        assert!(matches!(rig.thread.next(), Some(Request::Gone(_))));
        rig.reply(gone());
        rig.reply(Reply::Send("kitchen".to_owned(), ack(4)));
        assert_eq!(again.try_recv().unwrap(), ack(4).to_text());
        assert!(rig.driver.departures.is_empty());
    }

    #[test]
    fn an_operator_gets_its_run_after_the_registration() {
        let mut rig = Rig::new();
        let (operator, mut sent) = rig.connect(ConnectionKind::Operator);
        let request = |rig: &mut Rig, request| {
            let at = rig.driver.clock.now();
            rig.handle(Event::Operator(at, operator, Ok(request)));
        };
        let open = Open {
            protocol: VERSION,
            secret: "secret".to_owned(),
        };
        request(&mut rig, ControlRequest::Open(open));
        while sent.try_recv().is_ok() {}
        let acquire = AcquireRun {
            run: "r".to_owned(),
            port: 1,
            folder: "/run".into(),
            parts: Vec::new(),
            members: Vec::new(),
            until: 0,
        };
        request(&mut rig, ControlRequest::Acquire(acquire));
        assert!(sent.try_recv().is_err());
        let Some(Request::Register(to, registration)) = rig.thread.next() else {
            panic!("no registration")
        };
        assert_eq!((to, &*registration.run), (operator, "r"));
        rig.reply(Reply::Registered(to, registration.run.clone(), Ok(())));
        assert!(sent.try_recv().unwrap().contains("acquired"));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        rig.reply(Reply::Registered(to, registration.run, Err(full)));
        let reply = sent.try_recv().unwrap();
        assert!(
            reply.contains("rejected") && reply.contains("storage_failed"),
            "{reply}"
        );
        assert!(matches!(rig.thread.next(), Some(Request::RunOver(run, _)) if run == "r"));
    }

    /// The result of a job that added late results to a record.
    fn job_result(dir: &Path) -> JobResult {
        std::fs::create_dir(dir).unwrap();
        let (folder, spooled) = (dir.join("run"), SpoolFolder::new(dir.join("agent")));
        run(&folder);
        kept(&spooled);
        let mut late_results = LateCollector::open(&dir.join("late")).unwrap();
        late_results.register(registration(&folder)).unwrap();
        late_results.release(RUN, &["tv".to_owned()]);
        late_results.offer("kitchen", &spool::pending(&spooled));
        let mut spooled = SpoolReader::open(&spooled, RUN, 1).unwrap();
        while let Some(late) = spooled.next().unwrap() {
            assert_eq!(late_results.late("kitchen", late), None);
        }
        assert_eq!(late_results.end("kitchen", spooled.end(), UnixTime::now()), None);
        late_results.next_job().unwrap().carry_out()
    }

    #[test]
    fn the_end_waits_for_open_connections_and_stores_results_of_jobs() {
        let dir = tempfile::tempdir().unwrap();
        let mut rig = Rig::new();
        let (id, mut sent) = rig.member();
        let result = |name: &str| Event::JobResult(Box::new(job_result(&dir.path().join(name))));
        let (first, second) = (result("first"), result("second"));
        let events = rig.driver.router.event_sender.clone();
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        // The task of the connection.
        let connection = async move {
            while sent.recv().await.is_some() {}
            // An earlier connection does not count.
            let earlier = Event::Closed(ConnectionId(99), String::new());
            for event in [earlier, first] {
                assert!(events.send(event).await.is_ok());
            }
            closed.store(true, Ordering::Relaxed);
            assert!(events.send(Event::Closed(id, String::new())).await.is_ok());
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(async {
            tokio::spawn(connection);
            rig.driver.disconnect_all(&mut rig.events).await;
            assert!(is_closed.load(Ordering::Relaxed));
            // Without an open connection there is nothing to wait for.
            assert!(rig.driver.router.event_sender.try_send(second).is_ok());
            rig.driver.disconnect_all(&mut rig.events).await;
        });
        assert!(matches!(rig.thread.next(), Some(Request::Gone(_))));
        assert!(matches!(rig.thread.next(), Some(Request::JobResult(_))));
        assert!(matches!(rig.thread.next(), Some(Request::JobResult(_))));
    }

    #[test]
    fn late_rows_occupy_a_slot_until_they_are_stored() {
        let mut rig = Rig::new();
        let (id, _sent) = rig.member();
        let slots = rig.driver.storage.slots();
        let is_full = || slots.reserve().now_or_never().is_none();
        for sequence in [1, 2] {
            let late = LateResults {
                run: "r".to_owned(),
                proof: String::new(),
                sequence,
                batch: Default::default(),
            };
            let slot = slots.reserve().now_or_never().unwrap().unwrap();
            let at = rig.driver.clock.now();
            rig.handle(Event::Member(at, id, Ok(FromMember::LateResults(late)), Some(slot)));
        }
        let sequence = |request| match request {
            Some(Request::LateResults(_, late)) => late.sequence,
            _ => panic!("no late rows"),
        };
        assert_eq!(sequence(rig.thread.next()), 1);
        assert!(is_full());
        assert_eq!(sequence(rig.thread.next()), 2);
        assert!(!is_full());
    }

    #[test]
    fn one_sync_is_requested_at_a_time() {
        let mut rig = Rig::new();
        for _ in 0..2 {
            rig.driver.sync_late_results();
            rig.driver.sync_late_results();
            rig.driver.request(Request::Gone(String::new()));
            assert!(matches!(rig.thread.next(), Some(Request::Sync)));
            assert!(matches!(rig.thread.next(), Some(Request::Gone(_))));
            rig.reply(Reply::Synced);
        }
    }
}
