//! A member of a fleet: stays joined, and takes part in runs when it is summoned.
//!
//! - [`Member`]: the connection that it keeps, and what comes over it. [`terms`]: what it makes of a part in a run.
//! - [`limits`]: what it lets itself be asked; `spent`: what it has moved. `late`: results that nobody took, brought home.

mod late;
mod limits;
mod spent;
mod taking;
mod terms;

pub use limits::{Hours, Limits};
pub use terms::ServerName;

use crate::agent::{self, Ended, Leave, Manner};
use crate::contact::{Contact, ContactError, Ends};
use crate::hub::{JOIN, RUN};
use crate::join::Join;
use crate::join_url::JoinUrl;
use crate::local::FleetError;
use crate::own_clock::std;
use crate::participant::dial::Dial;
use crate::protocol::standing::{About, Enrol, Enrolled, FromMember, MAX_TO_MEMBER, Summon, ToMember};
use crate::protocol::{self, MAX_TO_PARTICIPANT};
use crate::spool::{self, SpoolFolder};
use crate::transport::{Channel, Receiver, Sender};
use crate::{join_url, server};
use futures_util::FutureExt;
use late::Deliveries;
use netburn_record::Role;
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::server::PORT;
use netburn_units::{Duration, Seed};
use spent::Spent;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;
use taking::{Current, over};
use terms::MemberTerms;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A sign of life this often.
const ALIVE: Duration = Duration::from_secs(5);
/// From one attempt to come back to the next: the first, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(15);
/// How long a controller has to welcome.
const WELCOME: Duration = Duration::from_secs(10);
/// How long one message may take to be sent.
const SEND: Duration = Duration::from_secs(10);
/// How long a controller is tried that was never reached.
const FIRST: Duration = Duration::from_secs(10);
/// How long a part that its owner ended may take to bring home what it has.
const LEAVE: Duration = Duration::from_secs(5);
/// How long the holder of a run is looked for when this member's part is over.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a member is told by its owner.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it joins; with the token.
    pub url: JoinUrl,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub about: About,
    /// Whom it measures against, instead of the run's server.
    pub server: Option<ServerName>,
    /// What it lets itself be asked.
    pub limits: Limits,
    /// Where it keeps what it measures until somebody else has it.
    pub spool: SpoolFolder,
}

