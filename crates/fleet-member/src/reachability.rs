//! Probe of a server before the run: reachability and consent.

use netburn_protocol::join_url;
use netburn_protocol::messages::Reach;
use netburn_scenario::plan::Http;
use netburn_traffic::client::{Method, Page, RequestError, Target, request};
use netburn_traffic::consent::fleet::{FleetKey, QUERY};
use netburn_traffic::consent::{self, Consent, ConsentError};
use netburn_traffic::datagram::{DatagramMachine, Event, Prober};
use netburn_units::Instant;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Time limit of the request for consent.
const CONSENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of the datagram handshake: more than three times its first timeout.
const DATAGRAM_TIMEOUT: Duration = Duration::from_millis(3500);
/// Timeout of receiving one datagram.
const RECEIVE_TIMEOUT: Duration = Duration::from_millis(50);

/// Time limit of connecting to the port of a run's server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// State of the TCP port at which a run's server will listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPort {
    /// A server listens, or the machine answers that none does, as between two runs.
    Reachable,
    /// There is no answer, or no route.
    Unreachable {
        /// Address of the port.
        at: SocketAddr,
        /// Cause.
        why: String,
    },
}

/// Connects to the port at `at`. Takes at most [`CONNECT_TIMEOUT`]. Sends nothing else.
pub async fn server_port(at: SocketAddr) -> ServerPort {
    let unreachable = |why: String| ServerPort::Unreachable { at, why };
    match tokio::time::timeout(CONNECT_TIMEOUT, tokio::net::TcpStream::connect(at)).await {
        Ok(Ok(_)) => ServerPort::Reachable,
        // RFC 9293 §3.10.7.1: the machine answers with a reset where nothing listens.
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => ServerPort::Reachable,
        Ok(Err(error)) => unreachable(error.to_string()),
        Err(_) => unreachable(format!("no answer for {} s", CONNECT_TIMEOUT.as_secs())),
    }
}

/// Reachability of a server, and its consent.
#[derive(Debug)]
pub struct ProbeResult {
    /// Reachability.
    pub reach: Reach,
    /// The server's consent, or the reason why there is none. Without consent no load may be sent.
    pub consent: Result<Consent, NoConsent>,
}

/// Reason for missing consent.
#[derive(Debug, thiserror::Error)]
pub enum NoConsent {
    /// The system does not permit the request.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The server does not answer.
    #[error(transparent)]
    Unreachable(#[from] RequestError),
    /// The server answered, but is not a netburn server.
    #[error("not a netburn server: found HTTP status {status} for the request for consent")]
    NotNetburn {
        /// HTTP status of the answer.
        status: u16,
    },
    /// The consent document is invalid.
    #[error(transparent)]
    Document(#[from] ConsentError),
    /// The server accepts no load tests.
    #[error("it does not consent to a load test")]
    NoLoadTests,
    /// The server belongs to another fleet.
    #[error("it consents to another fleet, not to this one")]
    OtherFleet,
    /// The server belongs to no fleet.
    #[error("it does not consent to this fleet: start it with `netburn serve --fleet`")]
    NoFleet,
    /// The probe in this process failed.
    #[error("the probe failed: {0}")]
    Probe(#[from] tokio::task::JoinError),
}

impl NoConsent {
    /// Returns whether the server did not answer.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, NoConsent::System(_) | NoConsent::Unreachable(_))
    }
}

/// Requests the consent of `target` to the fleet of this key, and probes datagrams. Takes at most
/// [`CONSENT_TIMEOUT`]; runs on a separate thread.
pub async fn probe(target: Target, key: FleetKey) -> ProbeResult {
    let result = tokio::task::spawn_blocking(move || {
        let datagrams = {
            let target = target.clone();
            std::thread::spawn(move || probe_datagrams(&target))
        };
        let consent = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(NoConsent::from)
            .and_then(|runtime| runtime.block_on(request_consent(&target, &key)));
        let datagrams = datagrams.join().unwrap_or_else(|_| Err("the probe failed".to_owned()));
        let unreachable = consent.as_ref().err().filter(|error| error.is_unreachable());
        let tcp = unreachable.map(ToString::to_string);
        let datagrams = datagrams.err();
        ProbeResult {
            reach: Reach { tcp, datagrams },
            consent,
        }
    });
    result.await.unwrap_or_else(|error| ProbeResult {
        reach: Reach::default(),
        consent: Err(error.into()),
    })
}

/// Requests the server's consent to this fleet.
async fn request_consent(target: &Target, key: &FleetKey) -> Result<Consent, NoConsent> {
    let nonce = join_url::new_token()?;
    let target = Target {
        http: Http::H1,
        ..target.clone()
    };
    let path = format!("{}?{QUERY}{nonce}", consent::PATH);
    let page = request(&target, Method::Get, &path, consent::MAX_SIZE, CONSENT_TIMEOUT).await?;
    check_consent(&page, key, &nonce)
}

/// Checks the response to the request for consent.
fn check_consent(page: &Page, key: &FleetKey, nonce: &str) -> Result<Consent, NoConsent> {
    if page.response.status != 200 || page.cut {
        let status = page.response.status;
        return Err(NoConsent::NotNetburn { status });
    }
    let consent = Consent::parse(&page.content)?;
    if !consent.consents {
        return Err(NoConsent::NoLoadTests);
    }
    match &consent.fleet {
        Some(answer) if key.accepts(nonce, answer) => Ok(consent),
        Some(_) => Err(NoConsent::OtherFleet),
        None => Err(NoConsent::NoFleet),
    }
}

/// Probes whether datagrams reach the server and return.
fn probe_datagrams(target: &Target) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let to = target.datagrams();
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any).map_err(failed)?;
    if let Some(interface) = &target.interface {
        netburn_platform::bind_to_device(&socket, interface).map_err(failed)?;
    }
    socket.connect(to).map_err(failed)?;
    socket.set_read_timeout(Some(RECEIVE_TIMEOUT)).map_err(failed)?;
    let token = u64::from_ne_bytes(random().map_err(failed)?);
    let begin = std::time::Instant::now();
    let now = || Instant::from_nanos(i64::try_from(begin.elapsed().as_nanos()).unwrap_or(i64::MAX));
    let mut prober = Prober::new(now(), token);
    let mut last_error = None;
    let mut bytes = [0; 2048];
    while begin.elapsed() < DATAGRAM_TIMEOUT {
        if prober.poll_timeout() <= now() {
            prober.handle_timeout(now());
        }
        while let Some(datagram) = prober.poll_transmit() {
            if let Err(error) = socket.send(&datagram) {
                last_error = Some(error.to_string());
            }
        }
        match socket.recv(&mut bytes) {
            Ok(length) => {
                prober.handle_datagram(now(), None, &bytes[..length]);
                if prober.poll_event() == Some(Event::Ready) {
                    return Ok(());
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            // ICMP port unreachable; the server may start later.
            Err(error) => {
                last_error = Some(error.to_string());
                std::thread::sleep(RECEIVE_TIMEOUT);
            }
        }
    }
    Err(last_error.unwrap_or_else(|| format!("no datagram returned from {to}")))
}

fn random() -> io::Result<[u8; 8]> {
    use ring::rand::SecureRandom;
    let mut bytes = [0; 8];
    let filled = ring::rand::SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system returned no random numbers"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_traffic::client::Response;
    use netburn_traffic::server::{Server, ServerConfig, Terms};
    use netburn_units::ByteSize;

    /// Result of probing a server with these settings, by an agent of the fleet `token`.
    fn found(config: ServerConfig) -> ProbeResult {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listen = vec!["127.0.0.1:0".parse().unwrap()];
            let server = Server::bind(ServerConfig { listen, ..config }).await.unwrap();
            let target = Target::new(server.addresses().http[0]);
            let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
            let serving = tokio::spawn(server.run(async { drop(stopped.await) }));
            let result = probe(target, FleetKey::new("token")).await;
            drop(stop);
            serving.await.unwrap().unwrap();
            result
        })
    }

