//! State of one TCP connection that its protocol handler uses.

use super::admission::AdmissionPermit;
use super::congestion_control::SocketControl;
use super::flow::Flow;
use super::request::Origin;
use super::response::{ExtraField, Response};
use super::socket_dscp::SocketDscp;
use super::stats::Stats;
use super::worker_state::Worker;
use crate::unsent_limit::{IsLimited, UnsentLimit};
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::TcpStream;

/// State of a connection that its protocol handler uses.
pub(crate) struct ConnectionContext {
    pub(crate) worker: Rc<Worker>,
    pub(crate) permit: Rc<AdmissionPermit>,
    pub(crate) down: Flow,
    pub(crate) up: Flow,
    stream: Arc<TcpStream>,
    marking: SocketDscp,
    control: SocketControl,
    unsent: UnsentLimit,
    /// True if the connection uses TLS.
    tls: bool,
}

impl ConnectionContext {
    /// State of a connection that was admitted. Its socket reads `is_limited`.
    pub(crate) fn new(
        worker: Rc<Worker>,
        permit: AdmissionPermit,
        stream: Arc<TcpStream>,
        is_limited: IsLimited,
        tls: bool,
    ) -> Self {
        let (mut down, mut up) = (Vec::new(), Vec::new());
        for (d, u) in permit.links.iter().chain(&worker.shared.links) {
            down.push(Arc::clone(d));
            up.push(Arc::clone(u));
        }
        let flow = |links| Flow::new(links, worker.timer_queue.clone(), Arc::clone(&worker.stats));
        let (down, up) = (flow(down), flow(up));
        ConnectionContext {
            worker,
            permit: Rc::new(permit),
            down,
            up,
            stream,
            marking: SocketDscp::default(),
            control: SocketControl::default(),
            unsent: UnsentLimit::new(is_limited),
            tls,
        }
    }

    /// Sets the DSCP of the connection's packets. If the system rejects it, the previous one stays; the response is
    /// sent anyway.
    pub(crate) fn mark(&self, dscp: u8) {
        let _ = self.marking.set(&*self.stream, dscp);
    }

    /// Sets the congestion control of the connection, or its default for `None`.
    pub(crate) fn control(&self, name: Option<&str>) {
        self.control.set(&*self.stream, name, &self.worker.shared.controls);
    }

    /// Limits the unsent data of the connection, according to its rate. Content that is sent for some time calls this
    /// repeatedly.
    pub(crate) fn limit_unsent(&self) {
        self.unsent.update(&*self.stream);
    }

    /// Returns the origin of the connection's requests.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            client: self.permit.client(),
            tls: self.tls,
        }
    }

    /// Returns the response to a request above the limit, and counts it.
    pub(crate) fn too_many_requests(&self) -> Response {
        Stats::add(&self.worker.stats.rejected, 1);
        Response::text(429, "too many requests").with(ExtraField::Later)
    }
}
