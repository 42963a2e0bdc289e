//! The station, from the load of the page: its membership, its runs, and what it displays.

use crate::browser::{Effect, Input, Loaded};
use crate::channel::ChannelEvent;
use crate::event::{Card, Event};
use crate::fleet::{Fleet, Membership, Request};
use crate::host::Host;
use crate::invitation::{Invitation, MAX_TOKEN};
use crate::late::Late;
use crate::measurement::Measurement;
use crate::name;
use crate::saved_session::{SavedSession, Stage};
use crate::session::{Outcome, Session};
use crate::view::{State, View};
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::standing::{Invite, MAX_PENDING_RUNS};
use netburn_protocol::messages::{is_name, is_run};
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// Interval at which the view is updated during a run.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);
/// Time for which the page shows that a run failed, before it shows that it waits for the next one.
const FAILURE_DISPLAY_TIME: Duration = Duration::from_secs(5);
/// Time for which the page warns after it was in the background.
const WARNING_DISPLAY_TIME: Duration = Duration::from_secs(15);

/// Maximum size of the late results of all runs, in bytes of JSON. The module's memory has at most 4 GiB.
const MAX_LATE: usize = 256 << 20;
/// Number of ended runs that are remembered, so that a repeated invitation has no effect.
const MAX_FINISHED: usize = 64;

/// Maximum time between two timeouts, which browsers limit to 24 days.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// Keys of stored strings. The fleet's token and the name are permanent; the tab stores that it has joined.
const TOKEN: &str = "netburn.token";
const NAME: &str = "netburn.name";
const JOINED: &str = "netburn.joined";

/// A station.
///
/// **Call order:** [`Input::Load`] is the first input. After every `handle_*`, execute the effects of the reply, send the
/// datagrams of [`poll_transmit`](Self::poll_transmit).
#[derive(Default)]
pub struct Station(Option<Loading>);

struct Loading {
    host: Host,
    machine: Machine,
    /// The last view that was shown.
    shown: Option<View>,
    /// Time at which the browser wakes the machine.
    armed: Option<Stamp>,
}

struct Machine {
    /// Token of the fleet; empty without one.
    token: String,
    /// The form, before this device joins.
    form: Form,
    member: Option<Member>,
    /// Start of the time in the background.
    hidden_since: Option<Stamp>,
    /// Warning, and the end of its display.
    warning: (String, Stamp),
    next_update: Stamp,
}

struct Form {
    state: State,
    line: String,
    suggestion: String,
    name_error: &'static str,
}

/// A device that has joined.
struct Member {
    fleet: Fleet,
    session: Option<Session>,
    /// Ended sessions whose results the controller has not requested yet, by run.
    late: BTreeMap<String, Late>,
    last: Option<Last>,
    /// A sentence about the last run, if it ended early.
    notice: String,
    /// Runs that have ended for this station, the last one first.
    finished: VecDeque<String>,
}

/// The last run.
struct Last {
    run: String,
    outcome: Outcome,
    reason: Option<String>,
    ended_at: Stamp,
    title: String,
    cards: Vec<Card>,
}

impl Station {
    /// Creates a station of a page that is not loaded yet.
    #[must_use]
    pub fn new() -> Self {
        Station::default()
    }

    /// Handles an input in JSON, at `now` ns of the page's clock. Returns the effects in JSON.
    pub fn handle_text(&mut self, now: i64, input: &str) -> String {
        let effects = match serde_json::from_str(input) {
            Ok(input) => self.handle(Stamp(now), input),
            Err(_) => Vec::new(),
        };
        to_json(&effects)
    }

    /// Handles an input.
    pub fn handle(&mut self, now: Stamp, input: Input) -> Vec<Effect> {
        if let Input::Load(loaded) = input {
            self.0 = Some(Loading::new(now, *loaded));
        } else if let Some(station) = &mut self.0 {
            station.host.now = now;
            station.armed.take_if(|_| input == Input::Timeout {});
            station.machine.handle(&mut station.host, input);
        }
        self.reply()
    }

