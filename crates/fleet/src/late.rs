//! The controller's side of results that come when nobody holds their run any more.
//!
//! Each run is registered with the folder that it goes to, and who takes part. What a member delivers afterwards is held
//! against that ([`Intake`], pure), appended to a spool of its own in the run's folder, synced, and only then said to be
//! kept. When all of it is here it is added to the record ([`netburn_record::merge_late_results()`]), which is a job for a thread that
//! may take its time; then the member is told to forget it.
//!
//! ```text
//! offer ─→ deliver                   late ─→ (file)   sync ─→ kept        late-end ─→ job ─→ done ─→ forget
//! ```

mod intake;
mod job;
mod short;
#[cfg(test)]
mod tests;

pub use intake::{Intake, Refusal};
pub use job::{Done, Job};

use crate::protocol::standing::{Deliver, Forget, Kept, Late, LateEnd, ToMember, Waiting};
use crate::protocol::{self, Refused};
use crate::spool::{About, SpoolFolder, Writer, is_run};
use netburn_record::UnixTime;
use netburn_record::allowance::Allowance;
use netburn_scenario::Plan;
use serde::{Deserialize, Serialize};
use short::{Short, is_full};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most runs that are remembered; beyond it the first by name, which begins with its time, is forgotten.
pub const MAX_RUNS: usize = 1000;
/// Where in a run's folder late results wait until they are added.
const LATE: &str = "late";

/// What a controller must know of a run to take results for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The run.
    pub run: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Who takes part.
    pub parts: Vec<Part>,
    /// The parts whose results came home late, by name: they are not wanted again.
    #[serde(default)]
    pub home: BTreeSet<String>,
}

/// One agent's part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Part {
    /// Under which name it takes part.
    pub name: String,
    /// The member who does: nobody else's results are taken for it.
    pub member: String,
    /// The stations that it drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// What its results have to show: see [`proof`](crate::protocol::standing::proof). `None`: nothing, for a run of an older netburn.
    #[serde(default)]
    pub proof: Option<String>,
    /// The most bytes of late results that are kept for it; `None`: [`DEFAULT_MOST`].
    #[serde(default)]
    pub most: Option<u64>,
}

/// The most bytes of late results of a part, where nothing else is known: 1 GiB.
pub const DEFAULT_MOST: u64 = 1 << 30;

impl Part {
    /// The most bytes that the results of these stations can have as messages.
    #[must_use]
    pub fn most_bytes(plan: &Plan, stations: &[u16]) -> u64 {
        // The longest row of each kind, as JSON; a text with every byte escaped; and the frames around.
        let most = Allowance::for_agent(plan, stations).most();
        [
            (most.operations, 300),
            (most.intervals, 120),
            (most.connections, 240),
            (most.links, 1100),
            (most.events, 256),
            (most.text, 6),
        ]
        .into_iter()
        .fold(1 << 20, |sum: u64, (rows, bytes)| {
            sum.saturating_add(rows.saturating_mul(bytes))
        })
    }
}

/// Where late results are taken.
///
/// **Call order:** runs are [registered](Self::register) before their agents are summoned, and
/// [released](Self::release) when nobody holds them any more. What members say is handed over with
/// [`offer`](Self::offer), [`late`](Self::late) and [`end`](Self::end); [`sync`](Self::sync) is called once a second. While
/// [`next_job`](Self::next_job) gives one, it is carried out on a thread that may wait, and [`done`](Self::done) told of it.
/// Whatever comes back with a member's name is to be sent to that member.
#[derive(Debug)]
pub struct Desk {
    state: PathBuf,
    runs: BTreeMap<String, Registration>,
    held: BTreeSet<String>,
    /// By member and run.
    coming: BTreeMap<(String, String), Coming>,
    jobs: VecDeque<Job>,
    working: bool,
    /// Jobs that found their folder in use, and wait for it.
    put_off: Vec<Job>,
    /// What there was no room for, by member and run.
    short: BTreeMap<(String, String), Short>,
    /// What of that was tried again the last time anything was.
    tried: BTreeSet<(String, String)>,
    /// How many times it is synced until that is tried again.
    until_tried: u32,
}

/// The results of one part on their way.
#[derive(Debug)]
struct Coming {
    intake: Intake,
    store: Store,
    said: u64,
}

/// Where the results of one part are.
#[derive(Debug)]
enum Store {
    /// Nothing came yet: there is no file, so that none stays when nothing comes.
    Unbegun(SpoolFolder),
    /// Its file.
    Open(Writer),
    /// All of it is in its file, and to be added to the record.
    Whole,
}

