//! The connection to an access point: a thread that asks it for samples, and connects again after a failure.

mod channel;

use crate::login::{LoginProblem, Refusal};
use crate::snapshot::{Radio, Snapshot, describe, radios};
use crate::syslog::LogReading;
use crate::target::{Destination, Target};
use crate::telemetry::{AccessPointTelemetry, Addresses};
use crate::transcript::{Answer, Transcript};
use channel::{Channel, Part, complaint};
use netburn_deploy::ssh::{self, SshError};
use netburn_record::Row;
use netburn_units::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{self, Instant};

/// Shortest time between two samples.
const INTERVAL: Duration = Duration::from_secs(1);
/// Longest time between two samples of an access point for which a sample is expensive.
const MAX_INTERVAL: Duration = Duration::from_secs(30);
/// Largest share of one processor of the access point that the samples use, as its inverse: 2 %.
const COST: u32 = 50;
/// Time limit from the start of the SSH client to the greeting: resolution, login and the start of the shell.
const GREETING_LIMIT: Duration = Duration::from_secs(20);
/// Time limit of an answer. A busy access point takes a second or two.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Interval of readings of the system log. There is one at the beginning and one at the end too.
const LOG_INTERVAL: Duration = Duration::from_secs(30);
/// Time limit of the last reading, at the end of a run.
const END_LIMIT: Duration = Duration::from_secs(10);
/// Time to the next attempt after the first failure; it doubles with each further one, up to the second value.
const RETRY: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(30)];
/// Interval of looking for the end of the run while waiting.
const POLL: Duration = Duration::from_millis(100);
/// Most observations that wait to be fetched. Further ones are dropped.
const MAX_WAITING: usize = 256;

/// An access point that is observed until this value is dropped.
///
/// **Call order:** [`start`](Self::start), [`login`](Self::login) until it is known, [`begin`](Self::begin) when time 0 of the run is known, then [`rows`](Self::rows)
/// several times a second. After the run [`end`](Self::end), [`wait_for_end`](Self::wait_for_end) and [`rows`](Self::rows).
#[derive(Debug)]
pub struct Observer {
    telemetry: AccessPointTelemetry,
    observations: Receiver<Observation>,
    /// Observations before time 0 of the run was known.
    early: VecDeque<Observation>,
    zero: Option<Instant>,
    stop: Arc<AtomicBool>,
    /// The thread may still read the log once after `stop`.
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// State of the first login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Neither accepted nor refused so far.
    Pending,
    /// The access point answers.
    Accepted,
    /// It can't be observed so far. netburn goes on trying.
    Refused(Refusal),
}

/// Returns the program that runs a command of a POSIX shell on an access point.
pub type Client = Box<dyn Fn(&str) -> Result<Command, SshError> + Send>;

/// The observation can't be started.
#[derive(Debug, thiserror::Error)]
pub enum ObserverError {
    /// No thread can be started.
    #[error("the access point can't be observed: {0}")]
    Thread(#[from] std::io::Error),
}

/// Finding of the thread.
#[derive(Debug)]
struct Observation {
    at: Instant,
    what: What,
}

#[derive(Debug)]
enum What {
    Described(BTreeMap<String, String>, Vec<Radio>),
    Sample(Box<Snapshot>, Duration),
    Log(LogReading),
    Radios(Vec<Radio>),
    Lost(Refusal),
}

impl Observer {
    /// Starts to observe an access point. `config` is a configuration file for the SSH client instead of the user's. A failed
    /// connection is no error: it becomes an event of the run.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(target: &Target, config: Option<PathBuf>, addresses: Addresses) -> Result<Observer, ObserverError> {
        let client: Client = match target.destination.clone() {
            Destination::Ssh(destination) => {
                Box::new(move |remote| ssh::session(&destination, config.as_deref(), remote))
            }
            Destination::Local => Box::new(|remote| Ok(local(remote))),
        };
        Observer::start_over(&target.name, addresses, client)
    }

