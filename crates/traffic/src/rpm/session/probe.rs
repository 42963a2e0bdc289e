//! Probes: requests of the small object.

use super::Shared;
use crate::client::exchange::TransferObserver;
use crate::client::h2::Session;
use crate::client::{Length, Method, Request, Socket, Stream, tls};
use netburn_stats::rpm::{ForeignProbe, TlsHandshake};
use netburn_workload::Priority;
use netburn_workload::responsiveness::{ProbeFailure, ProbeId, ProbeTimes};
use rustls::{HandshakeKind, ProtocolVersion};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio_rustls::TlsConnector;

/// Sends a probe and reports its result. `session` is that of a self probe; without it, the probe is foreign.
pub(super) async fn run(shared: Rc<Shared>, probe: ProbeId, session: Option<Option<Session>>) {
    let times = async {
        match session {
            None => foreign(&shared).await.map(ProbeTimes::Foreign),
            Some(session) => {
                let begun = Instant::now();
                fetch(&shared, &session?).await?;
                let nanos = nanos_since(begun);
                Some(ProbeTimes::Own(netburn_units::Duration::from_nanos(nanos)))
            }
        }
    };
    let result = match tokio::time::timeout(shared.probe_timeout, times).await {
        Ok(times) => times.ok_or(ProbeFailure::Failed),
        Err(_) => Err(ProbeFailure::TimedOut),
    };
    shared.with_machine(|machine, now| machine.handle_probe(now, probe, result));
}

/// Sends a foreign probe. `None` if it fails.
async fn foreign(shared: &Shared) -> Option<ForeignProbe> {
    let target = &shared.site.target;
    let begun = Instant::now();
    let socket = Socket::dial(target, Priority::BestEffort.dscp(), &shared.meter)
        .await
        .ok()?;
    let tcp_ns = nanos_since(begun);
    let name = tls::server_name(&target.host).ok()?;
    let begun = Instant::now();
    let stream = TlsConnector::from(Arc::clone(shared.tls()))
        .connect(name, socket)
        .await
        .ok()?;
    let total_ns = nanos_since(begun);
    let round_trips = round_trips(
        stream.get_ref().1.protocol_version(),
        stream.get_ref().1.handshake_kind(),
    );
    let stream = Stream::Tls(Box::new(stream));
    if !shared.negotiated(&stream) {
        return None;
    }
    let begun = Instant::now();
    let session = Session::begin(stream, None).await.ok()?;
    fetch(shared, &session).await?;
    Some(ForeignProbe {
        tcp_ns,
        tls: Some(TlsHandshake { total_ns, round_trips }),
        http_ns: nanos_since(begun),
    })
}

/// Round trips of a full handshake before the client's first request: 1 with TLS 1.3 (RFC 8446 §2), 2 with TLS 1.2
/// (RFC 5246 §7.3). A HelloRetryRequest adds one (RFC 8446 §2.1).
fn round_trips(version: Option<ProtocolVersion>, kind: Option<HandshakeKind>) -> NonZeroU32 {
    let count = match (version, kind) {
        (Some(ProtocolVersion::TLSv1_3), Some(HandshakeKind::FullWithHelloRetryRequest)) => 2,
        (Some(ProtocolVersion::TLSv1_3), _) => 1,
        _ => 2,
    };
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

/// Fetches the small object. `None` if the request fails, or the response is not one byte.
async fn fetch(shared: &Shared, session: &Session) -> Option<()> {
    let request = Request {
        method: Method::Get,
        path: Cow::Borrowed(&shared.site.urls.small),
        authority: Cow::Borrowed(&shared.authority),
        last: false,
        length: Length::Exactly(1),
    };
    let response = session.exchange(true, &request, &mut Nothing).await.ok()?;
    (response.status == 200 && response.content == 1).then_some(())
}

/// Observer of a probe, which counts no load.
struct Nothing;

impl TransferObserver for Nothing {
    fn bytes(&mut self, _bytes: u64) {}
}

fn nanos_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_handshakes() {
        let count = |version, kind| round_trips(Some(version), Some(kind)).get();
        assert_eq!(count(ProtocolVersion::TLSv1_3, HandshakeKind::Full), 1);
        assert_eq!(
            count(ProtocolVersion::TLSv1_3, HandshakeKind::FullWithHelloRetryRequest),
            2
        );
        assert_eq!(count(ProtocolVersion::TLSv1_2, HandshakeKind::Full), 2);
    }
}
