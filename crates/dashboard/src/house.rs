//! Who asks for what.
//!
//! | path | what |
//! |---|---|
//! | `/runs/`, `/runs/page/…` | the page itself, which holds nothing of anybody's |
//! | `/runs/api/enter` | POST `{"key": …}`: a cookie for whoever has the right one |
//! | `/runs/api/runs?…` | the runs that are wanted: [`Query`] |
//! | `/runs/api/run?name=…` | a run's summary, or what is known of one that isn't finished |
//! | `/runs/of/NAME/report.html` | a run's report; `NAME/3` is the third of several |
//! | `/runs/compare?a=…&b=…`, `/runs/api/compare?a=…&b=…` | what `a` made better or worse than `b`: a page, a document |
//! | `/runs/api/finish?name=…` | POST: finishes the record of a run whose controller was killed |
//! | `/runs/api/live`, `/runs/api/live?name=…` | events: news of all runs, or a run under way |

use crate::body::Answered;
use crate::door::{Hosts, Lock, is_foreign};
use crate::files;
use crate::index::{Index, Look};
use crate::name::{folder, is_name};
use crate::query::{Query, decoded, pairs};
use crate::reply::{BODY, Reply, away, busy, data, dress, embedded, fault, json, page, unknown, whole};
use crate::shown::{self, Form};
use crate::watchers::{Stay, Watchers};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use netburn_fleet::controller::Token;
use netburn_fleet::embedded::find;
use netburn_fleet::hub::{Annex, AnnexBody, Answer, Answering};
use netburn_record::runs::{self, State};
use netburn_record::{Error, Run};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// How many things that take long are done at once: reading whole runs.
const AT_ONCE: usize = 2;
/// How many wait for that.
const WAITING: usize = 32;

/// Where reports are.
const REPORTS: &str = "/runs/of/";

/// The page, and what it shows.
#[derive(Debug, Clone)]
pub struct Dashboard {
    shelf: Arc<Shelf>,
    hosts: Arc<Hosts>,
    lock: Option<Arc<Mutex<Lock>>>,
    watchers: Watchers,
    work: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// The runs of a directory, for all who ask.
#[derive(Debug)]
pub(crate) struct Shelf {
    dir: PathBuf,
    index: Mutex<Index>,
}

impl Shelf {
    /// Looks what is new, and hands the index to `take`.
    pub(crate) fn with<T>(&self, how: Look, take: impl FnOnce(&Index) -> T) -> io::Result<T> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.refresh(how)?;
        Ok(take(&index))
    }
}

impl Dashboard {
    /// The runs of `dir`, under these names. `key`: only for those who have it, on a server of this port.
    #[must_use]
    pub fn new(dir: &Path, hosts: Hosts, key: Option<(Token, u16)>) -> Dashboard {
        Dashboard {
            shelf: Arc::new(Shelf {
                dir: dir.to_owned(),
                index: Mutex::new(Index::new(dir)),
            }),
            hosts: Arc::new(hosts),
            lock: key.map(|(key, port)| Arc::new(Mutex::new(Lock::new(key, port)))),
            watchers: Watchers::new(),
            work: Arc::new(Semaphore::new(AT_ONCE)),
            queue: Arc::new(Semaphore::new(WAITING)),
        }
    }

    /// Has another key from now on. Whoever came in with the one before is asked for it, and streams that are under way end.
    /// Without a lock nothing changes.
    pub fn renew(&self, key: Token) {
        if let Some(lock) = &self.lock {
            lock.lock().unwrap_or_else(PoisonError::into_inner).renew(key);
            self.watchers.send_away();
        }
    }

