//! Transfer of one object, from the request of a workload to its end.

use super::{IdleConnection, LoadSockets, Shared};
use crate::client::h2::Session;
use crate::client::{ExchangeError, Length, Method, Resource, Response, Stream, TransferObserver, h1};
use crate::drive::sample::{SampledConnection, Sampler};
use crate::pace::VirtualLink;
use crate::unsent_limit::{self, UnsentLimit};
use crate::{client, dscp, progress, station_label};
use netburn_scenario::plan::Http;
use netburn_workload::config::LOAD_OBJECT;
use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::{Connection, Direction, Failure, Request, RequestId};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::net::TcpStream;

/// Time that a connection for one object stays open, so that the server closes it first. The end that closes first
/// keeps the port in TIME-WAIT (RFC 9293 §3.6), and a station with many connections would run out of ports.
const LINGER: Duration = Duration::from_secs(1);

/// Maximum length in bytes of the response to an upload.
const MAX_RECEIPT: u64 = 16 * 1024;

/// Minimum length of the large object in bytes. The draft requires 8 GB. A shorter object is requested repeatedly; one
/// that is shorter than this would cause more requests than load.
const MIN_LARGE: u64 = 1 << 20;

/// Failure of an object, with its cause in words.
struct Broken {
    failure: Failure,
    cause: String,
}

impl Broken {
    fn dial(cause: String) -> Self {
        Broken {
            failure: Failure::Dial,
            cause,
        }
    }

    fn exchange(ask: &client::Request<'_>, error: &ExchangeError) -> Self {
        let failure = match error {
            ExchangeError::Response(_) => Failure::Answer,
            ExchangeError::Idle | ExchangeError::Connection(_) => Failure::Connection,
        };
        let cause = format!("{}: {error}", ask.path);
        Broken { failure, cause }
    }
}

/// Transfers one object and reports its result to the workload.
pub(super) async fn run(shared: Rc<Shared>, index: usize, request: Request) {
    let done = object(&shared, index, &request).await;
    shared.forget(index, request.id);
    if let Err(Broken { cause, .. }) = &done {
        tracing::debug!(%cause, "an object failed");
        if is_load(&shared.loads[index], &request) {
            shared.load_failure.borrow_mut().get_or_insert_with(|| cause.clone());
        }
    }
    shared.event(index, |machine, now| match done {
        Ok(()) => machine.handle_finished(now, request.id),
        Err(Broken { failure, .. }) => machine.handle_failed(now, request.id, failure),
    });
}

async fn object(shared: &Rc<Shared>, index: usize, request: &Request) -> Result<(), Broken> {
    let load = &shared.loads[index];
    let (station, _) = shared.scheduler.borrow().place(index);
    let ask = ask(load, request, station);
    let mut watch = ProgressReporter {
        shared,
        index,
        id: request.id,
        unsent: None,
        yields: load.yields && (!load.has_probes || is_load(load, request)),
        direction: match ask.method {
            Method::Post(_) | Method::PostWithoutEnd => Direction::Up,
            Method::Get | Method::Head => Direction::Down,
        },
    };
    let answer = match load.target.http {
        Http::H1 => over_h1(shared, index, request, &ask, &mut watch).await?,
        Http::H2 => over_h2(shared, index, request, &ask, &mut watch).await?,
    };
    expected(load, request, &ask, &answer).map_err(|cause| Broken {
        failure: Failure::Answer,
        cause,
    })
}

/// Checks a response. Returns what is wrong with it.
fn expected(load: &LoadSockets, request: &Request, ask: &client::Request<'_>, answer: &Response) -> Result<(), String> {
    let path = &ask.path;
    let (status, content) = (answer.status, answer.content);
    match (&load.target.resource, request.direction) {
        (Resource::Responsiveness(_), _) if status != 200 || ask.method == Method::PostWithoutEnd => {
            Err(format!("{path}: found status {status}, expected 200"))
        }
        (Resource::Responsiveness(_), _) if is_without_end(request) => match content {
            MIN_LARGE.. => Ok(()),
            _ => Err(format!(
                "{path}: found {content} bytes, expected a large object of at least 8 GB"
            )),
        },
        (Resource::Netburn | Resource::Responsiveness(_), Direction::Down)
            if answer.is_success() && content != request.size.as_bytes() =>
        {
            Err(format!(
                "{path}: found {content} bytes, expected {}",
                request.size.as_bytes()
            ))
        }
        _ if answer.is_success() => Ok(()),
        _ => Err(format!("{path}: found status {status}, expected success")),
    }
}

