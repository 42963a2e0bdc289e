//! HTTP routes of the dashboard.
//!
//! | path | response |
//! |---|---|
//! | `/runs/`, `/runs/page/…` | the page and its resources, which contain no data of runs |
//! | `/runs/playground` | the page of the playground |
//! | `/runs/docs/…` | the documentation |
//! | `/runs/api/login` | POST `{"key": …}`: a session cookie if the key is right |
//! | `/runs/api/runs?…` | the runs that match a [`Query`] |
//! | `/runs/api/run?name=…` | the summary of a run, or the state of an unfinished one |
//! | `/runs/of/NAME/report.html` | the report of a run; `NAME/3` is the third run of a run set |
//! | `/runs/compare?a=…&b=…`, `/runs/api/compare?a=…&b=…` | comparison of `a` with the baseline `b`: as HTML, as JSON |
//! | `/runs/api/finish?name=…` | POST: finishes the record of an interrupted run |
//! | `/runs/api/measure` | the measurement that could begin now, and the state of the last one |
//! | `/runs/api/start-measurement`, `/runs/api/stop-measurement` | POST `{"devices": […]}`, POST `{}` |
//! | `/runs/api/invite` | POST `{}`: lets devices join, and returns what `/runs/api/measure` returns |
//! | `/runs/api/live`, `/runs/api/live?name=…` | event stream: changes of all runs, or snapshots of a run in progress |

use crate::auth::{AccessKey, Hosts, is_cross_site};
use crate::body::ReplyBody;
use crate::files;
use crate::index::RefreshMode;
use crate::measurement::{Measurements, StartRequest};
use crate::name::{folder, is_name};
use crate::query::Query;
use crate::render::{self, Format};
use crate::response;
use crate::response::{
    BODY_TIMEOUT, Reply, busy, data, embedded, error, json, read_body, redirect, rendered, set_headers, unknown_run,
};
use crate::run_store::RunStore;
use crate::subscriptions::{SessionEpoch, Subscriptions};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use netburn_fleet_controller::embedded::find;
use netburn_fleet_controller::hub::{HandlerResponse, HttpHandler, ResponseBody, ResponseFuture};
use netburn_protocol::token::Token;
use netburn_record::run_list::{self, State};
use netburn_record::{Error, Run, recover};
use percent_encoding::percent_decode_str;
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Maximum number of runs that are read completely at the same time.
const MAX_CONCURRENT_READS: usize = 2;
/// Maximum number of requests that read files, including queued ones.
const MAX_QUEUED_READS: usize = 32;

/// Path of the playground.
const PLAYGROUND: &str = "/runs/playground";
/// Path prefix of the documentation.
const DOCUMENTATION: &str = "/runs/docs/";
/// Path prefix of reports.
const REPORTS: &str = "/runs/of/";