    /// Starts to observe an access point of that name. `client` returns the program that runs a command of a POSIX shell on
    /// it.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start_over(name: &str, addresses: Addresses, client: Client) -> Result<Observer, ObserverError> {
        let (tell, observations) = mpsc::sync_channel(MAX_WAITING);
        let stop = Arc::new(AtomicBool::new(false));
        let is_ending = Arc::new(AtomicBool::new(false));
        let session = Session {
            client,
            tell,
            stop: Arc::clone(&stop),
            is_ending: Arc::clone(&is_ending),
        };
        let thread = std::thread::Builder::new().name("netburn-ap".to_owned());
        Ok(Observer {
            telemetry: AccessPointTelemetry::new(name, addresses),
            observations,
            early: VecDeque::new(),
            zero: None,
            stop,
            is_ending,
            thread: Some(thread.spawn(move || session.run())?),
        })
    }

    /// State of the first login, before time 0 of the run is known.
    pub fn login(&mut self) -> Login {
        self.early.extend(self.observations.try_iter());
        let state = |observation: &Observation| match &observation.what {
            What::Described(..) => Some(Login::Accepted),
            What::Lost(refusal) => Some(Login::Refused(refusal.clone())),
            What::Sample(..) | What::Log(_) | What::Radios(_) => None,
        };
        self.early.iter().find_map(state).unwrap_or(Login::Pending)
    }

    /// Sets time 0 of the run.
    pub fn begin(&mut self, zero: Instant) {
        self.zero = Some(zero);
    }

    /// Ends the observation after one more reading of the log.
    pub fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.stop.store(true, Ordering::Release);
    }

    /// Waits until the observation has ended, but at most 10 s.
    pub fn wait_for_end(&mut self) {
        let until = Instant::now() + std_duration(END_LIMIT);
        let is_running = |thread: &JoinHandle<()>| !thread.is_finished();
        while self.thread.as_ref().is_some_and(is_running) && Instant::now() < until {
            std::thread::sleep(time::Duration::from_millis(5));
        }
        self.is_ending.store(false, Ordering::Release);
    }

    /// Rows since the last call; none before time 0 is known.
    pub fn rows(&mut self) -> Vec<Row> {
        self.early.extend(self.observations.try_iter());
        let Some(zero) = self.zero else {
            while self.early.len() > MAX_WAITING {
                self.early.pop_front();
            }
            return Vec::new();
        };
        for Observation { at, what } in std::mem::take(&mut self.early) {
            let at = since(zero, at);
            match what {
                What::Described(facts, radios) => self.telemetry.handle_description(at, facts, radios),
                What::Sample(snapshot, response) => self.telemetry.handle_sample(at, *snapshot, response),
                What::Log(reading) => self.telemetry.handle_log(at, reading),
                What::Radios(radios) => self.telemetry.handle_radios(at, radios),
                What::Lost(refusal) => self.telemetry.handle_lost(at, &refusal.reason),
            }
        }
        std::iter::from_fn(|| self.telemetry.poll_row()).collect()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.is_ending.store(false, Ordering::Release);
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A shell of this machine for a session. Its parent is netburn, whose processor time is none of the observation.
fn local(remote: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{remote} local"));
    // As for the SSH client: an interrupt from the terminal must not end the session before the run.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Time of the run at an instant.
fn since(zero: Instant, at: Instant) -> netburn_units::Instant {
    let nanos = |span: time::Duration| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
    netburn_units::Instant::from_nanos(match at.checked_duration_since(zero) {
        Some(after) => nanos(after),
        None => -nanos(zero.saturating_duration_since(at)),
    })
}

/// The thread of an observer.
struct Session {
    client: Client,
    tell: SyncSender<Observation>,
    stop: Arc<AtomicBool>,
    is_ending: Arc<AtomicBool>,
}

/// The end of one connection.
enum End {
    /// The run is over.
    Stopped,
    Failed(Refusal),
}

impl End {
    fn failed(problem: LoginProblem, reason: impl ToString) -> End {
        End::Failed(Refusal {
            reason: reason.to_string(),
            problem,
        })
    }
}

impl Session {
    fn run(self) {
        let [mut wait, longest] = RETRY;
        loop {
            let began = Instant::now();
            match self.connect() {
                End::Stopped => return,
                End::Failed(refusal) => {
                    tracing::info!(reason = refusal.reason, "an access point is not observed");
                    self.tell(Instant::now(), What::Lost(refusal));
                }
            }
            // A connection that lasted was no failure of the login.
            if began.elapsed() > std_duration(longest) {
                wait = RETRY[0];
            }
            if self.sleep_until(Instant::now() + std_duration(wait)) {
                return;
            }
            wait = (wait * 2).min(longest);
        }
    }

    /// One connection until it fails.
    fn connect(&self) -> End {
        let word = match marker() {
            Ok(word) => word,
            Err(error) => {
                return End::failed(
                    LoginProblem::Other,
                    format!("this machine has no random numbers: {error}"),
                );
            }
        };
        let channel = match Channel::open(&self.client, &word) {
            Ok(channel) => channel,
            Err(SshError::NotInstalled) => return End::failed(LoginProblem::NotInstalled, SshError::NotInstalled),
            Err(error) => return End::failed(LoginProblem::Other, error),
        };
        let mut connection = Connection {
            session: self,
            channel,
            transcript: Transcript::new(&word),
        };
        match connection.observe() {
            Ok(never) => match never {},
            Err(end) => end,
        }
    }

    fn tell(&self, at: Instant, what: What) {
        match self.tell.try_send(Observation { at, what }) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => tracing::debug!("an observation of an access point was dropped"),
        }
    }

    /// Returns true if the run is over.
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Returns true if nothing more may be read.
    fn is_ended(&self) -> bool {
        self.is_over() && !self.is_ending.load(Ordering::Acquire)
    }

    /// Sleeps. Returns true if the run is over.
    fn sleep_until(&self, until: Instant) -> bool {
        while !self.is_over() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(left.min(std_duration(POLL)));
        }
        true
    }
}