fn ask<'a>(load: &'a LoadSockets, request: &Request, station: u16) -> client::Request<'a> {
    let size = request.size.as_bytes();
    let marked = |path| {
        let path = dscp::request_dscp(path, request.marking.dscp, load.target.answers_cc.as_deref());
        let path = if load.target.labelled {
            station_label::labelled(path, station)
        } else {
            path
        };
        if is_load(load, request) {
            unsent_limit::limited(path)
        } else {
            path
        }
    };
    let (method, path) = match (&load.target.resource, request.direction) {
        (Resource::Netburn, Direction::Down) => (Method::Get, marked(format!("/bytes/{size}").into())),
        (Resource::Netburn, Direction::Up) => (Method::Post(size), progress::with_progress(marked("/sink".into()))),
        (Resource::Get(path), _) => (Method::Get, Cow::Borrowed(path.as_str())),
        (Resource::Head(path), _) => (Method::Head, Cow::Borrowed(path.as_str())),
        (Resource::Post(path, size), _) => (Method::Post(size.as_bytes()), Cow::Borrowed(path.as_str())),
        (Resource::Responsiveness(objects), direction) => match (is_without_end(request), direction) {
            (true, Direction::Down) => (Method::Get, Cow::Borrowed(objects.large.as_str())),
            (true, Direction::Up) => (Method::PostWithoutEnd, Cow::Borrowed(objects.upload.as_str())),
            (false, _) => (Method::Get, Cow::Borrowed(objects.small.as_str())),
        },
    };
    client::Request {
        method,
        path,
        authority: Cow::Borrowed(&load.authority),
        last: request.connection == Connection::New,
        length: match (&load.target.resource, request.direction) {
            (Resource::Netburn, Direction::Down) => Length::Exactly(size),
            (Resource::Netburn, Direction::Up) => Length::AtMost(MAX_RECEIPT),
            (Resource::Responsiveness(_), _) if !is_without_end(request) => Length::Exactly(size),
            _ => Length::Any,
        },
    }
}

/// Returns whether a request is load on a connection with self probes.
fn is_load(load: &LoadSockets, request: &Request) -> bool {
    load.has_probes && Part::from_sequence(request.id.operation) == Part::Load
}

/// Returns whether a request is an object of load, which another server than netburn transfers without end.
fn is_without_end(request: &Request) -> bool {
    request.size == LOAD_OBJECT
}

async fn over_h1(
    shared: &Rc<Shared>,
    index: usize,
    request: &Request,
    ask: &client::Request<'_>,
    watch: &mut ProgressReporter<'_>,
) -> Result<Response, Broken> {
    let load = &shared.loads[index];
    let mut idle = match request.connection {
        Connection::Kept(slot) => load.kept.borrow_mut().remove(&slot),
        Connection::New => None,
    };
    loop {
        let used = idle.is_some();
        let mut connection = match idle.take() {
            Some(kept) => kept,
            None => dial(shared, index, request).await?,
        };
        match h1::exchange(&mut connection.stream, used, ask, watch).await {
            Ok(answer) => {
                match request.connection {
                    Connection::Kept(slot) if answer.keep => {
                        load.kept.borrow_mut().insert(slot, connection);
                    }
                    _ => close(shared, connection, &answer),
                }
                return Ok(answer);
            }
            Err(ExchangeError::Idle) => {}
            Err(error) => return Err(Broken::exchange(ask, &error)),
        }
    }
}

async fn dial(shared: &Rc<Shared>, index: usize, request: &Request) -> Result<IdleConnection, Broken> {
    let stream = connect(shared, index, request).await?;
    shared.event(index, |machine, now| machine.handle_connected(now, request.id));
    let sampled = shared.watch(index, stream.socket());
    Ok(IdleConnection { sampled, stream })
}

async fn connect(shared: &Rc<Shared>, index: usize, request: &Request) -> Result<Stream, Broken> {
    let load = &shared.loads[index];
    let tcp_connected = || {
        if load.has_probes {
            shared.event(index, |machine, now| machine.handle_tcp_connected(now, request.id));
        }
    };
    let dscp = request.marking.dscp;
    let dialled = async { Stream::dial_observed(&load.target, load.tls()?, dscp, &shared.meter, tcp_connected).await };
    dialled
        .await
        .map_err(|error| Broken::dial(format!("can't connect: {error}")))
}

/// Closes a connection after its last response, without delaying the workload.
fn close(shared: &Rc<Shared>, mut connection: IdleConnection, answer: &Response) {
    let now = shared.clock.now();
    Sampler::closing(&connection.sampled, now, &mut shared.scheduler.borrow_mut());
    if answer.is_success() {
        tokio::task::spawn_local(async move {
            let mut rest = [0; 512];
            // The connection is closed in any case.
            let _ = tokio::time::timeout(LINGER, connection.stream.receive(&mut rest)).await;
        });
    }
}