/// What those who watch a member are told.
#[derive(Debug)]
pub enum News<'a> {
    /// It is in the fleet of this name.
    Joined(&'a str),
    /// It isn't, and comes back by itself.
    Away(&'a str),
    /// It takes part in a run.
    Begins(&'a str),
    /// Its part in a run is over, and how.
    Ends(&'a str, &'a str),
    /// Its owner ended it in the middle of a run, which is told.
    Leaves(&'a str),
    /// Results of a run came home late.
    Delivered(&'a str),
}

/// Why a member doesn't stay one.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// There is no token.
    #[error(
        "the token is missing: copy all that `netburn fleet serve` prints, or give what follows the `#` with --token"
    )]
    NoToken,
    /// It can't be known whether it is the right controller.
    #[error(transparent)]
    Contact(ContactError),
    /// There is no controller to be reached.
    #[error("{why}; tried {tries} times in {FIRST}")]
    Unreached {
        /// Why not, the last time.
        why: String,
        /// How many times it was tried.
        tries: u32,
    },
    /// The controller doesn't want it.
    #[error("the controller refuses: {0}")]
    Refused(String),
}

/// Why a connection to the controller ended.
enum Lost {
    /// For now.
    Away(String),
    /// For good.
    Never(MemberError),
    /// Its owner ended it.
    Left,
}

/// A member.
pub struct Member<N> {
    settings: Settings,
    token: String,
    contact: Contact,
    news: N,
    /// Whether it was in the fleet at all.
    known: bool,
    current: Option<Current>,
    /// A part in another run, for when the current one is over.
    next: Option<Summon>,
    deliveries: Deliveries,
    /// What its parts have moved, where the rate is limited.
    spent: Option<Spent>,
}

impl<N: FnMut(News<'_>)> Member<N> {
    /// A member that hasn't joined yet.
    ///
    /// # Errors
    /// When the address to join has no token.
    pub fn new(settings: Settings, news: N) -> Result<Self, MemberError> {
        let token = settings.url.token.clone().ok_or(MemberError::NoToken)?;
        Ok(Member {
            contact: Contact::new(&settings.url),
            deliveries: Deliveries::new(settings.spool.clone()),
            spent: settings.limits.rate.map(Spent::new),
            settings,
            token,
            news,
            known: false,
            current: None,
            next: None,
        })
    }

    /// Opens a connection to the controller and ends it, without a word of who this is.
    ///
    /// # Errors
    /// When the controller can't be reached, or isn't the one that the address names.
    pub async fn check(&self) -> Result<(), MemberError> {
        let opened = self.contact.open(JOIN, MAX_TO_MEMBER).await;
        opened.map(drop).map_err(MemberError::Contact)
    }

    /// Joins and stays, until `stop` is done.
    ///
    /// # Errors
    /// When it is not wanted.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), MemberError> {
        let stop = stop.shared();
        let (begun, mut tries) = (Instant::now(), 0);
        let mut chance = Seed(seed()).stream("fleet-member", 0);
        let mut wait = FIRST_WAIT;
        loop {
            let mut joined = false;
            tries += 1;
            let lost = self.stay(&mut joined, stop.clone()).await;
            if joined {
                wait = FIRST_WAIT;
            }
            match lost {
                Lost::Never(error) => return Err(error),
                Lost::Left => return Ok(()),
                Lost::Away(why) if !self.known && begun.elapsed() >= std(FIRST) => {
                    return Err(MemberError::Unreached { why, tries });
                }
                Lost::Away(reason) => (self.news)(News::Away(&reason)),
            }
            // Half of it to all of it, so that a house that had no power doesn't come back in step.
            let jittered = wait / 2 + Duration::from_nanos(chance.below((wait / 2).as_nanos().max(1)));
            wait = (wait * 2).min(LONGEST_WAIT);
            let mut until = Instant::now() + std(jittered);
            if !self.known {
                until = until.min(begun + std(FIRST));
            }
            while Instant::now() < until {
                tokio::select! {
                    () = tokio::time::sleep_until(until.into()) => {}
                    ended = over(&mut self.current) => self.ended(ended),
                    () = stop.clone() => {
                        self.leave();
                        let _ = timeout(std(LEAVE), async {
                            if self.current.is_some() {
                                let ended = over(&mut self.current).await;
                                self.ended(ended);
                            }
                        })
                        .await;
                        return Ok(());
                    }
                }
            }
        }
    }

    /// One connection: from joining to its end.
    async fn stay(&mut self, joined: &mut bool, stop: impl Future<Output = ()> + Clone) -> Lost {
        let opened = tokio::select! {
            opened = self.contact.open(JOIN, MAX_TO_MEMBER) => opened,
            () = stop.clone() => return Lost::Left,
        };
        let (channel, ends) = match opened {
            Ok(opened) => opened,
            Err(error @ ContactError::NoFingerprint) => return Lost::Never(MemberError::Contact(error)),
            Err(error @ ContactError::NoController { .. }) if !self.known => {
                return Lost::Never(MemberError::Contact(error));
            }
            Err(ContactError::Dial { place, source })
                if source.kind() == std::io::ErrorKind::InvalidData && !self.known =>
            {
                return Lost::Never(MemberError::Contact(ContactError::Dial { place, source }));
            }
            Err(error) => return Lost::Away(error.to_string()),
        };
        let Channel { receiver, mut sender } = channel;
        let enrol = FromMember::Enrol(Enrol {
            protocol: protocol::VERSION,
            name: self.settings.name.clone(),
            token: self.token.clone(),
            version: concat!("netburn ", env!("CARGO_PKG_VERSION")).to_owned(),
            about: self.settings.about.clone(),
            waiting: self.waiting(),
        });
        if let Err(reason) = say(&mut sender, &enrol).await {
            return Lost::Away(reason);
        }
        // Read by a task of its own: what is waited for beside it must not tear a message.
        let (tell, mut incoming) = mpsc::channel(16);
        let _listener = Listener(tokio::spawn(listen(receiver, tell)));
        match timeout(std(WELCOME), incoming.recv()).await {
            Ok(Some(Ok(ToMember::Welcome(Enrolled { fleet, .. })))) => {
                (*joined, self.known) = (true, true);
                (self.news)(News::Joined(&fleet));
            }
            Ok(Some(Ok(ToMember::Refused(refused)))) if self.known && refused.reason.contains("is here already") => {
                // Our own connection before, whose end isn't known there yet.
                return Lost::Away(refused.reason);
            }
            Ok(Some(Ok(ToMember::Refused(refused)))) => return Lost::Never(MemberError::Refused(refused.reason)),
            Ok(Some(Ok(_))) => return Lost::Away("the controller does not say welcome".to_owned()),
            Ok(Some(Err(reason))) => return Lost::Away(reason),
            Ok(None) | Err(_) => return Lost::Away(format!("no answer for {WELCOME}")),
        }
        self.deliveries.begin();
        let mut alive = Instant::now();
        let mut leaving: Option<Instant> = None;
        let mut stop = std::pin::pin!(stop);
        loop {
            if let Some(since) = leaving
                && (self.current.is_none() || since.elapsed() >= std(LEAVE))
            {
                let _ = say(&mut sender, &FromMember::Bye).await;
                return Lost::Left;
            }
            if alive.elapsed() >= std(ALIVE) {
                alive = Instant::now();
                if let Err(reason) = say(&mut sender, &FromMember::Alive).await {
                    return Lost::Away(reason);
                }
            }
            let busy = self.current.as_ref().map(|current| current.run.clone());
            while let Some(message) = self.deliveries.next(busy.as_deref()) {
                if let Err(reason) = say(&mut sender, &message).await {
                    return Lost::Away(reason);
                }
            }
            let due = leaving.map_or(alive + std(ALIVE), |since| since + std(LEAVE));
            tokio::select! {
                message = incoming.recv() => match message {
                    Some(Ok(message)) => if let Some(lost) = self.hear(message, ends) { return lost },
                    Some(Err(reason)) => return Lost::Away(reason),
                    None => return Lost::Away("the connection was closed".to_owned()),
                },
                ended = over(&mut self.current) => self.ended(ended),
                () = &mut stop, if leaving.is_none() => {
                    self.leave();
                    leaving = Some(Instant::now());
                }
                () = tokio::time::sleep_until(due.into()) => {}
            }
            if self.current.is_none()
                && leaving.is_none()
                && let Some(summon) = self.next.take()
            {
                self.begin(summon, ends);
            }
        }
    }

    fn hear(&mut self, message: ToMember, ends: Ends) -> Option<Lost> {
        match message {
            ToMember::Summon(summon) => {
                let same = |current: &Current| current.run == summon.run && current.name == summon.name;
                if !self.current.as_ref().is_some_and(same) && spool::is_run(&summon.run) {
                    match self.current {
                        Some(_) => self.next = Some(summon),
                        None => self.begin(summon, ends),
                    }
                }
            }
            ToMember::Deliver(deliver) => self.deliveries.want(&deliver.run),
            ToMember::Kept(kept) => self.deliveries.kept(&kept.run, kept.sequence),
            ToMember::Forget(forget) => {
                if self.deliveries.forget(&forget.run) {
                    (self.news)(News::Delivered(&forget.run));
                }
            }
            ToMember::Refused(refused) => {
                tracing::warn!(refused.reason, "refused");
                self.deliveries.refused();
            }
            ToMember::Bye(bye) => {
                let reason = bye.reason.unwrap_or_else(|| "it said goodbye".to_owned());
                return Some(match reason.contains("revoked") {
                    true => Lost::Never(MemberError::Refused(reason)),
                    false => Lost::Away(reason),
                });
            }
            ToMember::Welcome(_) => {}
        }
        None
    }
}