    #[test]
    fn a_server_of_the_fleet_is_reached_both_ways() {
        let result = found(ServerConfig {
            fleet: Some(FleetKey::new("token")),
            ..ServerConfig::default()
        });
        assert_eq!(result.reach, Reach::default());
        assert!(result.consent.is_ok());
    }

    #[test]
    fn a_server_without_consent_to_this_fleet_is_rejected() {
        let none = found(ServerConfig::default());
        assert!(matches!(none.consent, Err(NoConsent::NoFleet)));
        assert_eq!(none.reach, Reach::default());
        let another = found(ServerConfig {
            fleet: Some(FleetKey::new("another")),
            ..ServerConfig::default()
        });
        assert!(matches!(another.consent, Err(NoConsent::OtherFleet)));
        let unwilling = found(ServerConfig {
            fleet: Some(FleetKey::new("token")),
            consent: Terms {
                consents: false,
                ..Terms::default()
            },
            ..ServerConfig::default()
        });
        assert!(matches!(unwilling.consent, Err(NoConsent::NoLoadTests)));
    }

    /// A machine that answers without a server is reachable. A broadcast address has no TCP port.
    #[test]
    fn a_closed_port_is_reachable_and_an_address_without_a_route_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            for ip in ["127.0.0.1", "::1"] {
                let Ok(listener) = std::net::TcpListener::bind((ip, 0)) else {
                    continue;
                };
                let at = listener.local_addr().unwrap();
                assert_eq!(server_port(at).await, ServerPort::Reachable, "{ip} open");
                drop(listener);
                assert_eq!(server_port(at).await, ServerPort::Reachable, "{ip} closed");
            }
            let nowhere = "255.255.255.255:4480".parse().unwrap();
            assert!(matches!(server_port(nowhere).await, ServerPort::Unreachable { .. }));
        });
    }

    #[test]
    fn missing_datagrams_are_reported() {
        let result = found(ServerConfig {
            fleet: Some(FleetKey::new("token")),
            datagrams: false,
            ..ServerConfig::default()
        });
        assert_eq!(result.reach.tcp, None);
        assert!(result.reach.datagrams.is_some());
    }

    #[test]
    fn an_answer_to_another_question_is_none() {
        let key = FleetKey::new("token");
        let (ours, other) = ("0123456789abcdef", "fedcba9876543210");
        let page = |nonce: &str| {
            let mut consent = Consent::new("Ada", ByteSize::from_mib(1)).unwrap();
            consent.fleet = key.answer(nonce);
            let content = consent.to_json().into_bytes();
            Page {
                response: Response {
                    status: 200,
                    location: None,
                    declared: None,
                    content: content.len() as u64,
                    keep: false,
                },
                content,
                cut: false,
                handshake: None,
            }
        };
        assert!(check_consent(&page(ours), &key, ours).is_ok());
        assert!(matches!(
            check_consent(&page(other), &key, ours),
            Err(NoConsent::OtherFleet)
        ));
    }
}