async fn over_h2(
    shared: &Rc<Shared>,
    index: usize,
    request: &Request,
    ask: &client::Request<'_>,
    watch: &mut ProgressReporter<'_>,
) -> Result<Response, Broken> {
    let tls = shared.loads[index].target.tls.is_some();
    let mut fresh = false;
    loop {
        let (session, own) = match request.connection {
            Connection::New => {
                let (session, sampled) = begin(shared, index, request).await?;
                shared.event(index, |machine, now| machine.handle_connected(now, request.id));
                (session, Some(sampled))
            }
            Connection::Kept(_) => (shared_session(shared, index, request, &mut fresh).await?, None),
        };
        if is_load(&shared.loads[index], request) && request.direction == Direction::Up {
            watch.unsent = Some((session.observe(), session.unsent_limit()));
        }
        match session.exchange(tls, ask, watch).await {
            Ok(answer) => {
                if let Some(sampled) = own {
                    Sampler::closing(&sampled, shared.clock.now(), &mut shared.scheduler.borrow_mut());
                }
                return Ok(answer);
            }
            Err(ExchangeError::Idle) if !fresh && own.is_none() => give_up(shared, index, request, &session).await,
            Err(error) => {
                if own.is_none() && !matches!(error, ExchangeError::Response(_)) {
                    give_up(shared, index, request, &session).await;
                }
                return Err(Broken::exchange(ask, &error));
            }
        }
    }
}

async fn begin(shared: &Rc<Shared>, index: usize, request: &Request) -> Result<(Session, SampledConnection), Broken> {
    let stream = connect(shared, index, request).await?;
    let sampled = shared.watch(index, stream.socket());
    // Paced workloads are not limited, and would only be delayed by small windows.
    let limit = shared.limit.filter(|_| shared.loads[index].yields);
    let session = if shared.loads[index].has_probes {
        Session::begin_with_probes(stream, limit).await
    } else {
        Session::begin(stream, limit).await
    };
    Ok((session.map_err(|error| Broken::dial(error.to_string()))?, sampled))
}

/// Returns the connection that a load's requests share, for a bulk transfer that of the stream, and opens it if necessary. Requests that wait for it continue when
/// it is ready.
async fn shared_session(
    shared: &Rc<Shared>,
    index: usize,
    request: &Request,
    fresh: &mut bool,
) -> Result<Session, Broken> {
    let shared_session = shared.loads[index].session(request);
    if let Ok(open) = shared_session.try_lock()
        && let Some((session, _)) = &*open
    {
        return Ok(session.clone());
    }
    let mut open = shared_session.lock().await;
    let session = match &*open {
        Some((session, _)) => session.clone(),
        None => {
            *fresh = true;
            let begun = begin(shared, index, request).await?;
            open.insert(begun).0.clone()
        }
    };
    drop(open);
    shared.event(index, |machine, now| machine.handle_connected(now, request.id));
    Ok(session)
}

/// Stops using this connection.
async fn give_up(shared: &Rc<Shared>, index: usize, request: &Request, session: &Session) {
    let shared_session = shared.loads[index].session(request);
    let mut open = shared_session.lock().await;
    if open.as_ref().is_some_and(|(current, _)| current.is_same(session)) {
        *open = None;
    }
}

/// Reports a request's bytes to its workload.
struct ProgressReporter<'a> {
    shared: &'a Rc<Shared>,
    index: usize,
    id: RequestId,
    direction: Direction,
    /// True if the request waits for its turn under a rate limit.
    yields: bool,
    /// Socket of an upload with self probes, and the limit of its unsent data.
    unsent: Option<(Weak<TcpStream>, UnsentLimit)>,
}

impl ProgressReporter<'_> {
    /// Returns the link with the rate limit, if there is one.
    fn limit(&self) -> Option<&RefCell<VirtualLink>> {
        let link = self.shared.meter.link(self.direction)?;
        Some(link).filter(|_| self.yields)
    }
}

impl TransferObserver for ProgressReporter<'_> {
    async fn allowed(&mut self, wanted: u64) -> u64 {
        let Some(limit) = self.limit() else {
            return wanted;
        };
        loop {
            let (free_at, piece) = (limit.borrow().free_at(), limit.borrow().piece());
            match free_at.checked_since(self.shared.clock.now()) {
                Some(wait) if !wait.is_zero() => tokio::time::sleep(Duration::from_nanos(wait.as_nanos())).await,
                _ => return wanted.min(piece.as_bytes()),
            }
        }
    }

    fn sending(&mut self) {
        if let Some((socket, unsent)) = &self.unsent
            && let Some(socket) = socket.upgrade()
        {
            unsent.update(&*socket);
        }
    }

    fn bytes(&mut self, bytes: u64) {
        // The head marks the first byte of a download, but not of an upload.
        if bytes == 0 && self.direction == Direction::Up {
            return;
        }
        let (index, id, way) = (self.index, self.id, self.direction);
        self.shared
            .with_scheduler(|scheduler, now| scheduler.handle_bytes(index, now, id, way, bytes));
    }
}