impl<N> Member<N> {
    /// The results that the member offers, the run that it is still in among them. It offers results only once for each
    /// connection, and a controller that was restarted has no record of that run. They are delivered when its part is over.
    fn waiting(&self) -> Vec<protocol::standing::Waiting> {
        let current = self.current.as_ref().map(|current| protocol::standing::Waiting {
            run: current.run.clone(),
            name: current.name.clone(),
            messages: 0,
        });
        let under_way = |run: &str| self.current.as_ref().is_some_and(|current| current.run == run);
        let before = spool::waiting(&self.settings.spool).into_iter();
        let all = current
            .into_iter()
            .chain(before.filter(|waiting| !under_way(&waiting.run)));
        all.take(protocol::standing::MAX_WAITING).collect()
    }
}

impl<N> Drop for Member<N> {
    fn drop(&mut self) {
        if let Some(current) = &self.current {
            current.task.abort();
        }
    }
}

async fn say(sender: &mut Sender, message: &FromMember) -> Result<(), String> {
    match timeout(std(SEND), sender.message(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("nothing was taken for {SEND}")),
    }
}

/// Hands over what comes, and at the end why there is no more.
async fn listen(mut receiver: Receiver, tell: mpsc::Sender<Result<ToMember, String>>) {
    loop {
        let (news, last) = match receiver.message().await {
            Ok(Ok(message)) => (Ok(message), false),
            Ok(Err(malformed)) => (Err(malformed.to_string()), true),
            Err(error) => (Err(error.to_string()), true),
        };
        if tell.send(news).await.is_err() || last {
            return;
        }
    }
}

/// Ends with this.
struct Listener(JoinHandle<()>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What jitter comes from; nothing that is measured does.
fn seed() -> u64 {
    let token = join_url::new_token().unwrap_or_default();
    token
        .bytes()
        .fold(0, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)))
}