    /// Handles a datagram of the data channel. Returns the effects in JSON.
    pub fn handle_datagram(&mut self, now: i64, bytes: &[u8]) -> String {
        if let Some(station) = &mut self.0 {
            station.host.now = Stamp(now);
            station.machine.measure(&mut station.host, |measurement, host| {
                measurement.handle_datagram(host, bytes)
            });
        }
        to_json(&self.reply())
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let member = self.0.as_mut()?.machine.member.as_mut()?;
        member.session.as_mut()?.measurement.poll_transmit()
    }

    fn reply(&mut self) -> Vec<Effect> {
        let Some(Loading {
            host,
            machine,
            shown,
            armed,
        }) = &mut self.0
        else {
            return Vec::new();
        };
        if machine.next_update <= host.now {
            machine.next_update = host.now.after(UPDATE_INTERVAL);
            machine.update(host);
            let view = machine.view(host);
            if shown.as_ref() != Some(&view) {
                *shown = Some(view.clone());
                host.push(Effect::Show { view: Box::new(view) });
            }
        }
        // Each received byte delays the timeout. One early wake-up costs less than a new timer for each byte.
        let next = machine.poll_timeout().map(|next| next.min(host.now.after(MAX_SLEEP)));
        if let Some(next) = next.filter(|next| armed.is_none_or(|armed| *next < armed)) {
            *armed = Some(next);
            host.push(Effect::Wake { at: next.0 });
        }
        host.take_effects()
    }
}

fn to_json(effects: &[Effect]) -> String {
    serde_json::to_string(effects).expect("effects have text keys and finite numbers")
}

impl Loading {
    fn new(now: Stamp, loaded: Loaded) -> Loading {
        let (hash, hidden) = (loaded.hash.clone(), loaded.hidden);
        let mut host = Host::new(now, loaded);
        let mut machine = Machine {
            token: String::new(),
            form: Form {
                state: State::Join,
                line: String::new(),
                suggestion: String::new(),
                name_error: "",
            },
            member: None,
            hidden_since: hidden.then_some(now),
            warning: (String::new(), now),
            next_update: now,
        };
        machine.read_token(&mut host, &hash);
        let name = host.read(NAME).filter(|name| is_name(name)).map(str::to_owned);
        match name {
            Some(name) if !machine.token.is_empty() && host.read_tab(JOINED).is_some() => {
                machine.join(&mut host, name, true)
            }
            _ => machine.ask_name(&mut host, State::Join, ""),
        }
        Loading {
            host,
            machine,
            shown: None,
            armed: None,
        }
    }
}

impl Machine {
    fn handle(&mut self, host: &mut Host, input: Input) {
        match input {
            Input::Load(_) => {}
            Input::Key { hash } => {
                self.read_token(host, &hash);
                self.ask_name(host, State::Join, "");
            }
            Input::Join { name } => self.handle_name(host, &name),
            Input::Leave {} => self.leave(host),
            Input::Hidden { hidden } => self.handle_hidden(host, hidden),
            Input::Opened { socket } => self.handle_opened(host, socket),
            Input::Text { socket, text } => self.handle_message(host, socket, &text),
            Input::Closed { socket } => self.handle_closed(host, socket),
            Input::Stored { number } => self.handle_session(host, |session, host| session.handle_stored(host, number)),
            Input::Response { get, status, text } => self.handle_session(host, |session, host| {
                session.handle_response(host, get, Some((status, &text)));
            }),
            Input::Unreachable { get } => {
                self.handle_session(host, |session, host| session.handle_response(host, get, None));
            }
            Input::Channel { connection } => self.handle_channel(host, connection, ChannelEvent::Created),
            Input::Offer { connection, sdp } => self.handle_channel(host, connection, ChannelEvent::Offer(sdp)),
            Input::ChannelOpen { connection } => self.handle_channel(host, connection, ChannelEvent::Open),
            Input::ChannelClosed { connection } => self.handle_channel(host, connection, ChannelEvent::Closed),
            Input::ConnectionFailed { connection, error } => {
                self.handle_channel(host, connection, ChannelEvent::Failed(error));
            }
            Input::Status { request, status } => {
                self.measure(host, |measurement, host| {
                    measurement.handle_status(host, request, status)
                });
            }
            Input::Bytes { request, bytes } => {
                self.measure(host, |measurement, host| measurement.handle_bytes(host, request, bytes));
            }
            Input::Sent { request, total } => {
                self.measure(host, |measurement, host| measurement.handle_sent(host, request, total));
            }
            Input::Finished {
                request,
                connect_start,
                connect_end,
            } => {
                let connected = Some(connect_end).filter(|end| *end > connect_start);
                self.measure(host, |measurement, host| {
                    measurement.handle_finished(host, request, connected);
                });
            }
            Input::Failed { request } => {
                self.measure(host, |measurement, host| measurement.handle_failed(host, request));
            }
            Input::Unsent { count } => {
                self.measure(host, |measurement, host| {
                    drop(measurement.input(host, Event::Unsent { count }))
                });
            }
            Input::Timeout {} => self.handle_timeout(host),
        }
    }

