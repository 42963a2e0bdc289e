//! The main loop of a watch.

use super::alerts::Alerts;
use super::folder::Folder;
use super::metrics::{Metrics, Shown};
use super::page::{Finished, Week};
use super::segment::{self, LoadTimes, Message, Order, Recording};
use super::server::{Found, Question, ask, resolve, target};
use crate::args::WatchArgs;
use crate::exit::{CliError, ExitStatus};
use crate::fetch::check_permission;
use crate::signals::Signals;
use crate::terminal::eprint_message;
use netburn_platform::gateway::next_hop;
use netburn_platform::local_time::utc_offset;
use netburn_record::{RunStatus, UnixTime};
use netburn_report::sanitise::sanitise;
use netburn_traffic::clock::RunClock;
use netburn_traffic::fetch::Permission;
use netburn_units::{ByteSize, Duration, Instant};
use netburn_watch::hour::{End, Reading, Segment};
use netburn_watch::live::Live;
use netburn_watch::{Part, Sample};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Interval of the checks of clocks and alerts.
const TICK: Duration = Duration::from_secs(1);
/// Time after which netburn tries again to resolve the name of the server, or to record.
const RETRY: Duration = Duration::from_secs(60);
/// Maximum time for which the end of a watch waits for its last record.
const LAST: std::time::Duration = std::time::Duration::from_secs(60);
/// Number of lost probes, without any answer, after which netburn reports a host that answers no pings.
const MUTE: u64 = 30;
/// Time before the end of a record at which netburn asks for the server of the next one: more than the answer takes.
const AHEAD: Duration = Duration::from_secs(20);

/// Runs until a signal.
pub(super) async fn run(args: &WatchArgs) -> Result<ExitStatus, CliError> {
    let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
    let alerts = Alerts::new(&args.alerts)?;
    let folder = Folder::open(&args.dir, args.keep)?;
    let metrics = match args.alerts.metrics {
        Some(listen) => Some(Metrics::bind(listen.with_default_port(super::metrics::PORT)).await?),
        None => None,
    };
    let mut watch = Watch::new(args, folder, alerts, metrics);
    watch.announce();
    tokio::select! {
        () = signals.next() => return Ok(ExitStatus::Success),
        permitted = watch.permission() => permitted?,
    }
    watch.recover();
    watch.next_segment();
    let mut tick = Instant::ZERO;
    loop {
        let wait = watch.wait(tick);
        tokio::select! {
            () = signals.next() => break,
            Some(message) = watch.messages.recv() => watch.handle_message(message),
            () = tokio::time::sleep(wait) => {
                watch.handle_tick();
                tick = watch.clock.now() + TICK;
            }
        }
    }
    watch.end(&mut signals).await;
    Ok(ExitStatus::Success)
}

/// Address of a target that only probes the default gateway, which do not use it.
const UNUSED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 9);

/// State of the question about the server of the next record.
enum Inquiry {
    /// Nothing was asked.
    None,
    /// The answer is awaited.
    Asked,
    /// The answer.
    Answered(Box<Found>),
}

/// State of a watch.
struct Watch<'a> {
    args: &'a WatchArgs,
    folder: Folder,
    clock: RunClock,
    segment: Option<(Segment, Recording)>,
    /// Writing threads that have not ended.
    writers: u32,
    server: Option<SocketAddr>,
    network: Option<IpAddr>,
    inquiry: Inquiry,
    /// Number of the last question, so that late answers to earlier ones are ignored.
    asked: u32,
    /// True if the user confirmed the load, so that the server's permission is not needed.
    is_confirmed: bool,
    /// Time of the next attempt to resolve or to record; `None`: nothing is missing.
    retry: Option<Instant>,
    /// The last error of the record; `None` while recording.
    broken: Option<String>,
    live: Live,
    week: Week,
    alerts: Alerts,
    metrics: Option<Metrics>,
    /// Texts that were printed since the last change of the network, so that each is printed once.
    said: BTreeSet<String>,
    shown: Shown,
    messages: UnboundedReceiver<Message>,
    sender: UnboundedSender<Message>,
}

impl<'a> Watch<'a> {
    fn new(args: &'a WatchArgs, folder: Folder, alerts: Alerts, metrics: Option<Metrics>) -> Self {
        let (sender, messages) = unbounded_channel();
        Watch {
            args,
            folder,
            clock: RunClock::starting_now(),
            segment: None,
            writers: 0,
            server: None,
            network: None,
            inquiry: Inquiry::None,
            asked: 0,
            is_confirmed: args.load.yes,
            retry: None,
            broken: None,
            live: Live::default(),
            week: Week::default(),
            alerts,
            metrics,
            said: BTreeSet::new(),
            shown: Shown::default(),
            messages,
            sender,
        }
    }

