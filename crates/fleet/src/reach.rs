//! Whether a server may be burned and how it is reached, before it is.

use crate::join_url;
use crate::protocol::Reach;
use netburn_scenario::plan::Http;
use netburn_traffic::client::{Method, Page, Target, request};
use netburn_traffic::consent::fleet::{FleetKey, QUERY};
use netburn_traffic::consent::{self, Consent};
use netburn_traffic::datagram::{Event, Prober};
use netburn_units::Instant;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

/// How long the question for consent may take.
const ASKING: Duration = Duration::from_secs(5);
/// How long datagrams may stay away: three times the first wait of their handshake, and some.
const DATAGRAMS: Duration = Duration::from_millis(3500);
/// How long one look for a datagram lasts.
const LOOK: Duration = Duration::from_millis(50);

/// How a server answered, and whether it may be burned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// How it was reached.
    pub reach: Reach,
    /// Its consent, or why there is none. Without one nothing may be burned.
    pub consent: Result<Consent, String>,
}

/// Why there is no consent.
enum Why {
    /// Nobody answers.
    Unreached(String),
    /// It is not given.
    Unwilling(String),
}

/// Asks `target` whether it consents to the fleet of this key, and whether datagrams come back. Takes at most
/// [`ASKING`]; on a thread of its own.
pub async fn look(target: Target, key: FleetKey) -> Looked {
    let looked = tokio::task::spawn_blocking(move || {
        let datagrams = {
            let target = target.clone();
            std::thread::spawn(move || echo(&target))
        };
        let consent = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Why::Unreached(error.to_string()))
            .and_then(|runtime| runtime.block_on(ask(&target, &key)));
        let datagrams = datagrams
            .join()
            .unwrap_or_else(|_| Err("it could not be tried".to_owned()));
        let (tcp, consent) = match consent {
            Ok(consent) => (None, Ok(consent)),
            Err(Why::Unwilling(why)) => (None, Err(why)),
            Err(Why::Unreached(why)) => (Some(why.clone()), Err(why)),
        };
        let datagrams = datagrams.err();
        Looked {
            reach: Reach { tcp, datagrams },
            consent,
        }
    });
    looked.await.unwrap_or_else(|error| Looked {
        reach: Reach::default(),
        consent: Err(error.to_string()),
    })
}

/// The server's consent to this fleet, or why there is none.
async fn ask(target: &Target, key: &FleetKey) -> Result<Consent, Why> {
    let nonce = join_url::new_token().map_err(|error| Why::Unreached(error.to_string()))?;
    let target = Target {
        http: Http::H1,
        ..target.clone()
    };
    let path = format!("{}?{QUERY}{nonce}", consent::PATH);
    match request(&target, Method::Get, &path, consent::MAX_SIZE, ASKING).await {
        Ok(page) => agreed(&page, key, &nonce).map_err(Why::Unwilling),
        Err(error) => Err(Why::Unreached(error.to_string())),
    }
}

/// What a server's answer to the question means.
fn agreed(page: &Page, key: &FleetKey, nonce: &str) -> Result<Consent, String> {
    if page.response.status != 200 || page.cut {
        return Err(format!(
            "it is no netburn server: it answers {} to the question for its consent",
            page.response.status
        ));
    }
    let consent = Consent::parse(&page.content).map_err(|error| error.to_string())?;
    if !consent.consents {
        return Err("it does not consent to be burned".to_owned());
    }
    match &consent.fleet {
        Some(answer) if key.accepts(nonce, answer) => Ok(consent),
        Some(_) => Err("it consents to another fleet, not to this one".to_owned()),
        None => Err("it does not consent to this fleet: start it with `netburn serve --fleet`".to_owned()),
    }
}

/// Whether the server welcomes datagrams.
fn echo(target: &Target) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let to = target.datagrams();
    let any = match to.is_ipv4() {
        true => "0.0.0.0:0",
        false => "[::]:0",
    };
    let socket = UdpSocket::bind(any).map_err(failed)?;
    if let Some(interface) = &target.interface {
        netburn_linux::bind_to_device(&socket, interface).map_err(failed)?;
    }
    socket.connect(to).map_err(failed)?;
    socket.set_read_timeout(Some(LOOK)).map_err(failed)?;
    let token = u64::from_ne_bytes(random().map_err(failed)?);
    let begin = std::time::Instant::now();
    let now = || Instant::from_nanos(i64::try_from(begin.elapsed().as_nanos()).unwrap_or(i64::MAX));
    let mut prober = Prober::new(now(), token);
    let mut refused = None;
    let mut bytes = [0; 2048];
    while begin.elapsed() < DATAGRAMS {
        if prober.poll_timeout().0 <= now() {
            prober.handle_timeout(now());
        }
        while let Some(datagram) = prober.poll_transmit() {
            if let Err(error) = socket.send(&datagram) {
                refused = Some(error.to_string());
            }
        }
        match socket.recv(&mut bytes) {
            Ok(length) => {
                if prober.handle_datagram(now(), &bytes[..length]) == Some(Event::Ready) {
                    return Ok(());
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            // ICMP says that nobody listens there; another try may find somebody.
            Err(error) => {
                refused = Some(error.to_string());
                std::thread::sleep(LOOK);
            }
        }
    }
    Err(refused.unwrap_or_else(|| format!("no datagram came back from {to}")))
}

fn random() -> io::Result<[u8; 8]> {
    use ring::rand::SecureRandom;
    let mut bytes = [0; 8];
    let filled = ring::rand::SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_traffic::client::Response;
    use netburn_traffic::server::{Server, ServerConfig, Terms};
    use netburn_units::ByteSize;

    /// What an agent of the fleet `token` finds at a server with these settings.
    fn found(config: ServerConfig) -> Looked {
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
            let looked = look(target, FleetKey::new("token")).await;
            drop(stop);
            serving.await.unwrap().unwrap();
            looked
        })
    }

    #[test]
    fn a_server_of_the_fleet_is_reached_both_ways() {
        let looked = found(ServerConfig {
            fleet: Some(FleetKey::new("token")),
            ..ServerConfig::default()
        });
        assert_eq!(looked.reach, Reach::default());
        assert!(looked.consent.is_ok());
    }

    #[test]
    fn a_server_of_nobody_or_another_fleet_is_not_burned() {
        let none = found(ServerConfig::default());
        assert!(none.consent.unwrap_err().contains("does not consent to this fleet"));
        assert_eq!(none.reach, Reach::default());
        let another = found(ServerConfig {
            fleet: Some(FleetKey::new("another")),
            ..ServerConfig::default()
        });
        assert!(another.consent.unwrap_err().contains("another fleet"));
        let unwilling = found(ServerConfig {
            fleet: Some(FleetKey::new("token")),
            consent: Terms {
                consents: false,
                ..Terms::default()
            },
            ..ServerConfig::default()
        });
        assert!(unwilling.consent.unwrap_err().contains("does not consent to be burned"));
    }

    #[test]
    fn datagrams_that_stay_away_are_told() {
        let looked = found(ServerConfig {
            fleet: Some(FleetKey::new("token")),
            datagrams: false,
            ..ServerConfig::default()
        });
        assert_eq!(looked.reach.tcp, None);
        assert!(looked.reach.datagrams.is_some());
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
            }
        };
        assert!(agreed(&page(ours), &key, ours).is_ok());
        assert!(agreed(&page(other), &key, ours).is_err());
    }
}