    /// Reads the fleet's token from the address, which then loses it, or from the storage.
    fn read_token(&mut self, host: &mut Host, hash: &str) {
        let text = hash.strip_prefix('#').unwrap_or_default();
        let token = text.split('.').next().unwrap_or_default();
        let is_char = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if (16..=MAX_TOKEN).contains(&token.len()) && token.bytes().all(is_char) {
            host.push(Effect::HideKey);
            if host.read(TOKEN) != Some(token) {
                // Another fleet, or the same fleet with a new token.
                host.write_tab(JOINED, None);
            }
            host.write_both(TOKEN, token);
        }
        self.token = host.read(TOKEN).unwrap_or_default().to_owned();
    }

    /// Leaves the fleet, and shows the form.
    fn ask_name(&mut self, host: &mut Host, state: State, line: &str) {
        host.write_tab(JOINED, None);
        if let Some(mut member) = self.member.take() {
            member.fleet.close(host);
            if let Some(session) = &mut member.session {
                session.abandon(host);
            }
        }
        let suggestion = match host.read(NAME) {
            Some(name) => name.to_owned(),
            None => name::suggest(&host.system, host.random.number()),
        };
        let state = if self.token.is_empty() { State::NoKey } else { state };
        self.form = Form {
            state,
            line: line.to_owned(),
            suggestion,
            name_error: "",
        };
        self.changed(host);
    }

    fn handle_name(&mut self, host: &mut Host, text: &str) {
        let name = name::normalize(text);
        if self.member.is_some() || self.token.is_empty() {
            return;
        }
        if is_name(&name) {
            self.join(host, name, false);
        } else {
            self.form.name_error = "A name consists of 1 to 64 letters, digits and -.";
            self.changed(host);
        }
    }

    /// Joins the fleet, and loads undelivered results. Continues the run that a reload interrupted. If the user joins, the page
    /// has left that run or has failed in it, so only its results are loaded.
    fn join(&mut self, host: &mut Host, name: String, is_reload: bool) {
        host.write_both(NAME, &name);
        host.write_tab(JOINED, Some("yes"));
        let mut member = Member {
            fleet: Fleet::join(host, name, self.token.clone()),
            session: None,
            late: BTreeMap::new(),
            last: None,
            notice: String::new(),
            finished: VecDeque::new(),
        };
        for (run, text) in host.entries("run.") {
            match serde_json::from_str::<SavedSession>(&text) {
                Ok(saved) if saved.is_late || !is_reload => {
                    let late = Late::restore(host, saved);
                    member.keep(host, run, late);
                }
                Ok(saved) if member.session.is_none() => {
                    member.session = Session::restore(host, saved, &self.token);
                    if member.session.is_none() {
                        host.delete(&run);
                    }
                }
                Ok(_) => {}
                // The state of another version of the page.
                Err(_) => host.delete(&run),
            }
        }
        self.member = Some(member);
        let hidden = self.hidden_since.is_some();
        self.handle_session(host, |session, host| session.handle_hidden(host, hidden));
        self.changed(host);
    }