/// HTTP service for the runs of a directory.
#[derive(Debug, Clone)]
pub struct Dashboard {
    store: Arc<RunStore>,
    hosts: Arc<Hosts>,
    access: Option<Arc<Mutex<AccessKey>>>,
    measurements: Option<Arc<dyn Measurements>>,
    subscriptions: Subscriptions,
    work: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// The response with a page or its resources, which contain no data of runs; `None` for another path.
fn page(path: &str) -> Option<Reply> {
    match path {
        "/" | "/runs" => Some(redirect("/runs/")),
        PLAYGROUND => Some(response::playground()),
        _ => match path.strip_prefix(DOCUMENTATION) {
            Some(netburn_handbook::PLAYGROUND) => Some(response::playground()),
            Some(file) => netburn_handbook::file(file).map(response::documentation),
            None => find(files::FILES, path).map(embedded),
        },
    }
}

impl Dashboard {
    /// Dashboard for the runs of `dir`, for requests to `hosts`. `key` is the required key and the port of the server.
    #[must_use]
    pub fn new(dir: &Path, hosts: Hosts, key: Option<(Token, u16)>) -> Dashboard {
        Dashboard {
            store: Arc::new(RunStore::new(dir)),
            hosts: Arc::new(hosts),
            access: key.map(|(key, port)| Arc::new(Mutex::new(AccessKey::new(key, port)))),
            measurements: None,
            subscriptions: Subscriptions::new(),
            work: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)),
            queue: Arc::new(Semaphore::new(MAX_QUEUED_READS)),
        }
    }

    /// The same dashboard, with a page that starts measurements. Has no effect on a dashboard without a key: then all users of
    /// this machine could start them.
    #[must_use]
    pub fn with_measurements(self, measurements: Arc<dyn Measurements>) -> Dashboard {
        Dashboard {
            measurements: self.access.is_some().then_some(measurements),
            ..self
        }
    }

    /// Replaces the key. Sessions of the previous key become invalid, and their event streams end. Has no effect on a dashboard
    /// without a key.
    pub fn replace_key(&self, key: Token) {
        if let Some(access) = &self.access {
            access.lock().unwrap_or_else(PoisonError::into_inner).replace(key);
            self.subscriptions.disconnect_all();
        }
    }

    /// Handles a request. Returns the response, and true if the request was authorized.
    pub(crate) async fn reply(self, request: Request<Incoming>, tls: bool) -> (Reply, bool) {
        let (head, body) = request.into_parts();
        if !self.hosts.allow(&head.headers) {
            let text = "unknown host name; use the address that the server printed";
            return (error(StatusCode::MISDIRECTED_REQUEST, text), false);
        }
        let path = head.uri.path();
        let query = head.uri.query().unwrap_or_default();
        let is_post = head.method == Method::POST;
        let api = path.strip_prefix("/runs/api/");
        let wants_post = matches!(
            api,
            Some("login" | "finish" | "invite" | "start-measurement" | "stop-measurement")
        );
        let method_allowed = if wants_post {
            is_post
        } else {
            matches!(head.method, Method::GET | Method::HEAD)
        };
        if !method_allowed {
            let mut answer = error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
            let allowed = if wants_post { "POST" } else { "GET, HEAD" };
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
            return (answer, false);
        }
        if let Some(answer) = page(path) {
            return (answer, false);
        }
        if is_cross_site(&head.headers) {
            return (
                error(StatusCode::FORBIDDEN, "requests from other sites are rejected"),
                false,
            );
        }
        // A page of another site cannot send this type without a CORS preflight, which this server rejects.
        let is_json = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/json");
        if is_post && !is_json {
            return (
                error(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    "unsupported media type: expected application/json",
                ),
                false,
            );
        }
        if api == Some("login") {
            return self.login(body, tls).await;
        }
        // Taken before the key is checked: if the key changes in between, the stream ends.
        let epoch = self.subscriptions.epoch();
        if let Some(access) = &self.access
            && !access
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .admits(&head.headers)
        {
            let text = "key required; the server printed an address with the key at its start";
            return (error(StatusCode::UNAUTHORIZED, text), false);
        }
        let answer = match api {
            Some("runs") => self.list(Query::parse(query)).await,
            Some("run") => self.with_run(query, describe).await,
            Some("finish") => self.with_run(query, finish).await,
            Some("live") => self.live(query, epoch),
            Some("measure") => self.measurement().await,
            Some("invite") => self.invite().await,
            Some("start-measurement") => self.start_measurement(body).await,
            Some("stop-measurement") => self.stop_measurement().await,
            Some("compare") => self.compare(query, Format::Json).await,
            None if path == "/runs/compare" => self.compare(query, Format::Html).await,
            None if path.starts_with(REPORTS) => self.report(path).await,
            _ => error(StatusCode::NOT_FOUND, "not found; the page is at /runs/"),
        };
        (answer, true)
    }

    /// Checks the key in the body and sets the session cookie.
    async fn login(&self, body: Incoming, tls: bool) -> (Reply, bool) {
        #[derive(serde::Deserialize)]
        struct Credentials {
            key: String,
        }
        let Some(access) = &self.access else {
            return (json(StatusCode::OK, &json!({ "key_required": false })), true);
        };
        let credentials = match read_body(body, BODY_TIMEOUT).await {
            Some(bytes) => serde_json::from_slice::<Credentials>(&bytes).ok(),
            None => None,
        };
        let cookie = credentials.and_then(|credentials| {
            let access = access.lock().unwrap_or_else(PoisonError::into_inner);
            access.login(&credentials.key, tls)
        });
        match cookie {
            Some(cookie) => {
                let mut answer = json(StatusCode::OK, &json!({ "key_required": true }));
                if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                    answer.headers_mut().insert(SET_COOKIE, cookie);
                }
                (answer, true)
            }
            None => (error(StatusCode::UNAUTHORIZED, "wrong key"), false),
        }
    }

    async fn list(&self, query: Query) -> Reply {
        let store = Arc::clone(&self.store);
        let document = self
            .do_blocking(move || store.with(RefreshMode::Full, |index| serde_json::to_vec(&query.find(index))))
            .await;
        match document {
            Some(Ok(Ok(bytes))) => data(StatusCode::OK, bytes),
            Some(Ok(Err(cause))) => error(StatusCode::INTERNAL_SERVER_ERROR, &cause.to_string()),
            Some(Err(cause)) => error(
                StatusCode::INTERNAL_SERVER_ERROR,
                &format!("cannot read the directory of runs: {cause}"),
            ),
            None => busy(),
        }
    }

    /// Calls `handler` with the run that is named in a query.
    async fn with_run(&self, query: &str, handler: fn(&str, &Path) -> Reply) -> Reply {
        let Some(name) = run_name(query, "name") else {
            return unknown_run();
        };
        let dir = self.store.dir().to_owned();
        let done = self
            .do_blocking(move || match folder(&dir, &name) {
                Some(folder) => handler(&name, &folder),
                None => unknown_run(),
            })
            .await;
        done.unwrap_or_else(busy)
    }

    /// The measurement that could begin now, and the state of the last one.
    async fn measurement(&self) -> Reply {
        let Some(measurements) = &self.measurements else {
            return json(StatusCode::OK, &json!({ "available": false }));
        };
        let (offer, problem) = match measurements.offer().await {
            Ok(offer) => (Some(offer), None),
            Err(problem) => (None, Some(problem)),
        };
        let (state, invitation) = (measurements.state(), measurements.invitation().await);
        json(
            StatusCode::OK,
            &json!({ "available": true, "offer": offer, "problem": problem, "last": state, "invitation": invitation }),
        )
    }

    /// Lets devices join.
    async fn invite(&self) -> Reply {
        let Some(measurements) = &self.measurements else {
            return error(StatusCode::NOT_FOUND, "this server starts no measurements");
        };
        match measurements.invite().await {
            Ok(()) => self.measurement().await,
            Err(why) => error(StatusCode::CONFLICT, &why),
        }
    }

    /// Starts the measurement of the devices in the body.
    async fn start_measurement(&self, body: Incoming) -> Reply {
        let Some(measurements) = &self.measurements else {
            return error(StatusCode::NOT_FOUND, "this server starts no measurements");
        };
        let bytes = read_body(body, BODY_TIMEOUT).await.unwrap_or_default();
        let Ok(request) = serde_json::from_slice::<StartRequest>(&bytes) else {
            return error(StatusCode::BAD_REQUEST, "expected the names of devices");
        };
        match measurements.start(request.devices).await {
            Ok(()) => self.measurement().await,
            Err(why) => error(StatusCode::CONFLICT, &why),
        }
    }

    async fn stop_measurement(&self) -> Reply {
        if let Some(measurements) = &self.measurements {
            measurements.stop();
        }
        self.measurement().await
    }

    /// Report of the run that is named in a path.
    async fn report(&self, path: &str) -> Reply {
        let name = path
            .strip_prefix(REPORTS)
            .and_then(|rest| rest.strip_suffix("/report.html"));
        let name = name.map(|name| percent_decode_str(name).decode_utf8_lossy());
        let name = name.map(Cow::into_owned).filter(|name| is_name(name));
        let Some(name) = name else { return unknown_run() };
        let dir = self.store.dir().to_owned();
        let done = self
            .do_long(move || match folder(&dir, &name) {
                Some(folder) => rendered(render::report(&folder), Format::Html),
                None => unknown_run(),
            })
            .await;
        done.unwrap_or_else(busy)
    }

    /// Comparison of run `a` with the baseline run `b`.
    async fn compare(&self, query: &str, format: Format) -> Reply {
        let (Some(a), Some(b)) = (run_name(query, "a"), run_name(query, "b")) else {
            return error(StatusCode::BAD_REQUEST, "missing run: expected `?a=NAME&b=NAME`");
        };
        let dir = self.store.dir().to_owned();
        let done = self
            .do_long(move || match (folder(&dir, &a), folder(&dir, &b)) {
                (Some(a), Some(b)) => rendered(render::comparison([&a, &b], format), format),
                _ => unknown_run(),
            })
            .await;
        done.unwrap_or_else(busy)
    }

    fn live(&self, query: &str, epoch: SessionEpoch) -> Reply {
        let stream = match run_name(query, "name") {
            Some(name) => match folder(self.store.dir(), &name) {
                Some(folder) => self.subscriptions.run(&name, folder, epoch),
                None => return unknown_run(),
            },
            None if query.is_empty() => self.subscriptions.changes(&self.store, epoch),
            None => return unknown_run(),
        };
        let Some(stream) = stream else { return busy() };
        let mut answer = Response::new(ReplyBody::Events(stream));
        set_headers(&mut answer, "text/event-stream");
        answer
    }

    /// Runs `work`, which reads files. Returns `None` if too many requests are queued.
    async fn do_blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let _slot = Arc::clone(&self.queue).try_acquire_owned().ok()?;
        spawn_blocking(work).await.ok()
    }

    /// Runs `work`, which reads whole runs, with limited concurrency. Returns `None` if too many requests are queued.
    async fn do_long<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let _slot = Arc::clone(&self.queue).try_acquire_owned().ok()?;
        // Held until `work` has ended, even if the client has disconnected.
        let permit = Arc::clone(&self.work).acquire_owned().await.ok()?;
        let done = spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.ok()
    }
}