    /// Answers a request, and says whether it was let in.
    pub(crate) async fn reply(self, request: Request<Incoming>, tls: bool) -> (Reply, bool) {
        let (head, body) = request.into_parts();
        if !self.hosts.admit(&head.headers) {
            let why = "this server is not called so; ask for it by the address that it printed";
            return (fault(StatusCode::MISDIRECTED_REQUEST, why), false);
        }
        let path = head.uri.path();
        let query = head.uri.query().unwrap_or_default();
        let posts = head.method == Method::POST;
        let api = path.strip_prefix("/runs/api/");
        let wants_post = matches!(api, Some("enter" | "finish"));
        let fits = if wants_post {
            posts
        } else {
            matches!(head.method, Method::GET | Method::HEAD)
        };
        if !fits {
            let mut answer = fault(StatusCode::METHOD_NOT_ALLOWED, "this is asked for otherwise");
            let allowed = if wants_post { "POST" } else { "GET, HEAD" };
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
            return (answer, false);
        }
        match path {
            "/" | "/runs" => return (away("/runs/"), false),
            _ => {}
        }
        if let Some(file) = find(files::FILES, path) {
            return (embedded(file), false);
        }
        if is_foreign(&head.headers) {
            return (
                fault(StatusCode::FORBIDDEN, "pages of other sites are told nothing"),
                false,
            );
        }
        // Another site's page can't send this type without asking first, which nobody here answers.
        let is_json = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/json");
        if posts && !is_json {
            return (
                fault(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a body here is application/json"),
                false,
            );
        }
        if api == Some("enter") {
            return self.enter(body, tls).await;
        }
        // From before the key is looked at: when that changes, a stream ends that it would no longer let begin.
        let stay = self.watchers.stay();
        if let Some(lock) = &self.lock
            && !lock
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .admits(&head.headers)
        {
            let why = "only who has the key is told; the address with it was printed when the server began";
            return (fault(StatusCode::UNAUTHORIZED, why), false);
        }
        let answer = match api {
            Some("runs") => self.list(Query::read(query)).await,
            Some("run") => self.of_run(query, one).await,
            Some("finish") => self.of_run(query, finished).await,
            Some("live") => self.live(query, stay),
            Some("compare") => self.compare(query, Form::Document).await,
            None if path == "/runs/compare" => self.compare(query, Form::Page).await,
            None if path.starts_with(REPORTS) => self.report(path).await,
            _ => fault(StatusCode::NOT_FOUND, "nothing is here; the page is at /runs/"),
        };
        (answer, true)
    }

    /// Lets in whoever has the key.
    async fn enter(&self, body: Incoming, tls: bool) -> (Reply, bool) {
        #[derive(serde::Deserialize)]
        struct Shown {
            key: String,
        }
        let Some(lock) = &self.lock else {
            return (json(StatusCode::OK, &json!({ "locked": false })), true);
        };
        let shown = match whole(body, BODY).await {
            Some(bytes) => serde_json::from_slice::<Shown>(&bytes).ok(),
            None => None,
        };
        let opened = shown.and_then(|shown| {
            let lock = lock.lock().unwrap_or_else(PoisonError::into_inner);
            lock.open(&shown.key, tls)
        });
        match opened {
            Some(cookie) => {
                let mut answer = json(StatusCode::OK, &json!({ "locked": true }));
                if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                    answer.headers_mut().insert(SET_COOKIE, cookie);
                }
                (answer, true)
            }
            None => (fault(StatusCode::UNAUTHORIZED, "that is not the key"), false),
        }
    }

    async fn list(&self, query: Query) -> Reply {
        let shelf = Arc::clone(&self.shelf);
        let written = self
            .do_blocking(move || shelf.with(Look::Whole, |index| serde_json::to_vec(&query.find(index))))
            .await;
        match written {
            Some(Ok(Ok(bytes))) => data(StatusCode::OK, bytes),
            Some(Ok(Err(error))) => fault(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
            Some(Err(error)) => fault(
                StatusCode::INTERNAL_SERVER_ERROR,
                &format!("the runs can't be read: {error}"),
            ),
            None => busy(),
        }
    }

    /// What `take` makes of the run that a query names.
    async fn of_run(&self, query: &str, take: fn(&str, &Path) -> Reply) -> Reply {
        let Some(name) = named(query, "name") else {
            return unknown();
        };
        let dir = self.shelf.dir.clone();
        let done = self
            .do_blocking(move || match folder(&dir, &name) {
                Some(folder) => take(&name, &folder),
                None => unknown(),
            })
            .await;
        done.unwrap_or_else(busy)
    }

    /// The report of the run that a path names.
    async fn report(&self, path: &str) -> Reply {
        let name = path
            .strip_prefix(REPORTS)
            .and_then(|rest| rest.strip_suffix("/report.html"));
        let name = name.map(decoded).filter(|name| is_name(name));
        let Some(name) = name else { return unknown() };
        let dir = self.shelf.dir.clone();
        let done = self
            .do_long(move || match folder(&dir, &name) {
                Some(folder) => page(shown::report(&folder), Form::Page),
                None => unknown(),
            })
            .await;
        done.unwrap_or_else(busy)
    }

    /// Two runs, one held against the other.
    async fn compare(&self, query: &str, form: Form) -> Reply {
        let (Some(a), Some(b)) = (named(query, "a"), named(query, "b")) else {
            return fault(StatusCode::BAD_REQUEST, "two runs are compared: `?a=NAME&b=NAME`");
        };
        let dir = self.shelf.dir.clone();
        let done = self
            .do_long(move || match (folder(&dir, &a), folder(&dir, &b)) {
                (Some(a), Some(b)) => page(shown::comparison([&a, &b], form), form),
                _ => unknown(),
            })
            .await;
        done.unwrap_or_else(busy)
    }

    fn live(&self, query: &str, stay: Stay) -> Reply {
        let stream = match named(query, "name") {
            Some(name) => match folder(&self.shelf.dir, &name) {
                Some(folder) => self.watchers.run(&name, folder, stay),
                None => return unknown(),
            },
            None if query.is_empty() => self.watchers.news(&self.shelf, stay),
            None => return unknown(),
        };
        let Some(stream) = stream else { return busy() };
        let mut answer = Response::new(Answered::Events(stream));
        dress(&mut answer, "text/event-stream");
        answer
    }

    /// Does something that reads files; `None` when too much waits to be done.
    async fn do_blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let _place = Arc::clone(&self.queue).try_acquire_owned().ok()?;
        spawn_blocking(work).await.ok()
    }