    fn leave(&mut self, host: &mut Host) {
        let Some(member) = &mut self.member else { return };
        if member.session.is_none() && member.last.take().is_some() {
            member.notice = String::new();
            return self.changed(host);
        }
        if let Some(session) = &mut member.session {
            session.leave(host);
        }
        member.fleet.leave(host);
        self.ask_name(host, State::Join, "");
    }

    fn handle_hidden(&mut self, host: &mut Host, hidden: bool) {
        if hidden {
            self.hidden_since.get_or_insert(host.now);
        } else if let Some(since) = self.hidden_since.take()
            && self.view(host).state.is_measuring()
        {
            let hidden = host.now.checked_since(since).unwrap_or_default().as_secs_f64();
            let text =
                format!("This page was in the background for {hidden:.0} s. Keep it in front while it measures.");
            self.warning = (text, host.now.after(WARNING_DISPLAY_TIME));
        }
        self.handle_session(host, |session, host| session.handle_hidden(host, hidden));
        self.changed(host);
    }

    fn handle_opened(&mut self, host: &mut Host, socket: u64) {
        let Some(member) = &mut self.member else { return };
        if member.fleet.is(socket) {
            let pending = member.late.values_mut().map(Late::announce).collect();
            member.fleet.handle_opened(host, pending);
        } else if let Some(session) = member.session.as_mut().filter(|session| session.is(socket)) {
            session.handle_opened(host);
        }
    }

    fn handle_message(&mut self, host: &mut Host, socket: u64, text: &str) {
        let Some(member) = &mut self.member else { return };
        if member.fleet.is(socket) {
            if let Some(request) = member.fleet.handle_text(text) {
                self.handle_request(host, request);
            }
            self.changed(host);
        } else if member.session.as_ref().is_some_and(|session| session.is(socket)) {
            self.handle_session(host, |session, host| session.handle_text(host, text));
            self.changed(host);
        }
    }

    fn handle_request(&mut self, host: &mut Host, request: Request) {
        let Some(member) = &mut self.member else { return };
        match request {
            Request::Join(invite) => self.handle_invited(host, invite),
            Request::Results(run) => {
                if let Some(late) = member.late.get_mut(&run) {
                    late.handle_request(host, &member.fleet);
                }
            }
            Request::Acknowledge(run, sequence) => {
                if let Some(late) = member.late.get_mut(&run) {
                    late.handle_acknowledged(host, &member.fleet, sequence);
                }
            }
            Request::Discard(run) if is_run(&run) => member.handle_discard(host, &run),
            Request::Discard(_) => {}
            Request::Leave { invalid_token, .. } if invalid_token => {
                // A retry with the same key would be rejected again.
                self.ask_name(host, State::WrongKey, "");
            }
            Request::Leave { reason, .. } => self.ask_name(host, State::Rejected, &sentence(&reason)),
        }
    }

    fn handle_invited(&mut self, host: &mut Host, invite: Invite) {
        let Some(member) = &mut self.member else { return };
        // One run at a time. A running session reconnects without an invitation, and the controller requests late results.
        let run = &invite.run;
        if member.session.is_some() || member.late.contains_key(run) || member.finished.contains(run) {
            return;
        }
        let invitation = match Invitation::try_from(invite) {
            Ok(invitation) => invitation,
            Err(error) => {
                member.notice = format!("An invitation was rejected: {error}.");
                return;
            }
        };
        member.last = None;
        member.notice = String::new();
        let mut session = Session::join(host, invitation, &self.token);
        session.handle_hidden(host, self.hidden_since.is_some());
        member.session = Some(session);
    }

    fn handle_closed(&mut self, host: &mut Host, socket: u64) {
        let Some(member) = &mut self.member else { return };
        if member.fleet.is(socket) {
            member.fleet.handle_lost(host);
        } else if member.session.as_ref().is_some_and(|session| session.is(socket)) {
            let is_member = member.fleet.state == Membership::Member;
            self.handle_session(host, |session, host| session.handle_lost(host, is_member));
        }
        self.changed(host);
    }

