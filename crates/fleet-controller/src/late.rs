//! The controller's side of results that arrive after the release of their run.
//!
//! Each run is registered with its folder and its agents. Late results are checked against the registration
//! ([`Intake`], pure), appended to a spool in the run's folder, synced, and then acknowledged. When all
//! results of a part have arrived, a job adds them to the record ([`netburn_record::merge_late_results()`]). Then the
//! member deletes its copy. A thread of the controller calls [`LateCollector`], and another one executes the jobs.
//!
//! ```text
//! offer ─→ request-results     late-results ─→ (file)   sync ─→ ack     late-results-end ─→ job ─→ done ─→ discard
//! ```

mod deferred;
mod intake;
mod job;
#[cfg(test)]
pub(crate) mod tests;

pub use intake::{Intake, Rejection};
pub use job::{Job, JobResult};

use deferred::{DeferredNoSpace, is_full};
use netburn_platform::private_folder;
use netburn_protocol::messages::standing::{
    Discard, LateAck, LateResults, LateResultsEnd, PendingResults, RequestResults, ToMember,
};
use netburn_protocol::messages::{self, Rejected, is_run};
use netburn_record::allowance::Allowance;
use netburn_record::{UnixTime, sync_folder};
use netburn_run_control::spool::{SpoolFolder, SpoolHeader, Writer};
use netburn_scenario::Plan;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of registered runs. Beyond it the first by name is removed; names begin with the time of
/// the run.
pub const MAX_RUNS: usize = 1000;
/// Folder of late results in a run's folder.
const LATE: &str = "late";

/// Registration of a run, for accepting late results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Name of the run.
    pub run: String,
    /// Folder of the run.
    pub folder: PathBuf,
    /// Agents of the run.
    pub parts: Vec<Part>,
    /// Names of the parts whose results are in the record.
    #[serde(default)]
    pub delivered: BTreeSet<String>,
}

/// Part of one agent in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Part {
    /// Name in the run.
    pub name: String,
    /// Name of the member. Only it can deliver results of the part.
    pub member: String,
    /// Stations that it drives, by their numbers in the plan.
    pub stations: Vec<u16>,
    /// Required [`proof`](netburn_protocol::messages::standing::proof) of the results; `None`: none.
    #[serde(default)]
    pub proof: Option<String>,
    /// Maximum number of bytes of late results; `None`: [`DEFAULT_MAX_BYTES`].
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

/// Default maximum of late results of a part: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