/// Reason of a connection that the other end closed.
const ENDED: &str = "the connection ended";

/// A connection in progress.
struct Connection<'a> {
    session: &'a Session,
    channel: Channel,
    transcript: Transcript,
}

enum Never {}

impl Connection<'_> {
    /// Asks for samples until the connection fails or the run is over.
    fn observe(&mut self) -> Result<Never, End> {
        self.channel.send_program().map_err(|_| self.failed(ENDED))?;
        self.answer("hello", GREETING_LIMIT)?;
        let about = self.request("about")?;
        let mut known = radios(&about);
        self.session
            .tell(Instant::now(), What::Described(describe(&about), known.clone()));
        self.read_log()?;
        let mut pace = Pace::default();
        let mut due = Instant::now();
        let mut log_due = due + std_duration(LOG_INTERVAL);
        loop {
            let asked = Instant::now();
            let answer = self.request("sample")?;
            let took = asked.elapsed();
            let snapshot = Snapshot::from_answer(&answer);
            let has_left = snapshot.has_left(&known);
            let interval = pace.interval(snapshot.cost_ns);
            // Each value is read at some time between the two, so that the middle is off by half of the time at most.
            self.session
                .tell(asked + took / 2, What::Sample(Box::new(snapshot), nanos(took)));
            let is_over = self.session.is_over();
            let is_log_due = is_over || Instant::now() >= log_due;
            // A driver without a survey shows no change of its channel in a sample.
            if has_left || is_log_due {
                known = radios(&self.request("radios")?);
                self.session.tell(Instant::now(), What::Radios(known.clone()));
            }
            if is_log_due {
                self.read_log()?;
                log_due = Instant::now() + std_duration(LOG_INTERVAL);
            }
            due = (due + std_duration(interval)).max(Instant::now());
            if is_over {
                return Err(End::Stopped);
            }
            if self.session.sleep_until(due) {
                self.read_log()?;
                return Err(End::Stopped);
            }
        }
    }

    /// Reads the system log.
    fn read_log(&mut self) -> Result<(), End> {
        if self.session.is_ended() {
            return Err(End::Stopped);
        }
        let asked = Instant::now();
        let answer = self.request("log")?;
        let at = asked + asked.elapsed() / 2;
        self.session.tell(at, What::Log(LogReading::from_answer(&answer)));
        Ok(())
    }

    fn request(&mut self, request: &str) -> Result<Answer, End> {
        let sent = self.channel.send(request);
        sent.map_err(|_| self.failed(ENDED))?;
        self.answer(request, ANSWER_LIMIT)
    }

    /// Waits for the answer to a request.
    fn answer(&mut self, request: &str, limit: Duration) -> Result<Answer, End> {
        let until = Instant::now() + std_duration(limit);
        loop {
            while let Some(answer) = self.transcript.next_answer() {
                if answer.request == request {
                    return Ok(answer);
                }
            }
            let is_greeting = request == "hello";
            if self.session.is_ended() || is_greeting && self.session.is_over() {
                return Err(End::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.failed(if is_greeting {
                    "it started no POSIX shell in time"
                } else {
                    "it did not answer in time"
                }));
            }
            match self.channel.receive(left.min(std_duration(POLL))) {
                Part::Bytes(bytes) => {
                    let pushed = self.transcript.push(&bytes);
                    pushed.map_err(|error| End::failed(LoginProblem::NoShell, error))?;
                }
                Part::Nothing => {}
                Part::End => return Err(self.failed(ENDED)),
            }
        }
    }

    /// A failure, with what the SSH client printed about it.
    fn failed(&mut self, reason: &str) -> End {
        let messages = self.channel.messages();
        let reason = match complaint(&messages) {
            Some(complaint) => format!("{reason} ({complaint})"),
            None => reason.to_owned(),
        };
        End::failed(LoginProblem::from_messages(&messages), reason)
    }
}