    fn handle_channel(&mut self, host: &mut Host, connection: u64, event: ChannelEvent) {
        self.handle_session(host, |session, host| session.handle_channel(host, connection, event));
    }

    fn handle_timeout(&mut self, host: &mut Host) {
        if let Some(member) = &mut self.member {
            member.fleet.handle_timeout(host);
        }
        self.handle_session(host, Session::handle_timeout);
    }

    /// Passes an input to the session, and detects its end.
    fn handle_session(&mut self, host: &mut Host, input: impl FnOnce(&mut Session, &mut Host)) {
        let Some(member) = &mut self.member else { return };
        let Some(session) = &mut member.session else { return };
        let before = session.stage();
        input(session, host);
        if session.outcome().is_some() {
            member.end_session(host);
            self.changed(host);
        } else if session.stage() != before {
            self.changed(host);
        }
    }

    /// Passes what happens in the browser to the measurement of the session.
    fn measure(&mut self, host: &mut Host, input: impl FnOnce(&mut Measurement, &mut Host)) {
        self.handle_session(host, |session, host| session.measure(host, input));
    }

    /// Dismisses what was displayed for long enough.
    fn update(&mut self, host: &Host) {
        if self.warning.1 <= host.now {
            self.warning.0 = String::new();
        }
        if let Some(member) = &mut self.member
            && let Some(last) = member.last.take_if(|last| last.is_over(host.now))
        {
            let reason = last.reason.as_deref().unwrap_or("no reason was given");
            member.notice = format!("The last run ended early: {reason}.");
        }
    }

    /// The view has to be updated.
    fn changed(&mut self, host: &Host) {
        self.next_update = self.next_update.min(host.now);
    }

    fn poll_timeout(&self) -> Option<Stamp> {
        let member = self.member.as_ref()?;
        let session = member.session.as_ref().map(Session::poll_timeout);
        let is_updated = session.is_some() || member.last.is_some() || !self.warning.0.is_empty();
        let update = is_updated.then_some(self.next_update);
        [Some(member.fleet.poll_timeout()), session, update]
            .into_iter()
            .flatten()
            .min()
    }

    fn view(&mut self, host: &mut Host) -> View {
        let warning = self.warning.0.clone();
        match &mut self.member {
            Some(member) => {
                let view = member.view(host);
                let hint =
                    "Turn off auto-lock for this test. (Browsers let a page keep the screen on only over HTTPS.)";
                View {
                    name: member.fleet.name.clone(),
                    warning,
                    hint: if view.busy && !host.wake_lock { hint } else { "" },
                    ..view
                }
            }
            None => View {
                suggestion: self.form.suggestion.clone(),
                name_error: self.form.name_error,
                ..View::new(self.form.state, &self.form.line)
            },
        }
    }
}

impl Member {
    fn end_session(&mut self, host: &mut Host) {
        let Some(mut session) = self.session.take() else { return };
        let Some((outcome, reason)) = session.outcome() else {
            return;
        };
        let reason = reason.map(str::to_owned);
        let has_results = matches!(outcome, Outcome::Done | Outcome::Late);
        let cards = if has_results {
            session.measurement.cards(host, false)
        } else {
            Vec::new()
        };
        let run = session.invitation.run.clone();
        self.last = Some(Last {
            run: run.clone(),
            outcome,
            reason,
            ended_at: host.now,
            title: session
                .measurement
                .assigned
                .as_ref()
                .map(|assigned| assigned.title.clone())
                .unwrap_or_default(),
            cards,
        });
        self.finished.truncate(MAX_FINISHED - 1);
        self.finished.push_front(run.clone());
        if outcome == Outcome::Late {
            let state = session.save(host, None);
            self.keep(host, run, Late::new(state, session.flusher.delivery));
            // The registration announces which results are pending here.
            self.fleet.reconnect(host);
        }
    }