    /// Time until the next tick, which is not later than the end of the record.
    fn wait(&self, tick: Instant) -> std::time::Duration {
        let now = self.clock.now();
        let until_tick = tick.checked_since(now).unwrap_or(Duration::ZERO);
        let rest = self.segment.as_ref().map(|(segment, _)| segment.rest(now));
        let wait = rest.map_or(until_tick, |rest| rest.min(until_tick));
        std::time::Duration::from_nanos(wait.as_nanos())
    }

    fn reading(&self) -> Reading {
        Reading {
            wall: UnixTime::now(),
            mono: self.clock.now(),
        }
    }

    /// Prints the plan of the watch.
    fn announce(&self) {
        let parts = match &self.args.server {
            Some(server) if server.port.is_none() => {
                format!("the router (near), the first hop beyond it (line), and pings to {server} (server)")
            }
            Some(server) => format!("the router (near), the first hop beyond it (line), and {server} (server)"),
            None => "the router (near); --server HOST adds the internet line and a server".to_owned(),
        };
        eprint_message(&format!("one probe per second to {parts}"));
        eprint_message(&format!(
            "a record per hour in {}, at most {} in total; Ctrl-C ends the watch",
            self.folder.path.display(),
            self.folder.keep
        ));
        if self.folder.is_in_memory {
            eprint_message(
                "the folder is in memory (tmpfs): its records are lost when this computer starts again, and use its memory",
            );
        }
        if let Some(each) = self.args.load.load {
            eprint_message(&volume(each, self.args));
        }
        if let Some(metrics) = &self.metrics {
            eprint_message(&format!("metrics at http://{}/metrics", metrics.address));
        }
    }

    /// Checks that the server accepts loads. A server that does not answer now is asked before each load.
    async fn permission(&mut self) -> Result<(), CliError> {
        let (Some(server), Some(_)) = (&self.args.server, self.args.load.load) else {
            return Ok(());
        };
        let Ok(address) = resolve(server).await else {
            return Ok(());
        };
        if self.is_confirmed {
            return Ok(());
        }
        let Some(permission) = ask(&target(self.args, address)).await else {
            self.say_once(&format!(
                "{server} does not answer now, so that it is not known whether it permits load tests; netburn asks \
                 before each load"
            ));
            return Ok(());
        };
        check_permission(&permission, &server.host, self.args.load.yes)?;
        // The user was asked.
        self.is_confirmed = permission == Permission::Unknown;
        Ok(())
    }

    /// Completes the records of a watch that was killed.
    fn recover(&mut self) {
        let lines = self.folder.recover();
        for line in &lines {
            eprint_message(&sanitise(line));
        }
        if !lines.is_empty() {
            self.write_week();
        }
    }

    /// Time until the next attempt to resolve or to record.
    fn retry_at(&self) -> Instant {
        self.clock.now() + RETRY.min(self.args.period)
    }

    /// Begins the next record, as soon as it is known what its server is.
    fn next_segment(&mut self) {
        self.retry = None;
        self.network = gateway(self.args.interface.as_deref());
        match std::mem::replace(&mut self.inquiry, Inquiry::None) {
            Inquiry::Answered(found) => self.begin(Some(*found)),
            Inquiry::Asked => self.inquiry = Inquiry::Asked,
            Inquiry::None if self.args.server.is_none() => self.begin(None),
            Inquiry::None => self.inquire(),
        }
    }

    /// Asks for the server of the next record. The answer is a message, so that probes, alerts and signals go on meanwhile.
    fn inquire(&mut self) {
        let Some(server) = &self.args.server else { return };
        let question = Question {
            server: server.clone(),
            target: target(self.args, UNUSED),
            last: self.server,
            asks: self.args.load.load.is_some() && !self.is_confirmed,
        };
        self.asked = self.asked.wrapping_add(1);
        self.inquiry = Inquiry::Asked;
        let (number, sender) = (self.asked, self.sender.clone());
        tokio::task::spawn_blocking(move || {
            let _ = sender.send(Message::Found(number, Box::new(question.find())));
        });
    }

