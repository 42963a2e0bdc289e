//! Requests of operators, and the runs that they hold.

use super::super::control::{AcquireRun, ControlWelcome, InviteMember, Members, Open, ReleaseRun};
use super::*;

impl Hub {
    /// An operator's connection received a message, or a text that can't be parsed.
    pub fn handle_operator(&mut self, now: Stamp, id: ConnectionId, message: Result<ControlRequest, Malformed>) {
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let done = match (&connection.peer, message) {
            (Peer::Unauthenticated(ConnectionKind::Operator), Ok(ControlRequest::Open(open))) => self.open(id, &open),
            (Peer::Operator, Ok(ControlRequest::Acquire(acquire))) => self.acquire(now, id, acquire),
            (Peer::Operator, Ok(ControlRequest::Invite(invite))) => self.invite(id, invite),
            (Peer::Operator, Ok(ControlRequest::Release(ReleaseRun { run, missing }))) => {
                if self.is_acquired_by(&run, id) {
                    self.release(now, &run, Some(&missing));
                    Ok(())
                } else {
                    Err(Rejection::Run(run))
                }
            }
            (Peer::Operator, Ok(ControlRequest::Revoke)) => {
                self.outputs.push_back(Output::NewToken(id));
                Ok(())
            }
            (_, Ok(message)) => Err(out_of_order(message.name())),
            (_, Err(malformed)) => Err(malformed.into()),
        };
        if let Err(rejection) = done {
            self.reject(now, id, "an operator".to_owned(), rejection);
        }
    }

    fn open(&mut self, id: ConnectionId, open: &Open) -> Result<(), Rejection> {
        if open.protocol != messages::VERSION {
            return Err(Rejection::Version { theirs: open.protocol });
        }
        if !self.setup.secret.admits(&open.secret) {
            return Err(Rejection::FleetToken);
        }
        if self.operators().len() >= MAX_OPERATORS {
            return Err(Rejection::TooMany);
        }
        self.set_deadline(id, None);
        self.pending.remove(&id);
        self.connections.get_mut(&id).expect("it opens").peer = Peer::Operator;
        let welcome = self.welcome();
        self.outputs.push_back(Output::Tell(id, ControlReply::Welcome(welcome)));
        self.tell_members(id);
        Ok(())
    }

    fn acquire(&mut self, now: Stamp, id: ConnectionId, acquire: AcquireRun) -> Result<(), Rejection> {
        let AcquireRun {
            run,
            port,
            folder,
            parts,
            members,
            until,
        } = acquire;
        if !messages::is_run(&run) || port == 0 {
            return Err(Rejection::Run(run));
        }
        if self.runs.len() >= MAX_RUNS && !self.runs.contains_key(&run) {
            return Err(Rejection::TooMany);
        }
        let taken = self
            .runs
            .iter()
            .filter(|(other, _)| **other != run)
            .find_map(|(other, acquired)| {
                let member = members.iter().find(|member| acquired.members.contains(*member))?;
                Some(Rejection::Busy {
                    member: member.clone(),
                    run: other.clone(),
                })
            });
        if let Some(taken) = taken {
            return Err(taken);
        }
        // The newer connection gets the run. The end of the older one may not be noticed yet.
        let acquired = self.runs.entry(run.clone()).or_insert(HeldRun {
            operator: id,
            port,
            parts: Vec::new(),
            members: BTreeSet::new(),
            until,
            invites: BTreeMap::new(),
        });
        (acquired.operator, acquired.port, acquired.until) = (id, port, until);
        acquired.members = members.into_iter().take(MAX_MEMBERS).collect();
        acquired.parts = parts
            .iter()
            .map(|part| (part.name.clone(), part.member.clone()))
            .collect();
        self.outputs.push_back(Output::Proxy(run.clone(), port));
        let registration = Registration {
            run,
            folder,
            parts,
            delivered: BTreeSet::new(),
        };
        self.outputs.push_back(Output::Register(id, registration));
        self.changed(now);
        Ok(())
    }

    fn invite(&mut self, id: ConnectionId, invite: InviteMember) -> Result<(), Rejection> {
        let InviteMember {
            run,
            member,
            name,
            token,
        } = invite;
        let named = messages::is_name(&member) && messages::is_name(&name) && token.len() <= MAX_TEXT;
        let acquired = self.runs.get_mut(&run).filter(|acquired| acquired.operator == id);
        let Some(acquired) = acquired.filter(|acquired| named && acquired.invites.len() < MAX_MEMBERS) else {
            return Err(Rejection::Run(run));
        };
        let invite = Invite {
            run: run.clone(),
            name,
            token,
        };
        acquired.invites.insert(member.clone(), invite.clone());
        let Some(&at) = self.members.get(&member) else {
            return Err(Rejection::Absent(member));
        };
        self.outputs.push_back(Output::Send(at, ToMember::Invite(invite)));
        Ok(())
    }

    /// The run that a member is in.
    pub(super) fn run_of(&self, member: &str) -> Option<(&str, &HeldRun)> {
        let mut runs = self.runs.iter();
        let (run, acquired) = runs.find(|(_, acquired)| acquired.members.contains(member))?;
        Some((run, acquired))
    }

    pub(super) fn is_acquired_by(&self, run: &str, id: ConnectionId) -> bool {
        self.runs.get(run).is_some_and(|acquired| acquired.operator == id)
    }

    pub(super) fn acquired_by(&self, id: ConnectionId) -> impl Iterator<Item = String> {
        let acquired = self.runs.iter().filter(move |(_, acquired)| acquired.operator == id);
        acquired.map(|(run, _)| run.clone())
    }

    /// Releases a run. `missing`: parts without results; `None`: unknown.
    pub(super) fn release(&mut self, now: Stamp, run: &str, missing: Option<&[String]>) {
        let Some(acquired) = self.runs.remove(run) else { return };
        let parts = acquired.parts.into_iter();
        let missing = parts.filter(|(name, _)| missing.is_none_or(|missing| missing.contains(name)));
        let missing = missing.map(|(name, member)| (member, name)).collect();
        self.outputs.push_back(Output::RunOver(run.to_owned(), missing));
        self.changed(now);
    }

    pub(super) fn operators(&self) -> Vec<ConnectionId> {
        let operators = self
            .connections
            .iter()
            .filter(|(_, c)| matches!(c.peer, Peer::Operator));
        operators.map(|(id, _)| *id).collect()
    }

    pub(super) fn welcome(&self) -> ControlWelcome {
        ControlWelcome {
            version: self.setup.version.clone(),
            fleet: self.setup.fleet.clone(),
            token: self.setup.token.reveal().to_owned(),
            urls: self.setup.urls.clone(),
            loopback_only: self.setup.loopback_only,
            observed: self.setup.observed.clone(),
        }
    }

    pub(super) fn tell_members(&mut self, id: ConnectionId) {
        let members = Members {
            members: self.members(),
        };
        self.outputs.push_back(Output::Tell(id, ControlReply::Members(members)));
    }
}