    /// Keeps the results of a run. If there are too many, those of the first run by name are deleted, which is usually the oldest.
    fn keep(&mut self, host: &mut Host, run: String, late: Late) {
        self.late.insert(run, late);
        while self.late.len() > MAX_PENDING_RUNS || self.late.values().map(Late::size).sum::<usize>() > MAX_LATE {
            let Some((first, _)) = self.late.pop_first() else {
                return;
            };
            host.delete(&first);
        }
    }

    fn handle_discard(&mut self, host: &mut Host, run: &str) {
        let late = self.late.remove(run);
        if self
            .session
            .as_ref()
            .is_some_and(|session| session.invitation.run == run)
        {
            return;
        }
        host.delete(run);
        let is_last = self.last.as_ref().is_none_or(|last| last.run == run);
        if let Some(late) = late.filter(|_| self.session.is_none() && is_last) {
            let early = late
                .early_end()
                .map(|reason| format!("The last run ended early: {reason}. "));
            self.last = None;
            let early = early.unwrap_or_default();
            self.notice = format!("{early}All results of this device were delivered.");
        }
    }

    fn view(&mut self, host: &mut Host) -> View {
        if let Some(session) = &mut self.session {
            return measuring(session, host);
        }
        if let Some(last) = &self.last {
            return last.view();
        }
        let line = self.fleet.reason.as_deref().unwrap_or(&self.notice);
        match self.fleet.state {
            Membership::Joining => View::new(State::Joining, line),
            Membership::Reconnecting => View::new(State::Reconnecting, line),
            Membership::Member if !self.late.is_empty() => View {
                line: "Results of an earlier run are stored on this device and will be sent when the controller requests them."
                    .to_owned(),
                ..View::new(State::Member, "")
            },
            Membership::Member => View::new(State::Member, line),
        }
    }
}

fn measuring(session: &mut Session, host: &mut Host) -> View {
    let Some(assigned) = &session.measurement.assigned else {
        return View::new(State::Preparing, "Waiting for the start of the run.");
    };
    let (title, duration) = (assigned.title.clone(), Duration::from_nanos(assigned.duration));
    let Some(now) = session.measurement.run_time(host.now) else {
        return View {
            title,
            ..View::new(State::Preparing, "Waiting for the start of the run.")
        };
    };
    let elapsed = now.checked_since(Instant::ZERO).unwrap_or_default();
    let view = if session.stage() != Stage::Running {
        View::new(State::Collecting, "Sending the results")
    } else if now < Instant::ZERO {
        View::new(State::Idle, "The load starts in a moment.")
    } else if elapsed > duration {
        View::running("Finishing the last operations".to_owned(), session.is_disconnected())
    } else {
        let left = format!("{} left", minutes(duration.saturating_sub(elapsed)));
        View::running(left, session.is_disconnected())
    };
    let fraction = elapsed.as_secs_f64() / duration.as_secs_f64().max(1e-9);
    let cards = session.measurement.cards(host, true);
    View { title, ..view }.with_values(fraction.min(1.0), &cards)
}

impl Last {
    /// Returns whether a failed run was displayed for long enough.
    fn is_over(&self, now: Stamp) -> bool {
        let shown = now.checked_since(self.ended_at).unwrap_or_default();
        self.outcome == Outcome::Lost && shown > FAILURE_DISPLAY_TIME
    }

    fn view(&self) -> View {
        let reason = self.reason.as_deref().unwrap_or_default();
        let line = if self.outcome == Outcome::Late {
            format!(
                "The run ended early: {reason}. Results are stored on this device and will be sent when the controller is available."
            )
        } else {
            reason.to_owned()
        };
        let title = self.title.clone();
        if self.cards.is_empty() {
            let view = View::new(State::Ended, &line);
            return View { title, ..view };
        }
        View {
            title,
            ..View::new(State::Result, &line)
        }
        .with_values(0.0, &self.cards)
    }
}

/// Begins with a capital letter and ends with a full stop.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str())
}

/// A time in minutes and seconds, rounded up.
fn minutes(time: Duration) -> String {
    let seconds = time.as_nanos().div_ceil(1_000_000_000);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