    fn handle_found(&mut self, number: u32, found: Box<Found>) {
        if number != self.asked {
            return;
        }
        let is_new = self.server.is_none() && found.address.is_ok();
        self.inquiry = Inquiry::Answered(found);
        if self.segment.is_none() {
            self.next_segment();
        } else if is_new {
            self.next_after(RunStatus::Interrupted);
        } else if !self.is_ending() {
            // It was asked because the name is unknown, which is still so. It is asked again later.
            self.inquiry = Inquiry::None;
        }
    }

    /// True if the present record ends soon.
    fn is_ending(&self) -> bool {
        let now = self.clock.now();
        self.segment
            .as_ref()
            .is_some_and(|(segment, _)| segment.rest(now) <= AHEAD)
    }

    /// Begins a record at once.
    fn begin(&mut self, found: Option<Found>) {
        let args = self.args;
        let permission = found.and_then(|found| {
            self.handle_address(found.address);
            found.permission
        });
        let folder = match self.prepare_disk() {
            Ok(()) => Some(self.folder.path.clone()),
            Err(why) => {
                self.not_recording(&why);
                None
            }
        };
        // Nothing is awaited after this: probes that are due before they can be sent would seem to take longer.
        let zero = std::time::Instant::now();
        let begun = Reading {
            wall: UnixTime::now(),
            mono: self.clock.at(zero),
        };
        let segment = Segment::begin(begun, args.period);
        let load = self.load(&segment, permission.as_ref());
        let (parts, address) = match (self.server, &args.server) {
            (Some(address), Some(_)) => (Part::ALL.to_vec(), address),
            // Only the default gateway is probed.
            _ => (vec![Part::Near], UNUSED),
        };
        let sender = self.sender.clone();
        let order = |folder| Order {
            segment,
            zero,
            parts: parts.clone(),
            target: target(args, address),
            goal: args.goal,
            load,
            folder,
            messages: sender.clone(),
        };
        let started = segment::start(order(folder)).or_else(|why| {
            self.not_recording(&why);
            segment::start(order(None))
        });
        match started {
            Ok(recording) => {
                self.writers += 1;
                if recording.is_recorded && self.broken.take().is_some() {
                    eprint_message("recording again");
                    self.recover();
                }
                self.shown.is_recording = recording.is_recorded;
                if !recording.is_recorded {
                    self.retry = Some(self.retry_at());
                }
                self.segment = Some((segment, recording));
            }
            Err(why) => {
                eprint_message(&sanitise(&why));
                self.retry = Some(self.retry_at());
            }
        }
    }

    /// Deletes old hours, and tests the space.
    fn prepare_disk(&mut self) -> Result<(), String> {
        let (deleted, errors) = self.folder.delete_oldest();
        if let (Some(first), Some(last)) = (deleted.first(), deleted.last()) {
            let which = if first == last {
                first.clone()
            } else {
                format!("{first} to {last}")
            };
            eprint_message(&format!(
                "deleted {which}: all records have at most {}",
                self.folder.keep
            ));
        }
        for error in errors {
            self.say_once(&error);
        }
        self.folder.check_space().map_err(|error| error.to_string())
    }

    fn not_recording(&mut self, why: &str) {
        self.shown.is_recording = false;
        if self.broken.is_none() {
            eprint_message(&format!(
                "not recording: {}; the probes go on, and netburn tries again every minute",
                sanitise(why)
            ));
        }
        self.broken = Some(why.to_owned());
    }

    /// Takes the address of the server. The last one is kept if no name server answers.
    fn handle_address(&mut self, found: Result<SocketAddr, String>) {
        let Some(server) = &self.args.server else { return };
        match found {
            Ok(address) => {
                if self.server.is_none() && !self.said.is_empty() {
                    eprint_message(&format!("{server} has the address {}", address.ip()));
                }
                self.server = Some(address);
            }
            Err(why) => {
                let rest = match self.server {
                    Some(address) => format!("the last address {} is used", address.ip()),
                    None => "only the router is probed until the name is known".to_owned(),
                };
                self.say_once(&format!("{why}; {rest}"));
                if self.server.is_none() {
                    self.retry = Some(self.retry_at());
                }
            }
        }
    }