impl HttpHandler for Dashboard {
    fn answer(&self, request: Request<Incoming>, tls: bool) -> ResponseFuture {
        let dashboard = self.clone();
        Box::pin(async move {
            let (reply, admitted) = dashboard.reply(request, tls).await;
            HandlerResponse {
                response: reply.map(|body| Box::pin(body) as ResponseBody),
                admitted,
            }
        })
    }
}

/// Summary of a run, or the known facts of an unfinished one.
fn describe(name: &str, folder: &Path) -> Reply {
    let Some(listed) = run_list::inspect(folder) else {
        return unknown_run();
    };
    let state = match &listed.state {
        State::Finished(_) => "finished",
        State::Live => "live",
        State::Unfinished => "unfinished",
        State::Unreadable(_) => "unreadable",
    };
    let mut document = json!({ "name": name, "path": folder.display().to_string(), "state": state });
    match &listed.state {
        State::Finished(_) => match Run::open_partly(folder) {
            Ok((run, damage)) => {
                let facts = json!({
                    "summary": run.summary(),
                    "status": run.status(),
                    "host": run.header().host,
                    "netburn": run.header().version,
                    "started_ms": run.header().started.map(|at| at.0 / 1_000_000),
                    "environment_note": netburn_report::environment::sentence(run.header().environment),
                    "repeats": run.run_folders().len(),
                    "damage": damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
                });
                merge(&mut document, facts);
            }
            Err(error) => merge(
                &mut document,
                json!({ "state": "unreadable", "error": error.to_string() }),
            ),
        },
        State::Unreadable(why) => merge(&mut document, json!({ "error": why })),
        State::Live | State::Unfinished => {
            let environment = listed.environment.map(|environment| environment.name());
            merge(
                &mut document,
                json!({ "scenario": listed.scenario, "title": listed.title, "environment": environment }),
            );
        }
    }
    json(StatusCode::OK, &document)
}

/// Finishes the record of an interrupted run.
fn finish(name: &str, folder: &Path) -> Reply {
    match recover(folder).and_then(|_| Run::open(folder)) {
        Ok(_) => describe(name, folder),
        Err(cause @ Error::Live(_)) => error(StatusCode::CONFLICT, &cause.to_string()),
        Err(cause) => error(StatusCode::UNPROCESSABLE_ENTITY, &cause.to_string()),
    }
}

fn merge(into: &mut serde_json::Value, more: serde_json::Value) {
    if let (Some(into), serde_json::Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// Value of `key` in a query, if it is a valid name of a run.
fn run_name(query: &str, key: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, name) = pairs.find(|(name, _)| name == key)?;
    Some(name.into_owned()).filter(|name| is_name(name))
}