impl Part {
    /// Maximum number of bytes that the results of these stations can have as messages.
    #[must_use]
    pub fn max_bytes(plan: &Plan, stations: &[u16]) -> u64 {
        // The longest row of each kind as JSON, texts with every byte escaped, and framing.
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

/// Accepts late results. Its functions read and write files, so they block.
///
/// **Call order:** [register](Self::register) a run before its members are invited, and
/// [release](Self::release) it when no operator holds it any more. Pass members' messages to
/// [`offer`](Self::offer), [`late`](Self::late) and [`end`](Self::end). Call [`sync`](Self::sync) once a
/// second. Execute the jobs of [`next_job`](Self::next_job) on another thread, and pass their
/// results to [`done`](Self::done). Send each returned message to the member of that name.
#[derive(Debug)]
pub struct LateCollector {
    state: PathBuf,
    runs: BTreeMap<String, Registration>,
    held: BTreeSet<String>,
    /// By member and run.
    deliveries: BTreeMap<(String, String), Delivery>,
    jobs: VecDeque<Job>,
    working: bool,
    /// Jobs whose folder is in use.
    busy_jobs: Vec<Job>,
    /// Results without space on the disk, by member and run.
    deferred: BTreeMap<(String, String), DeferredNoSpace>,
    /// Keys that were retried the last time.
    retried: BTreeSet<(String, String)>,
    /// Number of calls of `sync` until the next retry.
    syncs_until_retry: u32,
}

/// Delivery of the results of one part.
#[derive(Debug)]
struct Delivery {
    intake: Intake,
    store: Store,
    acked: u64,
}

/// Storage of the results of one part.
#[derive(Debug)]
enum Store {
    /// No file yet. It is created with the first message.
    NotCreated(SpoolFolder),
    /// Open file.
    Open(Writer),
    /// The file is complete, and is to be added to the record.
    Complete,
}

impl LateCollector {
    /// Opens the registrations in the folder `state`. Ignores damaged ones.
    ///
    /// # Errors
    /// If the folder can't be created or read.
    pub fn open(state: &Path) -> io::Result<LateCollector> {
        private_folder::create(state)?;
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
        Ok(LateCollector {
            state: state.to_owned(),
            runs,
            held: BTreeSet::new(),
            deliveries: BTreeMap::new(),
            jobs: VecDeque::new(),
            working: false,
            busy_jobs: Vec::new(),
            deferred: BTreeMap::new(),
            retried: BTreeSet::new(),
            syncs_until_retry: 0,
        })
    }

    /// Registers a run that an operator holds. Late results are not requested until its release. A repeated
    /// registration keeps the set of delivered parts.
    ///
    /// # Errors
    /// If the registration can't be written, or the name is invalid.
    pub fn register(&mut self, mut registration: Registration) -> io::Result<()> {
        if !is_run(&registration.run) {
            return Err(io::Error::other(format!(
                "`{}` is not a valid run name",
                registration.run
            )));
        }
        if let Some(before) = self.runs.get(&registration.run) {
            registration.delivered.extend(before.delivered.iter().cloned());
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

    /// Releases a run: the results of the `missing` parts are requested from now on. The other parts are
    /// complete. Partial late results of those, from before the run was acquired again, are deleted.
    pub fn release(&mut self, run: &str, missing: &[String]) {
        self.held.remove(run);
        let Some(registration) = self.runs.get_mut(run) else {
            return;
        };
        let done = registration.parts.iter().filter(|part| !missing.contains(&part.name));
        let done: Vec<Part> = done.cloned().collect();
        registration.delivered.extend(done.iter().map(|part| part.name.clone()));
        let registration = registration.clone();
        for part in &done {
            self.drop_part(&registration, part);
        }
        if let Err(error) = self.write(&registration) {
            // After a restart the controller would request them and find that the record has them.
            tracing::warn!(%error, "the delivery of results can't be recorded");
        }
    }

    /// Members that may have results of a released run. Includes parts whose results are in the record: an
    /// agent that was killed or disconnected at the end has its spool until it receives [`Discard`].
    #[must_use]
    pub fn holders(&self, run: &str) -> Vec<(String, PendingResults)> {
        let Some(registration) = self.runs.get(run) else {
            return Vec::new();
        };
        let is_home = |part: &&Part| registration.delivered.contains(&part.name);
        let (delivered, missing): (Vec<&Part>, Vec<&Part>) = registration.parts.iter().partition(is_home);
        // A member has one spool per run, which it needs while any of its parts is missing.
        let has_no_missing = |part: &&&Part| missing.iter().all(|other| other.member != part.member);
        let parts = missing.iter().chain(delivered.iter().filter(has_no_missing));
        let holder = |part: &&Part| {
            let (run, name, messages) = (run.to_owned(), part.name.clone(), 0);
            (part.member.clone(), PendingResults { run, name, messages })
        };
        parts.map(holder).collect()
    }

    /// Deletes partial late results of a part whose results are in the record.
    fn drop_part(&mut self, registration: &Registration, part: &Part) {
        let of_part = |job: &Job| job.run == registration.run && job.name == part.name;
        self.jobs.retain(|job| !of_part(job));
        self.busy_jobs.retain(|job| !of_part(job));
        self.deliveries
            .retain(|(_, run), deliveries| *run != registration.run || deliveries.intake.name() != part.name);
        clear(&registration.folder, &part.name);
    }

    /// Registration of a run.
    #[must_use]
    pub fn registration(&self, run: &str) -> Option<&Registration> {
        self.runs.get(run)
    }

    /// Handles a member's offer of results. Returns the replies: to discard results that are in the record,
    /// and to deliver others. Ignores held and unknown runs, and results that the member is delivering.
    pub fn offer(&mut self, member: &str, waiting: &[PendingResults]) -> Vec<ToMember> {
        let mut acked = Vec::new();
        for offered in waiting {
            let PendingResults { run, name, .. } = offered;
            let Some(registration) = self.runs.get(run).filter(|_| !self.held.contains(run)) else {
                continue;
            };
            if registration.delivered.contains(name) {
                acked.push(ToMember::Discard(Discard { run: run.clone() }));
                continue;
            }
            let part = registration
                .parts
                .iter()
                .find(|part| part.name == *name && part.member == member);
            let Some(part) = part else { continue };
            let key = (member.to_owned(), run.clone());
            if let Some(open) = self.deliveries.get(&key) {
                // The member is delivering these results, or they are about to be added and it gets its
                // acknowledgement afterwards. A member that registers while its run is released is offered twice.
                if matches!(open.store, Store::Complete) || open.intake.name() == name {
                    continue;
                }
                // The file is locked while it is open.
                self.deliveries.remove(&key);
            }
            match begin(registration, part) {
                Ok(deliveries) => {
                    let sequence = deliveries.acked;
                    self.deliveries.insert(key, deliveries);
                    if sequence > 0 {
                        let run = run.clone();
                        acked.push(ToMember::Ack(LateAck { run, sequence }));
                    }
                    acked.push(ToMember::RequestResults(RequestResults { run: run.clone() }));
                }
                Err(error) => {
                    if is_full(&error) {
                        self.defer_no_space(member, DeferredNoSpace::Results(offered.clone()));
                    }
                    acked.push(rejected(&Rejection::NoRoom(run.clone(), error.to_string())));
                }
            }
        }
        acked
    }

    /// Handles late rows of a member. Returns a rejection, if any; the member then keeps its results.
    pub fn late(&mut self, member: &str, late: LateResults) -> Option<ToMember> {
        let run = late.run.clone();
        let key = (member.to_owned(), run.clone());
        let taken = (|| {
            let deliveries = self.deliveries.get_mut(&key).ok_or(Rejection::NotAsked(run.clone()))?;
            let length = match &deliveries.store {
                Store::NotCreated(_) => 0,
                Store::Open(writer) => writer.length(),
                Store::Complete => return Err(Rejection::NotAsked(run)),
            };
            let rows = deliveries.intake.handle(late, length)?;
            Ok(rows.map_or(Ok(()), |rows| deliveries.writer()?.rows(&rows)))
        })();
        match taken {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(self.reject_storage_error(&key, &error)),
            Err(rejection) => {
                self.deliveries.remove(&key);
                Some(rejected(&rejection))
            }
        }
    }

    /// Handles the end of late rows. Returns a rejection, if any.
    pub fn end(&mut self, member: &str, end: LateResultsEnd, now: UnixTime) -> Option<ToMember> {
        let key = (member.to_owned(), end.run.clone());
        let registration = self.runs.get(&end.run);
        let (Some(deliveries), Some(registration)) = (self.deliveries.get_mut(&key), registration) else {
            return Some(rejected(&Rejection::NotAsked(end.run)));
        };
        if let Err(rejection) = deliveries.intake.handle_end(&end) {
            self.deliveries.remove(&key);
            return Some(rejected(&rejection));
        }
        let end = LateResultsEnd {
            error: end.error.map(|error| messages::shorten(error, messages::MAX_TEXT)),
            ..end
        };
        if matches!(deliveries.store, Store::Complete) {
            return None;
        }
        if let Err(error) = deliveries.writer().and_then(|writer| writer.end(&end)) {
            // The data may not have reached the disk.
            return Some(self.reject_unsynced(&key, &error));
        }
        // The job opens the file and needs its lock.
        deliveries.store = Store::Complete;
        let name = deliveries.intake.name().to_owned();
        self.jobs.push_back(Job {
            member: member.to_owned(),
            run: end.run.clone(),
            folder: registration.folder.clone(),
            stations: deliveries.intake.stations().to_vec(),
            end,
            received_at: now,
            name,
        });
        None
    }

    /// Handles the disconnection of a member. Received results are kept.
    pub fn gone(&mut self, member: &str) {
        self.deliveries
            .retain(|(of, _), deliveries| of != member || matches!(deliveries.store, Store::Complete));
        self.deferred
            .retain(|(of, _), deferred| of != member || matches!(deferred, DeferredNoSpace::Record(_)));
    }

    /// Syncs received rows to disk. Returns the acknowledgements, by member.
    pub fn sync(&mut self) -> Vec<(String, ToMember)> {
        self.jobs.extend(self.busy_jobs.drain(..));
        let mut acked = self.retry_deferred();
        let mut failed = Vec::new();
        for (key, deliveries) in &mut self.deliveries {
            let Store::Open(writer) = &mut deliveries.store else {
                continue;
            };
            let sequence = writer.messages();
            if let Err(error) = writer.sync() {
                failed.push((key.clone(), error));
            } else if sequence > deliveries.acked {
                deliveries.acked = sequence;
                self.retried.remove(key);
                let (member, run) = key.clone();
                acked.push((member, ToMember::Ack(LateAck { run, sequence })));
            }
        }
        // A repeated sync reports no error: the system reports it once.
        for (key, error) in failed {
            tracing::warn!(member = key.0, run = key.1, %error, "late results can't be synced");
            let rejected = self.reject_unsynced(&key, &error);
            acked.push((key.0, rejected));
        }
        acked
    }

    /// Next job; only one runs at a time.
    pub fn next_job(&mut self) -> Option<Job> {
        let job = (!self.working).then(|| self.jobs.pop_front()).flatten();
        self.working |= job.is_some();
        job
    }

    /// Handles the result of a job. Returns a message and its member.
    pub fn done(&mut self, done: JobResult) -> Option<(String, ToMember)> {
        self.working = false;
        let JobResult { job, result } = done;
        let (member, run) = (job.member.clone(), job.run.clone());
        match result {
            // Another process uses the folder.
            Err(netburn_record::Error::Live(_)) => {
                self.busy_jobs.push(job);
                None
            }
            Err(netburn_record::Error::Io { source, .. }) if is_full(&source) => {
                self.defer_no_space(&member, DeferredNoSpace::Record(Box::new(job)));
                None
            }
            Err(error) => {
                self.deliveries.remove(&(member.clone(), run));
                Some((member, rejected(&Rejection::NotAdded(error.to_string()))))
            }
            Ok(added) => {
                tracing::info!(run, name = job.name, added, "late results added");
                self.deliveries.remove(&(member.clone(), run.clone()));
                if let Some(mut registration) = self.runs.get(&run).cloned() {
                    registration.delivered.insert(job.name.clone());
                    if let Err(error) = self.write(&registration) {
                        // After a restart they would be delivered again, and be found in the record.
                        tracing::warn!(%error, "the delivery of results can't be recorded");
                    }
                    self.runs.insert(run.clone(), registration);
                }
                job.clear();
                Some((member, ToMember::Discard(Discard { run })))
            }
        }
    }

    fn path(&self, run: &str) -> PathBuf {
        self.state.join(format!("{run}.json"))
    }

    /// Replaces the file atomically. Returns when it is on the disk.
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
        written.and_then(|()| sync_folder(&self.state))
    }
}

impl Delivery {
    /// Opens the file, creating it if necessary.
    fn writer(&mut self) -> io::Result<&mut Writer> {
        if let Store::NotCreated(room) = &self.store {
            let name = self.intake.name();
            let about = SpoolHeader {
                run: name.to_owned(),
                name: name.to_owned(),
                ..SpoolHeader::default()
            };
            self.store = Store::Open(Writer::create(room, &about, messages::Start { at: 0 })?);
        }
        match &mut self.store {
            Store::Open(writer) => Ok(writer),
            Store::NotCreated(_) | Store::Complete => Err(io::Error::other("the results are complete")),
        }
    }

    /// The results as their member would offer them.
    fn waiting(&self) -> PendingResults {
        PendingResults {
            run: self.intake.run().to_owned(),
            name: self.intake.name().to_owned(),
            messages: 0,
        }
    }
}

/// Folder of the late results of a run, with one file per part.
fn pending_dir(folder: &Path) -> SpoolFolder {
    SpoolFolder::new(folder.join(LATE))
}

/// Deletes the late results of a part, and the folder if it is empty.
fn clear(folder: &Path, name: &str) {
    let room = pending_dir(folder);
    // A remaining file would be found to be in the record.
    let _ = netburn_run_control::spool::remove(&room, name);
    let _ = std::fs::remove_dir(room.path());
}

/// Starts a delivery, continuing an existing file.
fn begin(registration: &Registration, part: &Part) -> io::Result<Delivery> {
    if !registration.folder.is_dir() {
        return Err(io::Error::other("the run's folder is missing"));
    }
    let room = pending_dir(&registration.folder);
    let writer = match Writer::resume(&room, &part.name) {
        // All results had arrived, but were not added. The member delivers them again.
        Ok((writer, spooled)) if spooled.end.is_some() => {
            writer.remove();
            None
        }
        Ok((writer, _)) => Some(writer),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // The header is damaged; the member still has all results.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            netburn_run_control::spool::remove(&room, &part.name)?;
            None
        }
        Err(error) => return Err(error),
    };
    let (store, taken) = match writer {
        Some(writer) => {
            let taken = writer.messages();
            (Store::Open(writer), taken)
        }
        None => (Store::NotCreated(room), 0),
    };
    Ok(Delivery {
        intake: Intake::new(&registration.run, part, taken),
        store,
        acked: taken,
    })
}

fn rejected(rejection: &Rejection) -> ToMember {
    let code = rejection.code();
    let reason = messages::shorten(rejection.to_string(), messages::MAX_TEXT);
    ToMember::Rejected(Rejected { code, reason })
}