impl Desk {
    /// The desk whose registrations are in the folder `state`.
    ///
    /// # Errors
    /// When it can't be made. What is damaged in it is forgotten.
    pub fn open(state: &Path) -> io::Result<Desk> {
        std::fs::create_dir_all(state)?;
        let mut runs = BTreeMap::new();
        for entry in std::fs::read_dir(state)?.flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            if let Ok(registration) = serde_json::from_str::<Registration>(&text)
                && is_run(&registration.run)
                && entry.file_name().to_str() == Some(&format!("{}.json", registration.run))
            {
                runs.insert(registration.run.clone(), registration);
            }
        }
        Ok(Desk {
            state: state.to_owned(),
            runs,
            held: BTreeSet::new(),
            coming: BTreeMap::new(),
            jobs: VecDeque::new(),
            working: false,
            put_off: Vec::new(),
            short: BTreeMap::new(),
            tried: BTreeSet::new(),
            until_tried: 0,
        })
    }

    /// A run begins, and somebody holds it: what its agents keep is not wanted here meanwhile. One that is registered
    /// already keeps what is known of who came home.
    ///
    /// # Errors
    /// When it can't be written down, or its name isn't a run's.
    pub fn register(&mut self, mut registration: Registration) -> io::Result<()> {
        if !is_run(&registration.run) {
            return Err(io::Error::other(format!("`{}` is no run's name", registration.run)));
        }
        if let Some(before) = self.runs.get(&registration.run) {
            registration.home.extend(before.home.iter().cloned());
        }
        self.write(&registration)?;
        self.held.insert(registration.run.clone());
        self.runs.insert(registration.run.clone(), registration);
        while self.runs.len() > MAX_RUNS {
            if let Some((run, _)) = self.runs.pop_first() {
                let _ = std::fs::remove_file(self.path(&run));
            }
        }
        Ok(())
    }

    /// Nobody holds the run any more: the results of the `missing` parts, by name, are wanted here. The other parts came home
    /// in time. What a controller began to take of those, before it knew that the run was held, is deleted.
    pub fn release(&mut self, run: &str, missing: &[String]) {
        self.held.remove(run);
        let Some(registration) = self.runs.get_mut(run) else {
            return;
        };
        let home = registration.parts.iter().filter(|part| !missing.contains(&part.name));
        let home: Vec<Part> = home.cloned().collect();
        registration.home.extend(home.iter().map(|part| part.name.clone()));
        let registration = registration.clone();
        for part in &home {
            self.drop_part(&registration, part);
        }
        if let Err(error) = self.write(&registration) {
            // A controller that is started again would ask for them, and find that they are there.
            tracing::warn!(%error, "that results are home can't be written down");
        }
    }

    /// The members that may have results of a run that was released, and which. A part whose results are in the record is among them:
    /// an agent that was killed or disconnected at the end has its spool until it receives [`Forget`].
    #[must_use]
    pub fn holders(&self, run: &str) -> Vec<(String, Waiting)> {
        let Some(registration) = self.runs.get(run) else {
            return Vec::new();
        };
        let is_home = |part: &&Part| registration.home.contains(&part.name);
        let (home, missing): (Vec<&Part>, Vec<&Part>) = registration.parts.iter().partition(is_home);
        // A member has one spool for each run, which stays while any part of it is missing.
        let delivered = |part: &&&Part| missing.iter().all(|other| other.member != part.member);
        let parts = missing.iter().chain(home.iter().filter(delivered));
        let holder = |part: &&Part| {
            let (run, name, messages) = (run.to_owned(), part.name.clone(), 0);
            (part.member.clone(), Waiting { run, name, messages })
        };
        parts.map(holder).collect()
    }

    /// Deletes what waits of a part whose results are in the record.
    fn drop_part(&mut self, registration: &Registration, part: &Part) {
        let of_part = |job: &Job| job.run == registration.run && job.name == part.name;
        self.jobs.retain(|job| !of_part(job));
        self.put_off.retain(|job| !of_part(job));
        self.coming
            .retain(|(_, run), coming| *run != registration.run || coming.intake.name() != part.name);
        clear(&registration.folder, &part.name);
    }

    /// What is known of a run.
    #[must_use]
    pub fn registration(&self, run: &str) -> Option<&Registration> {
        self.runs.get(run)
    }

    /// A member says what it has kept. What is to be said to it: that it may forget what is home already, and should
    /// deliver what isn't. Of runs that are held, or that nobody knows here, nothing is said.
    pub fn offer(&mut self, member: &str, waiting: &[Waiting]) -> Vec<ToMember> {
        let mut said = Vec::new();
        for offered in waiting {
            let Waiting { run, name, .. } = offered;
            let Some(registration) = self.runs.get(run).filter(|_| !self.held.contains(run)) else {
                continue;
            };
            if registration.home.contains(name) {
                said.push(ToMember::Forget(Forget { run: run.clone() }));
                continue;
            }
            let part = registration
                .parts
                .iter()
                .find(|part| part.name == *name && part.member == member);
            let Some(part) = part else { continue };
            let key = (member.to_owned(), run.clone());
            match self.coming.remove(&key) {
                // It is about to be added; then the member hears of it.
                Some(whole) if matches!(whole.store, Store::Whole) => {
                    self.coming.insert(key, whole);
                    continue;
                }
                // A member that offers it again delivers from the start. The file is locked while it is open.
                before => drop(before),
            }
            match begin(registration, part) {
                Ok(coming) => {
                    let sequence = coming.said;
                    self.coming.insert(key, coming);
                    if sequence > 0 {
                        let run = run.clone();
                        said.push(ToMember::Kept(Kept { run, sequence }));
                    }
                    said.push(ToMember::Deliver(Deliver { run: run.clone() }));
                }
                Err(error) => {
                    if is_full(&error) {
                        self.fall_short(member, Short::Results(offered.clone()));
                    }
                    said.push(refused(&Refusal::NoRoom(run.clone(), error.to_string())));
                }
            }
        }
        said
    }

    /// A member delivers a message. What is to be said to it at once: nothing, or why it isn't taken; then the member
    /// keeps what it has.
    pub fn late(&mut self, member: &str, late: Late) -> Option<ToMember> {
        let run = late.run.clone();
        let key = (member.to_owned(), run.clone());
        let taken = (|| {
            let coming = self.coming.get_mut(&key).ok_or(Refusal::NotAsked(run.clone()))?;
            let length = match &coming.store {
                Store::Unbegun(_) => 0,
                Store::Open(writer) => writer.length(),
                Store::Whole => return Err(Refusal::NotAsked(run)),
            };
            let rows = coming.intake.handle(late, length)?;
            Ok(rows.map_or(Ok(()), |rows| coming.writer()?.rows(&rows)))
        })();
        match taken {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(self.give_up(&key, &error)),
            Err(refusal) => {
                self.coming.remove(&key);
                Some(refused(&refusal))
            }
        }
    }

    /// A member has no more. What is to be said to it at once, if that is wrong.
    pub fn end(&mut self, member: &str, end: LateEnd, now: UnixTime) -> Option<ToMember> {
        let key = (member.to_owned(), end.run.clone());
        let registration = self.runs.get(&end.run);
        let (Some(coming), Some(registration)) = (self.coming.get_mut(&key), registration) else {
            return Some(refused(&Refusal::NotAsked(end.run)));
        };
        if let Err(refusal) = coming.intake.handle_end(&end) {
            self.coming.remove(&key);
            return Some(refused(&refusal));
        }
        let end = LateEnd {
            error: end.error.map(|error| protocol::shorten(error, protocol::MAX_TEXT)),
            ..end
        };
        if matches!(coming.store, Store::Whole) {
            return None;
        }
        if let Err(error) = coming.writer().and_then(|writer| writer.end(&end)) {
            // It may have come so far and no farther: onto the disk.
            return Some(self.give_up_unsynced(&key, &error));
        }
        // The job opens it anew, and needs its lock.
        coming.store = Store::Whole;
        let name = coming.intake.name().to_owned();
        self.jobs.push_back(Job {
            member: member.to_owned(),
            run: end.run.clone(),
            folder: registration.folder.clone(),
            stations: coming.intake.stations().to_vec(),
            end,
            came: now,
            name,
        });
        None
    }

    /// A member is gone. What came of it so far is kept.
    pub fn gone(&mut self, member: &str) {
        self.coming
            .retain(|(of, _), coming| of != member || matches!(coming.store, Store::Whole));
        self.short
            .retain(|(of, _), short| of != member || matches!(short, Short::Record(_)));
    }

    /// Makes what came last until the disk is: to whom it is to be said that it is kept.
    pub fn sync(&mut self) -> Vec<(String, ToMember)> {
        self.jobs.extend(self.put_off.drain(..));
        let mut said = self.make_good();
        let mut failed = Vec::new();
        for (key, coming) in &mut self.coming {
            let Store::Open(writer) = &mut coming.store else {
                continue;
            };
            let sequence = writer.messages();
            if let Err(error) = writer.sync() {
                failed.push((key.clone(), error));
            } else if sequence > coming.said {
                coming.said = sequence;
                self.tried.remove(key);
                let (member, run) = key.clone();
                said.push((member, ToMember::Kept(Kept { run, sequence })));
            }
        }
        // Another try would find nothing to sync: the system tells of it once.
        for (key, error) in failed {
            tracing::warn!(member = key.0, run = key.1, %error, "late results can't be synced");
            let refused = self.give_up_unsynced(&key, &error);
            said.push((key.0, refused));
        }
        said
    }

    /// The next thing to be done that takes time; only one at a time.
    pub fn next_job(&mut self) -> Option<Job> {
        let job = (!self.working).then(|| self.jobs.pop_front()).flatten();
        self.working |= job.is_some();
        job
    }

    /// A job was carried out: what is to be said, and to whom.
    pub fn done(&mut self, done: Done) -> Option<(String, ToMember)> {
        self.working = false;
        let Done { job, result } = done;
        let (member, run) = (job.member.clone(), job.run.clone());
        match result {
            // Somebody else has the folder for the moment.
            Err(netburn_record::Error::Live(_)) => {
                self.put_off.push(job);
                None
            }
            Err(netburn_record::Error::Io { source, .. }) if is_full(&source) => {
                self.fall_short(&member, Short::Record(Box::new(job)));
                None
            }
            Err(error) => {
                self.coming.remove(&(member.clone(), run));
                Some((member, refused(&Refusal::NotAdded(error.to_string()))))
            }
            Ok(added) => {
                tracing::info!(run, name = job.name, added, "late results are home");
                self.coming.remove(&(member.clone(), run.clone()));
                if let Some(mut registration) = self.runs.get(&run).cloned() {
                    registration.home.insert(job.name.clone());
                    if let Err(error) = self.write(&registration) {
                        // They would be delivered once more, and found to be here.
                        tracing::warn!(%error, "that results are home can't be written down");
                    }
                    self.runs.insert(run.clone(), registration);
                }
                job.clear();
                Some((member, ToMember::Forget(Forget { run })))
            }
        }
    }

    fn path(&self, run: &str) -> PathBuf {
        self.state.join(format!("{run}.json"))
    }

    /// Whole or not at all.
    fn write(&self, registration: &Registration) -> io::Result<()> {
        let text = serde_json::to_string_pretty(registration).expect("text for keys");
        let (path, temporary) = (
            self.path(&registration.run),
            self.state.join(format!(".{}.tmp", registration.run)),
        );
        let written = File::create(&temporary)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| std::fs::rename(&temporary, path));
        if written.is_err() {
            let _ = std::fs::remove_file(temporary);
        }
        written
    }
}

