//! Who is let in, and how a connection ends.

use super::*;

impl Hub {
    /// Whether who says this may enrol.
    pub(super) fn admit(&self, now: Stamp, id: ConnectionId, enrol: &Enrol) -> Result<(), Denial> {
        if enrol.protocol != protocol::VERSION {
            return Err(Denial::Version { theirs: enrol.protocol });
        }
        // Before all else, so that a stranger learns nothing about who is here.
        if !self.setup.token.admits(&enrol.token) {
            return Err(Denial::Token);
        }
        if enrol.about.kind == Kind::Process && !self.connections[&id].way.private {
            return Err(Denial::InTheClear);
        }
        if !protocol::is_name(&enrol.name) {
            return Err(Denial::Name);
        }
        let texts = enrol.version.len() <= MAX_TEXT && enrol.waiting.len() <= MAX_WAITING;
        let runs = enrol
            .waiting
            .iter()
            .all(|w| spool::is_run(&w.run) && protocol::is_name(&w.name));
        if !texts || !runs || !enrol.about.is_sound() {
            return Err(Denial::About);
        }
        match self.members.get(&enrol.name) {
            Some(other) => {
                let Who::Member(member) = &self.connections[other].who else {
                    unreachable!("a member's name names a member")
                };
                match member.heard.after(DOUBTFUL) <= now {
                    true => Ok(()),
                    false => Err(Denial::Duplicate(enrol.name.clone())),
                }
            }
            None if self.members.len() >= MAX_MEMBERS => Err(Denial::Full),
            None => Ok(()),
        }
    }

    pub(super) fn enrol(&mut self, now: Stamp, id: ConnectionId, enrol: Enrol) {
        if let Some(silent) = self.members.get(&enrol.name).copied() {
            self.dismiss(now, silent, "another of this name has joined");
        }
        let Enrol {
            name,
            version,
            about,
            waiting,
            ..
        } = enrol;
        self.members.insert(name.clone(), id);
        let joined = name.clone();
        let welcome = Enrolled {
            protocol: protocol::VERSION,
            version: self.setup.version.clone(),
            fleet: self.setup.fleet.clone(),
        };
        self.outputs.push_back(Output::Send(id, ToMember::Welcome(welcome)));
        for summon in self.runs.values().filter_map(|held| held.summons.get(&name)) {
            self.outputs
                .push_back(Output::Send(id, ToMember::Summon(summon.clone())));
        }
        for waiting in &waiting {
            if !self.runs.contains_key(&waiting.run) {
                self.outputs.push_back(Output::Waiting(name.clone(), waiting.clone()));
            }
        }
        self.strangers.remove(&id);
        let connection = self.connections.get_mut(&id).expect("it enrols");
        connection.who = Who::Member(Box::new(Member {
            name,
            about,
            version,
            waiting,
            heard: now,
        }));
        self.outputs.push_back(Output::Joined(joined));
        self.set_deadline(id, Some(now.after(SILENCE)));
        self.changed(now);
    }

    /// Refuses what somebody said; strangers and those who say too much of it have to go.
    pub(super) fn deny(&mut self, now: Stamp, id: ConnectionId, who: String, denial: Denial) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        // Whoever isn't here may come yet: to ask for it is no fault.
        if !matches!(denial, Denial::Absent(_)) {
            connection.refusals += 1;
        }
        let exhausted = matches!(connection.who, Who::Stranger(_)) || connection.refusals >= MAX_REFUSALS;
        let refused = Refused {
            reason: denial.to_string(),
        };
        self.outputs.push_back(match connection.who {
            Who::Stranger(Line::Owner) | Who::Owner => Output::Tell(id, ToOwner::Refused(refused)),
            _ => Output::Send(id, ToMember::Refused(refused)),
        });
        let address = connection.way.address;
        let who: String = who
            .chars()
            .filter(|c| !c.is_control())
            .take(protocol::MAX_NAME)
            .collect();
        self.outputs.push_back(Output::Refused(who, address, denial));
        if exhausted {
            self.close(now, id);
        }
    }

    /// Says goodbye and closes.
    pub(super) fn dismiss(&mut self, now: Stamp, id: ConnectionId, reason: &str) {
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let reason = reason.to_owned();
        self.outputs.push_back(match connection.who {
            Who::Stranger(Line::Member) => Output::Send(id, ToMember::Refused(Refused { reason })),
            Who::Member(_) => Output::Send(id, ToMember::Bye(Bye { reason: Some(reason) })),
            Who::Stranger(Line::Owner) | Who::Owner => Output::Tell(id, ToOwner::Refused(Refused { reason })),
        });
        self.close(now, id);
    }

    /// Closes from here; what follows is as if it had closed.
    fn close(&mut self, now: Stamp, id: ConnectionId) {
        self.outputs.push_back(Output::Close(id));
        self.drop_connection(now, id);
    }

    pub(super) fn drop_connection(&mut self, now: Stamp, id: ConnectionId) {
        self.set_deadline(id, None);
        self.strangers.remove(&id);
        let Some(connection) = self.connections.remove(&id) else {
            return;
        };
        match connection.who {
            Who::Stranger(_) => {}
            Who::Member(member) => {
                self.members.remove(&member.name);
                self.outputs.push_back(Output::Gone(member.name));
                self.changed(now);
            }
            Who::Owner => {
                let held: Vec<String> = self.held_by(id).collect();
                held.iter().for_each(|run| self.release(now, run, None));
            }
        }
    }

    pub(super) fn set_deadline(&mut self, id: ConnectionId, at: Option<Stamp>) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        if let Some(old) = std::mem::replace(&mut connection.deadline, at) {
            self.deadlines.remove(&(old, id));
        }
        if let Some(at) = at {
            self.deadlines.insert((at, id));
        }
    }

    pub(super) fn changed(&mut self, now: Stamp) {
        self.news.get_or_insert(now.after(NEWS));
    }
}
