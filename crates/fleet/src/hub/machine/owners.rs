//! What owners say, and the runs that they hold.

use super::super::owner::{self, Hold, Members, Open, OwnerWelcome, Release, SummonMember};
use super::*;

impl Hub {
    /// A message came over an owner's connection, or something that is none.
    pub fn handle_owner(&mut self, now: Stamp, id: ConnectionId, message: Result<FromOwner, Malformed>) {
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let done = match (&connection.who, message) {
            (Who::Stranger(Line::Owner), Ok(FromOwner::Open(open))) => self.open(id, &open),
            (Who::Owner, Ok(FromOwner::Hold(hold))) => self.hold(now, id, hold),
            (Who::Owner, Ok(FromOwner::Summon(summon))) => self.summon(id, summon),
            (Who::Owner, Ok(FromOwner::Release(Release { run, missing }))) => match self.is_held_by(&run, id) {
                true => {
                    self.release(now, &run, Some(&missing));
                    Ok(())
                }
                false => Err(Denial::Run(run)),
            },
            (Who::Owner, Ok(FromOwner::Revoke)) => {
                self.outputs.push_back(Output::NewToken(id));
                Ok(())
            }
            (_, Ok(message)) => Err(Denial::OutOfOrder(message.name())),
            (_, Err(malformed)) => Err(malformed.into()),
        };
        if let Err(denial) = done {
            self.deny(now, id, "an owner".to_owned(), denial);
        }
    }

    fn open(&mut self, id: ConnectionId, open: &Open) -> Result<(), Denial> {
        if open.protocol != protocol::VERSION {
            return Err(Denial::Version { theirs: open.protocol });
        }
        if !self.setup.secret.admits(&open.secret) {
            return Err(Denial::Token);
        }
        if self.owners().len() >= MAX_OWNERS {
            return Err(Denial::TooMany);
        }
        self.set_deadline(id, None);
        self.strangers.remove(&id);
        self.connections.get_mut(&id).expect("it opens").who = Who::Owner;
        let welcome = self.welcome();
        self.outputs.push_back(Output::Tell(id, ToOwner::Welcome(welcome)));
        self.tell_members(id);
        Ok(())
    }

    fn hold(&mut self, now: Stamp, id: ConnectionId, hold: Hold) -> Result<(), Denial> {
        let Hold {
            run,
            port,
            folder,
            parts,
            members,
            until,
        } = hold;
        if !spool::is_run(&run) || port == 0 {
            return Err(Denial::Run(run));
        }
        if self.runs.len() >= MAX_RUNS && !self.runs.contains_key(&run) {
            return Err(Denial::TooMany);
        }
        let taken = self
            .runs
            .iter()
            .filter(|(other, _)| **other != run)
            .find_map(|(other, held)| {
                let member = members.iter().find(|member| held.members.contains(*member))?;
                Some(Denial::Busy {
                    member: member.clone(),
                    run: other.clone(),
                })
            });
        if let Some(taken) = taken {
            return Err(taken);
        }
        // Whoever holds it now may not have noticed yet that its connection is gone: the newer one has it.
        let held = self.runs.entry(run.clone()).or_insert(Held {
            owner: id,
            port,
            parts: Vec::new(),
            members: BTreeSet::new(),
            until,
            summons: BTreeMap::new(),
        });
        (held.owner, held.port, held.until) = (id, port, until);
        held.members = members.into_iter().take(MAX_MEMBERS).collect();
        held.parts = parts
            .iter()
            .map(|part| (part.name.clone(), part.member.clone()))
            .collect();
        self.outputs.push_back(Output::PassOn(run.clone(), port));
        self.outputs.push_back(Output::Register(Registration {
            run: run.clone(),
            folder,
            parts,
            home: BTreeSet::new(),
        }));
        self.outputs
            .push_back(Output::Tell(id, ToOwner::Held(owner::Held { run })));
        self.changed(now);
        Ok(())
    }

    fn summon(&mut self, id: ConnectionId, summon: SummonMember) -> Result<(), Denial> {
        let SummonMember {
            run,
            member,
            name,
            token,
        } = summon;
        let named = protocol::is_name(&member) && protocol::is_name(&name) && token.len() <= MAX_TEXT;
        let held = self.runs.get_mut(&run).filter(|held| held.owner == id);
        let Some(held) = held.filter(|held| named && held.summons.len() < MAX_MEMBERS) else {
            return Err(Denial::Run(run));
        };
        let summon = Summon {
            run: run.clone(),
            name,
            token,
        };
        held.summons.insert(member.clone(), summon.clone());
        let Some(&at) = self.members.get(&member) else {
            return Err(Denial::Absent(member));
        };
        self.outputs.push_back(Output::Send(at, ToMember::Summon(summon)));
        Ok(())
    }

    /// The run that a member is in.
    pub(super) fn run_of(&self, member: &str) -> Option<(&str, &Held)> {
        let mut runs = self.runs.iter();
        let (run, held) = runs.find(|(_, held)| held.members.contains(member))?;
        Some((run, held))
    }

    pub(super) fn is_held_by(&self, run: &str, id: ConnectionId) -> bool {
        self.runs.get(run).is_some_and(|held| held.owner == id)
    }

    pub(super) fn held_by(&self, id: ConnectionId) -> impl Iterator<Item = String> {
        let held = self.runs.iter().filter(move |(_, held)| held.owner == id);
        held.map(|(run, _)| run.clone())
    }

    /// Nobody holds the run any more. `missing`: the parts whose results are; `None`: it isn't known.
    pub(super) fn release(&mut self, now: Stamp, run: &str, missing: Option<&[String]>) {
        let Some(held) = self.runs.remove(run) else { return };
        let parts = held.parts.into_iter();
        let missing = parts.filter(|(name, _)| missing.is_none_or(|missing| missing.contains(name)));
        let missing = missing.map(|(name, member)| (member, name)).collect();
        self.outputs.push_back(Output::RunOver(run.to_owned(), missing));
        self.changed(now);
    }

    pub(super) fn owners(&self) -> Vec<ConnectionId> {
        let owners = self.connections.iter().filter(|(_, c)| matches!(c.who, Who::Owner));
        owners.map(|(id, _)| *id).collect()
    }

    pub(super) fn welcome(&self) -> OwnerWelcome {
        OwnerWelcome {
            version: self.setup.version.clone(),
            fleet: self.setup.fleet.clone(),
            token: self.setup.token.reveal().to_owned(),
            urls: self.setup.urls.clone(),
            near_only: self.setup.near_only,
        }
    }

    pub(super) fn tell_members(&mut self, id: ConnectionId) {
        let members = Members {
            members: self.members(),
        };
        self.outputs.push_back(Output::Tell(id, ToOwner::Members(members)));
    }
}