impl Coming {
    /// Its file, which is made when there is none.
    fn writer(&mut self) -> io::Result<&mut Writer> {
        if let Store::Unbegun(room) = &self.store {
            let name = self.intake.name();
            let about = About {
                run: name.to_owned(),
                name: name.to_owned(),
                ..About::default()
            };
            self.store = Store::Open(Writer::create(room, &about, protocol::Start { at: 0 })?);
        }
        match &mut self.store {
            Store::Open(writer) => Ok(writer),
            Store::Unbegun(_) | Store::Whole => Err(io::Error::other("all of it is here already")),
        }
    }

    /// As its member would offer it.
    fn waiting(&self) -> Waiting {
        Waiting {
            run: self.intake.run().to_owned(),
            name: self.intake.name().to_owned(),
            messages: 0,
        }
    }
}

/// Where late results of a run wait: a file for each part, under its name.
fn waiting_room(folder: &Path) -> SpoolFolder {
    SpoolFolder::new(folder.join(LATE))
}

/// Deletes the late results of a part, and the folder of all of them when they were the last.
fn clear(folder: &Path, name: &str) {
    let room = waiting_room(folder);
    // What stays would be found to be in the record already.
    let _ = crate::spool::forget(&room, name);
    let _ = std::fs::remove_dir(room.path());
}

/// Opens the file of a part again, if there is one.
fn begin(registration: &Registration, part: &Part) -> io::Result<Coming> {
    if !registration.folder.is_dir() {
        return Err(io::Error::other("the run's folder is gone"));
    }
    let room = waiting_room(&registration.folder);
    let writer = match Writer::resume(&room, &part.name) {
        // It was all here, but for the last step.
        Ok((writer, spooled)) if spooled.end.is_some() => {
            writer.forget();
            None
        }
        Ok((writer, _)) => Some(writer),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // Damaged from its beginning: the member has it all.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            crate::spool::forget(&room, &part.name)?;
            None
        }
        Err(error) => return Err(error),
    };
    let (store, taken) = match writer {
        Some(writer) => {
            let taken = writer.messages();
            (Store::Open(writer), taken)
        }
        None => (Store::Unbegun(room), 0),
    };
    Ok(Coming {
        intake: Intake::new(&registration.run, part, taken),
        store,
        said: taken,
    })
}

fn refused(refusal: &Refusal) -> ToMember {
    let reason = protocol::shorten(refusal.to_string(), protocol::MAX_TEXT);
    ToMember::Refused(Refused { reason })
}