    /// The times of this record's load. There is one load in each whole hour, so that a watch that is started again and
    /// again sends no more load than one that runs.
    fn load(&mut self, segment: &Segment, permission: Option<&Permission>) -> Option<LoadTimes> {
        let each = self.args.load.load?;
        let server = self.args.server.as_ref()?;
        let is_first = !self.folder.path.join(segment.name()).exists();
        if !is_first || !segment.is_whole(self.args.period) {
            return None;
        }
        self.server?;
        if !self.is_confirmed && !permits(permission) {
            let why = match permission {
                Some(_) => "does not permit load tests now",
                None => "does not answer now",
            };
            self.say_once(&format!("{server} {why}: no load in this hour"));
            return None;
        }
        let seed = segment.begun.wall.0.unsigned_abs();
        LoadTimes::place(segment.length, each, seed)
    }

    fn say_once(&mut self, text: &str) {
        if self.said.insert(text.to_owned()) {
            eprint_message(&sanitise(text));
        }
    }

    fn handle_message(&mut self, message: Message) {
        match message {
            Message::Samples(samples) => samples.into_iter().for_each(|sample| self.handle_sample(sample)),
            Message::Warning(text) => self.say_once(&text),
            Message::Broken(why) => {
                self.not_recording(&why);
                self.retry = Some(self.retry_at());
            }
            Message::Found(number, found) => self.handle_found(number, found),
            Message::Finished(hour) => self.handle_hour(*hour),
            Message::Unfinished(why) => eprint_message(&sanitise(&format!("the record is not complete yet: {why}"))),
            Message::Ended => self.writers -= 1,
        }
    }

    fn handle_sample(&mut self, sample: Sample) {
        self.live.handle_sample(sample);
        let counters = self.live.part(sample.part);
        let is_mute = counters.answered == 0;
        if is_mute && counters.lost == MUTE {
            self.say_once(&format!(
                "no answer from `{}` yet: this host may not answer pings; the other parts go on",
                sample.part
            ));
        }
        // A host that has never answered may not answer pings at all. The server is expected to answer.
        if !is_mute || sample.part == Part::Server {
            self.alerts.handle_sample(sample);
        }
    }

    fn handle_hour(&mut self, hour: Finished) {
        for title in &hour.titles {
            eprint_message(&sanitise(&format!("{}: {title}", hour.name)));
        }
        self.alerts.handle_causes(&hour.causes, &hour.name);
        self.shown.causes = hour.causes;
        if hour.has_load {
            self.shown.last_load = Some(UnixTime::now());
        }
        self.week.add(hour.result);
        self.write_week();
    }

    fn write_week(&mut self) {
        if let Err(error) = self.week.write(&self.folder.path) {
            self.say_once(&format!("the map of the week can't be written: {error}"));
        }
    }

    fn handle_tick(&mut self) {
        let now = self.reading();
        self.live.handle_time(now.mono);
        self.alerts.poll(now);
        if let Some(metrics) = &self.metrics {
            self.shown.alerts = self.alerts.states();
            metrics.show(&self.live, &self.shown);
        }
        let end = match &self.segment {
            Some((segment, _)) => segment.check(now),
            None => None,
        };
        match end {
            Some(End::Over) => self.next_after(RunStatus::Complete),
            Some(End::Ahead(by)) => {
                self.gap(&format!(
                    "the clock is {} ahead: this computer slept, or its clock was set",
                    rounded(by)
                ));
            }
            Some(End::Behind(by)) => {
                self.gap(&format!("the clock was set back by {}", rounded(by)));
            }
            None => {
                if self.is_ending() && matches!(self.inquiry, Inquiry::None) {
                    self.inquire();
                }
                self.check_network(now.mono);
            }
        }
    }

    /// Begins a new record if the computer has another router, or if something that was missing may be there now.
    fn check_network(&mut self, now: Instant) {
        let network = gateway(self.args.interface.as_deref());
        if let Some(router) = network
            && self.network != network
        {
            self.said.clear();
            let text = match self.network {
                Some(_) => format!("another network: the router is {router} now"),
                None => format!("the router is {router}"),
            };
            self.gap(&text);
        } else if self.retry.is_some_and(|at| at <= now) {
            self.try_again();
        }
    }

    /// Begins a new record only if it has what the present one lacks.
    fn try_again(&mut self) {
        self.retry = Some(self.retry_at());
        let may_record = self.broken.is_some() && self.folder.check_space().is_ok();
        if may_record || self.segment.is_none() {
            self.next_after(RunStatus::Interrupted);
        } else if self.server.is_none() && matches!(self.inquiry, Inquiry::None) {
            self.inquire();
        }
    }

    fn gap(&mut self, text: &str) {
        eprint_message(text);
        self.alerts.handle_gap();
        // An answer from before the gap may be that of another network.
        self.inquiry = Inquiry::None;
        self.next_after(RunStatus::Interrupted);
    }

