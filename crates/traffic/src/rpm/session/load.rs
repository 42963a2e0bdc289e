//! Connections of a test: with load, or without load for the probes before it.

use super::Shared;
use crate::client::exchange::TransferObserver;
use crate::client::h2::Session;
use crate::client::{Length, Method, Request, Stream};
use crate::unsent_limit::UnsentLimit;
use netburn_workload::responsiveness::ConnectionId;
use netburn_workload::{Direction, Priority};
use std::borrow::Cow;
use std::rc::{Rc, Weak};
use tokio::net::TcpStream;

/// Minimum length of the large object in bytes. The draft requires 8 GB. A shorter object is requested repeatedly; one
/// that is shorter than this would cause more requests than load.
const MIN_LARGE: u64 = 1 << 20;

/// Opens a connection and transfers load until the test ends. An error ends the test.
pub(super) async fn run(shared: Rc<Shared>, connection: ConnectionId, load: Option<Direction>) {
    if let Err(cause) = transfer(&shared, connection, load).await {
        shared.failed(connection, cause);
    }
}

async fn transfer(shared: &Rc<Shared>, connection: ConnectionId, load: Option<Direction>) -> Result<(), String> {
    let session = tokio::time::timeout(shared.probe_timeout, open(shared))
        .await
        .map_err(|_| format!("can't connect within {} s", shared.probe_timeout.as_secs()))??;
    let mut observer = Observer {
        shared: Rc::clone(shared),
        connection,
        socket: session.observe(),
        unsent: session.unsent_limit(),
    };
    shared.opened(connection, session.clone());
    match load {
        None => Ok(()),
        Some(Direction::Down) => download(shared, &session, &mut observer).await,
        Some(Direction::Up) => upload(shared, &session, &mut observer).await,
    }
}

async fn open(shared: &Shared) -> Result<Session, String> {
    let target = &shared.site.target;
    let stream = Stream::dial(target, Some(shared.tls()), Priority::BestEffort.dscp(), &shared.meter)
        .await
        .map_err(|error| format!("can't connect: {error}"))?;
    if !shared.negotiated(&stream) {
        return Err("found HTTP/1.1, expected HTTP/2".to_owned());
    }
    Session::begin_with_probes(stream, None)
        .await
        .map_err(|error| error.to_string())
}

/// Requests the large object again and again.
async fn download(shared: &Shared, session: &Session, observer: &mut Observer) -> Result<(), String> {
    let path = &shared.site.urls.large;
    let request = Request {
        method: Method::Get,
        path: Cow::Borrowed(path),
        authority: Cow::Borrowed(&shared.authority),
        last: false,
        length: Length::Any,
    };
    loop {
        let response = session
            .exchange(true, &request, observer)
            .await
            .map_err(|error| format!("{path}: {error}"))?;
        if response.status != 200 {
            return Err(format!("{path}: found status {}, expected 200", response.status));
        }
        if response.content < MIN_LARGE {
            let found = response.content;
            return Err(format!(
                "{path}: found {found} bytes, expected a large object of at least 8 GB"
            ));
        }
    }
}

/// Uploads without end.
async fn upload(shared: &Shared, session: &Session, observer: &mut Observer) -> Result<(), String> {
    let path = &shared.site.urls.upload;
    let status = session
        .upload_without_end(&shared.authority, path, observer)
        .await
        .map_err(|error| format!("{path}: {error}"))?;
    Err(format!("{path}: found status {status}, expected 200"))
}

/// Counts the load of a connection.
struct Observer {
    shared: Rc<Shared>,
    connection: ConnectionId,
    socket: Weak<TcpStream>,
    unsent: UnsentLimit,
}

impl TransferObserver for Observer {
    fn sending(&mut self) {
        if let Some(socket) = self.socket.upgrade() {
            self.unsent.update(&*socket);
        }
    }

    fn bytes(&mut self, bytes: u64) {
        if bytes > 0 {
            self.shared
                .with_machine(|machine, now| machine.handle_bytes(now, self.connection, bytes));
        }
    }
}
