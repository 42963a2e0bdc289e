//! Admission of members, and the end of connections.

use super::*;

impl Hub {
    /// Checks a registration.
    pub(super) fn admit(&self, now: Stamp, id: ConnectionId, register: &Register) -> Result<(), Rejection> {
        if register.protocol != messages::VERSION {
            return Err(Rejection::Version {
                theirs: register.protocol,
            });
        }
        // Checked first, so that an unauthenticated peer does not learn which members are connected.
        if !self.setup.token.admits(&register.token) {
            return Err(Rejection::FleetToken);
        }
        if register.about.kind == Kind::Process && !self.connections[&id].peer_info.private {
            return Err(Rejection::NotEncrypted);
        }
        if !messages::is_name(&register.name) {
            return Err(Rejection::Name);
        }
        let texts = register.version.len() <= MAX_TEXT && register.pending.len() <= MAX_PENDING_RUNS;
        let runs = register
            .pending
            .iter()
            .all(|w| messages::is_run(&w.run) && messages::is_name(&w.name));
        if !texts || !runs || !register.about.is_sound() {
            return Err(Rejection::InvalidMemberInfo);
        }
        match self.members.get(&register.name) {
            Some(other) => {
                let Peer::Member(member) = &self.connections[other].peer else {
                    unreachable!("a member's name names a member")
                };
                if member.heard.after(STALE_AFTER) <= now {
                    Ok(())
                } else {
                    Err(Rejection::MemberName(register.name.clone()))
                }
            }
            None if self.members.len() >= MAX_MEMBERS => Err(Rejection::Full { maximum: MAX_MEMBERS }),
            None => Ok(()),
        }
    }

    pub(super) fn register(&mut self, now: Stamp, id: ConnectionId, register: Register) {
        if let Some(silent) = self.members.get(&register.name).copied() {
            self.disconnect(
                now,
                silent,
                RejectReason::NameTaken,
                "another connection registered this name",
            );
        }
        let Register {
            name,
            version,
            about,
            pending,
            ..
        } = register;
        self.members.insert(name.clone(), id);
        let joined = name.clone();
        let welcome = Registered {
            protocol: messages::VERSION,
            version: self.setup.version.clone(),
            fleet: self.setup.fleet.clone(),
        };
        self.outputs.push_back(Output::Send(id, ToMember::Welcome(welcome)));
        for invite in self.runs.values().filter_map(|acquired| acquired.invites.get(&name)) {
            self.outputs
                .push_back(Output::Send(id, ToMember::Invite(invite.clone())));
        }
        for results in &pending {
            if !self.runs.contains_key(&results.run) {
                self.outputs
                    .push_back(Output::PendingResults(name.clone(), results.clone()));
            }
        }
        self.pending.remove(&id);
        let connection = self.connections.get_mut(&id).expect("it enrols");
        connection.peer = Peer::Member(Box::new(Member {
            name,
            about,
            version,
            pending_results: pending,
            heard: now,
        }));
        self.outputs.push_back(Output::Joined(joined));
        self.set_deadline(id, Some(now.after(SILENCE_TIMEOUT)));
        self.changed(now);
    }

    /// Rejects a message. Closes an unauthenticated connection, and one with too many rejections.
    pub(super) fn reject(&mut self, now: Stamp, id: ConnectionId, peer: String, rejection: Rejection) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        // The member may still connect, so the request was valid.
        if !matches!(rejection, Rejection::Absent(_)) {
            connection.rejections += 1;
        }
        let exhausted = matches!(connection.peer, Peer::Unauthenticated(_)) || connection.rejections >= MAX_REJECTIONS;
        let rejected = Rejected {
            code: rejection.code(),
            reason: rejection.to_string(),
        };
        self.outputs.push_back(match connection.peer {
            Peer::Unauthenticated(ConnectionKind::Operator) | Peer::Operator => {
                Output::Tell(id, ControlReply::Rejected(rejected))
            }
            _ => Output::Send(id, ToMember::Rejected(rejected)),
        });
        let address = connection.peer_info.address;
        let peer: String = peer
            .chars()
            .filter(|c| !c.is_control())
            .take(messages::MAX_NAME)
            .collect();
        self.outputs.push_back(Output::Rejected(peer, address, rejection));
        if exhausted {
            self.close(now, id);
        }
    }

    /// Sends the reason and closes a connection.
    pub(super) fn disconnect(&mut self, now: Stamp, id: ConnectionId, code: RejectReason, reason: &str) {
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let reason = reason.to_owned();
        self.outputs.push_back(match connection.peer {
            Peer::Unauthenticated(ConnectionKind::Member) => {
                Output::Send(id, ToMember::Rejected(Rejected { code, reason }))
            }
            Peer::Member(_) => Output::Send(
                id,
                ToMember::Bye(Bye {
                    code: Some(code),
                    reason: Some(reason),
                }),
            ),
            Peer::Unauthenticated(ConnectionKind::Operator) | Peer::Operator => {
                Output::Tell(id, ControlReply::Rejected(Rejected { code, reason }))
            }
        });
        self.close(now, id);
    }

    /// Closes a connection and removes it.
    fn close(&mut self, now: Stamp, id: ConnectionId) {
        self.outputs.push_back(Output::Close(id));
        self.drop_connection(now, id);
    }

    pub(super) fn drop_connection(&mut self, now: Stamp, id: ConnectionId) {
        self.set_deadline(id, None);
        self.pending.remove(&id);
        let Some(connection) = self.connections.remove(&id) else {
            return;
        };
        match connection.peer {
            Peer::Unauthenticated(_) => {}
            Peer::Member(member) => {
                self.members.remove(&member.name);
                self.outputs.push_back(Output::Gone(member.name));
                self.changed(now);
            }
            Peer::Operator => {
                let acquired: Vec<String> = self.acquired_by(id).collect();
                acquired.iter().for_each(|run| self.release(now, run, None));
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
        self.members_due.get_or_insert(now.after(MEMBERS_INTERVAL));
    }
}