    /// Ends the present record, and begins the next one. The last answers of the present one are awaited meanwhile.
    fn next_after(&mut self, status: RunStatus) {
        if let Some((_, recording)) = self.segment.take()
            && status != RunStatus::Complete
        {
            recording.stop(status);
        }
        self.next_segment();
    }

    /// Ends the last record.
    async fn end(&mut self, signals: &mut Signals) {
        // No answer begins another record.
        self.asked = self.asked.wrapping_add(1);
        if let Some((_, recording)) = self.segment.take() {
            recording.stop(RunStatus::Interrupted);
        }
        let last = async {
            while self.writers > 0 {
                let Some(message) = self.messages.recv().await else {
                    break;
                };
                self.handle_message(message);
            }
        };
        tokio::select! {
            () = last => {}
            () = tokio::time::sleep(LAST) => {}
            () = signals.next() => {}
        }
        eprint_message(&format!(
            "the map of the week is {}; `netburn report {}/HOUR` shows an hour",
            self.folder.path.join("week.html").display(),
            self.folder.path.display()
        ));
    }
}

/// True if the server permits loads.
fn permits(permission: Option<&Permission>) -> bool {
    matches!(permission, Some(Permission::ThisMachine | Permission::Consents { .. }))
}

/// Address of the default gateway, if any.
fn gateway(interface: Option<&str>) -> Option<IpAddr> {
    let hop = next_hop(Ipv4Addr::UNSPECIFIED, interface).ok()??;
    hop.gateway.filter(|_| hop.is_default).map(IpAddr::V4)
}

/// The data that loads move in a day.
fn volume(each: Duration, args: &WatchArgs) -> String {
    let (rate, bound) = match args.load.load_rate {
        Some(rate) => (rate, "at most"),
        None => (netburn_units::BitRate::from_mbps(100), "at 100 Mbit/s this is"),
    };
    // 24 loads in each of two directions.
    let bytes = u128::from(rate.as_bps()) * u128::from(each.as_nanos()) * 48 / 8 / 1_000_000_000;
    let size = ByteSize::from_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    let gigabytes = size.as_bytes() as f64 / 1e9;
    let first = next_hour(args.period);
    format!(
        "load: {each} down and {each} up in each whole hour, {bound} {gigabytes:.1} GB a day; the first one after {first}"
    )
}

/// The start of the next hour in local time.
fn next_hour(period: Duration) -> String {
    let now = UnixTime::now();
    let period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX).max(1);
    let next = now.0 - now.0.rem_euclid(period) + period;
    let local = next.saturating_add(i64::from(utc_offset(next / 1_000_000_000)) * 1_000_000_000);
    UnixTime(local).rfc3339()[11..16].to_owned()
}

/// A time to the second.
fn rounded(time: Duration) -> Duration {
    Duration::from_secs(time.as_nanos() / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    /// A record does not begin before the answer to the last question, and the watch does not wait for it in a call.
    #[test]
    fn a_record_awaits_its_server_as_a_message() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        let words = ["netburn", "watch", path, "--server", "127.0.0.1:4480", "--load", "1s"];
        let Command::Watch(args) = Cli::try_parse_from(words).unwrap().command else {
            unreachable!("the command is watch")
        };
        let runtime = crate::runtime::on(2).unwrap();
        let _inside = runtime.enter();
        let folder = Folder::open(&args.dir, args.keep).unwrap();
        let alerts = Alerts::new(&args.alerts).unwrap();
        let mut watch = Watch::new(&args, folder, alerts, None);
        watch.next_segment();
        assert!(watch.segment.is_none() && matches!(watch.inquiry, Inquiry::Asked));
        let Some(Message::Found(number, found)) = runtime.block_on(watch.messages.recv()) else {
            unreachable!("it was asked")
        };
        assert_eq!(number, watch.asked);
        assert_eq!(found.permission, Some(Permission::ThisMachine));
        // A gap asks again, so that the first answer is out of date.
        watch.gap("a gap");
        watch.handle_message(Message::Found(number, found));
        assert!(watch.segment.is_none() && matches!(watch.inquiry, Inquiry::Asked));
        assert_eq!(watch.asked, number + 1);
    }

    #[test]
    fn only_an_answer_permits_loads() {
        assert!(permits(Some(&Permission::ThisMachine)));
        assert!(!permits(Some(&Permission::Unknown)));
        assert!(!permits(None));
    }
}