/// Chooses the interval of samples by what they cost the access point.
#[derive(Debug, Default)]
struct Pace {
    first: Option<u64>,
    samples: u32,
}

impl Pace {
    /// Interval after a sample, whose processor time since the start of the shell is `cost`.
    fn interval(&mut self, cost: Option<u64>) -> Duration {
        let Some(cost) = cost else { return INTERVAL };
        let Some(first) = self.first else {
            self.first = Some(cost);
            return INTERVAL;
        };
        self.samples += 1;
        let mean = cost.saturating_sub(first) / u64::from(self.samples);
        let seconds = mean.saturating_mul(u64::from(COST)).div_ceil(INTERVAL.as_nanos());
        // The cost is what the access point claims.
        let longest = MAX_INTERVAL.as_nanos() / INTERVAL.as_nanos();
        INTERVAL * seconds.clamp(1, longest)
    }
}

/// A word that no output contains by chance.
fn marker() -> std::io::Result<String> {
    use ring::rand::{SecureRandom, SystemRandom};
    let mut bytes = [0; 8];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| std::io::Error::other("the system returns none"))?;
    Ok(bytes
        .iter()
        .fold("netburn-".to_owned(), |word, byte| format!("{word}{byte:02x}")))
}

fn std_duration(span: Duration) -> time::Duration {
    time::Duration::from_nanos(span.as_nanos())
}

fn nanos(span: time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_samples_are_rarer() {
        let mut pace = Pace::default();
        assert_eq!(pace.interval(Some(500_000_000)), INTERVAL);
        // 20 ms for a sample is 2 % of a second.
        assert_eq!(pace.interval(Some(520_000_000)), INTERVAL);
        // The mean is 30 ms then.
        assert_eq!(pace.interval(Some(560_000_000)), INTERVAL * 2);
        assert_eq!(pace.interval(Some(u64::MAX)), MAX_INTERVAL);
        assert_eq!(pace.interval(None), INTERVAL);
    }

    #[test]
    fn times_before_the_run_are_negative() {
        let zero = Instant::now();
        let later = zero + time::Duration::from_millis(2);
        assert_eq!(since(zero, later).as_nanos(), 2_000_000);
        assert_eq!(since(later, zero).as_nanos(), -2_000_000);
    }
}