    /// Does something that takes long, in its turn.
    async fn do_long<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let _place = Arc::clone(&self.queue).try_acquire_owned().ok()?;
        // Held until it is done, even if nobody waits for it any more.
        let turn = Arc::clone(&self.work).acquire_owned().await.ok()?;
        let done = spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.ok()
    }
}

impl Annex for Dashboard {
    fn answer(&self, request: Request<Incoming>, tls: bool) -> Answering {
        let house = self.clone();
        Box::pin(async move {
            let (reply, admitted) = house.reply(request, tls).await;
            Answer {
                response: reply.map(|body| Box::pin(body) as AnnexBody),
                admitted,
            }
        })
    }
}

/// A run's summary, or what is known of one that isn't finished. Nothing is finished by this.
fn one(name: &str, folder: &Path) -> Reply {
    let Some(listed) = runs::inspect(folder) else {
        return unknown();
    };
    let state = match &listed.state {
        State::Finished(_) => "finished",
        State::Live => "live",
        State::Unfinished => "unfinished",
        State::Unreadable(_) => "unreadable",
    };
    let mut told = json!({ "name": name, "path": folder.display().to_string(), "state": state });
    match &listed.state {
        State::Finished(_) => match Run::open_partly(folder) {
            Ok((run, damage)) => {
                let facts = json!({
                    "summary": run.summary(),
                    "ending": run.status(),
                    "host": run.header().host,
                    "netburn": run.header().version,
                    "started_ms": run.header().started.map(|at| at.0 / 1_000_000),
                    "sentence": netburn_report::environment::sentence(run.header().environment),
                    "repeats": run.run_folders().len(),
                    "damage": damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
                });
                merge(&mut told, facts);
            }
            Err(error) => merge(&mut told, json!({ "state": "unreadable", "error": error.to_string() })),
        },
        State::Unreadable(why) => merge(&mut told, json!({ "error": why })),
        State::Live | State::Unfinished => {
            let environment = listed.environment.map(|environment| environment.name());
            merge(
                &mut told,
                json!({ "scenario": listed.scenario, "title": listed.title, "environment": environment }),
            );
        }
    }
    json(StatusCode::OK, &told)
}

/// Finishes what a killed controller left.
fn finished(name: &str, folder: &Path) -> Reply {
    match Run::open(folder) {
        Ok(_) => one(name, folder),
        Err(error @ Error::Live(_)) => fault(StatusCode::CONFLICT, &error.to_string()),
        Err(error) => fault(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    }
}

fn merge(into: &mut serde_json::Value, more: serde_json::Value) {
    if let (Some(into), serde_json::Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// The name that a query gives under a key, where it can be a run's.
fn named(query: &str, key: &str) -> Option<String> {
    let mut names = pairs(query).filter(|(k, _)| k == key).map(|(_, name)| name);
    names.next().filter(|name| is_name(name))
}
