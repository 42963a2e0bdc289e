//! The hub at work: what happens is handed to it, and what it wants is carried out.

use super::*;

/// The hub, and the queues of those it speaks to.
pub(super) struct Run {
    pub(super) hub: Hub,
    pub(super) desk: Desk,
    pub(super) outgoing: BTreeMap<ConnectionId, Outgoing>,
    pub(super) clock: OwnClock,
    pub(super) rooms: Arc<Rooms>,
    pub(super) aftermath: Aftermath,
}

/// The way to somebody.
pub(super) struct Outgoing {
    pub(super) queue: mpsc::Sender<String>,
    pub(super) known: Known,
}

/// What happened.
pub(super) enum Event {
    Opened(ConnectionId, Line, Way, Outgoing),
    Member(Stamp, ConnectionId, Result<FromMember, Malformed>),
    Owner(Stamp, ConnectionId, Result<FromOwner, Malformed>),
    Closed(ConnectionId, String),
    Done(Box<Done>),
}

impl Run {
    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Opened(id, line, way, outgoing) => {
                self.outgoing.insert(id, outgoing);
                self.hub.handle_connected(self.clock.now(), id, line, way);
            }
            Event::Done(done) => {
                if let Some((member, message)) = self.desk.done(*done) {
                    self.hub.say(&member, message);
                }
            }
            Event::Member(at, id, message) => self.hub.handle_member(at, id, message),
            Event::Owner(at, id, message) => self.hub.handle_owner(at, id, message),
            Event::Closed(id, reason) => {
                tracing::debug!(connection = id.0, reason, "a connection ended");
                self.outgoing.remove(&id);
                self.hub.handle_closed(self.clock.now(), id);
            }
        }
    }

    pub(super) fn carry_out(&mut self, output: Output) {
        match output {
            Output::Send(id, message) => self.send(id, message.to_text()),
            Output::Tell(id, message) => self.send(id, message.to_text()),
            Output::Close(id) => drop(self.outgoing.remove(&id)),
            Output::PassOn(run, port) => self.rooms.pass_on(&run, Some(port)),
            Output::Register(registration) => {
                if let Err(error) = self.desk.register(registration) {
                    tracing::warn!(%error, "results that come late can't be taken");
                }
            }
            Output::Waiting(member, waiting) => self.offer(&member, waiting),
            Output::RunOver(run, missing) => {
                self.rooms.pass_on(&run, None);
                let names: Vec<String> = missing.iter().map(|(_, name)| name.clone()).collect();
                self.desk.release(&run, &names);
                for (member, waiting) in self.desk.holders(&run) {
                    if self.hub.is_here(&member) {
                        self.offer(&member, waiting);
                    }
                }
            }
            Output::Late(member, late) => {
                if let Some(message) = self.desk.late(&member, late) {
                    self.hub.say(&member, message);
                }
            }
            Output::LateEnd(member, end) => {
                if let Some(message) = self.desk.end(&member, end, UnixTime::now()) {
                    self.hub.say(&member, message);
                }
            }
            Output::Gone(member) => self.desk.gone(&member),
            Output::NewToken(_) | Output::Refused(..) | Output::Joined(_) => {}
        }
    }

    fn offer(&mut self, member: &str, waiting: Waiting) {
        for message in self.desk.offer(member, &[waiting]) {
            self.hub.say(member, message);
        }
    }

    /// Once a second: what came late is on the disk, and what is complete is added to its record.
    pub(super) fn keep(&mut self) {
        if self.aftermath.look(self.rooms.crowd.open() + self.outgoing.len()) {
            // It may take a while: the whole heap is looked through.
            tokio::task::spawn_blocking(netburn_linux::release_free_memory);
        }
        for (member, message) in self.desk.sync() {
            self.hub.say(&member, message);
        }
        if let Some(job) = self.desk.next_job() {
            let tell = self.rooms.tell.clone();
            tokio::task::spawn_blocking(move || {
                // Nobody is there to hear it once the controller has ended; the record has it.
                let _ = tell.blocking_send(Event::Done(Box::new(job.carry_out())));
            });
        }
    }

    fn send(&mut self, id: ConnectionId, text: String) {
        let Some(Outgoing { queue, known }) = self.outgoing.get(&id) else {
            return;
        };
        if self.hub.is_known(id) {
            known.set();
        }
        if queue.try_send(text).is_err() {
            // Its task ends with its queue, and says so.
            tracing::warn!(connection = id.0, "a connection takes no messages");
            self.outgoing.remove(&id);
        }
    }

    /// Lets everybody know that this ends.
    pub(super) async fn say_goodbye(&mut self, events: &mut mpsc::Receiver<Event>) {
        self.hub.end();
        while let Some(output) = self.hub.poll_output() {
            self.carry_out(output);
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
        let _ = timeout(std(GOODBYE), all).await;
    }
}
