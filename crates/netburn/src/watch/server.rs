//! The address of the server, which a name server gives, and its permission for loads.

use crate::args::{WatchArgs, WatchServer};
use netburn_traffic::client::{Method, Page, RequestError, Target, request};
use netburn_traffic::consent;
use netburn_traffic::fetch::{Permission, permission};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::LocalSet;

/// Port of a target that receives pings only. It is not used.
const NO_PORT: u16 = 9;
/// Time limit of a name server.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit of the server's document about loads.
const PATIENCE: Duration = Duration::from_secs(5);

/// Address and permission of the server before a record.
#[derive(Debug)]
pub(super) struct Found {
    /// Address, or why there is none.
    pub(super) address: Result<SocketAddr, String>,
    /// Permission for loads; `None`: it was not asked, or the server does not answer.
    pub(super) permission: Option<Permission>,
}

/// A question about the server, which can take 15 s.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) server: WatchServer,
    /// Target without its address.
    pub(super) target: Target,
    /// Address that is used if no name server answers.
    pub(super) last: Option<SocketAddr>,
    /// True if the permission for loads is needed.
    pub(super) asks: bool,
}

impl Question {
    /// Asks on this thread, which must not be one of a runtime.
    pub(super) fn find(self) -> Found {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => {
                return Found {
                    address: Err(error.to_string()),
                    permission: None,
                };
            }
        };
        // Connections stay on one thread.
        let found = LocalSet::new().block_on(&runtime, async {
            let address = resolve(&self.server).await;
            let permission = match address.as_ref().ok().copied().or(self.last) {
                Some(address) if self.asks => ask(&Target { address, ..self.target }).await,
                _ => None,
            };
            Found { address, permission }
        });
        runtime.shutdown_background();
        found
    }
}

/// The server's permission for loads; `None` without an answer.
pub(super) async fn ask(target: &Target) -> Option<Permission> {
    if permission::is_this_machine(target.address.ip()) {
        return Some(Permission::ThisMachine);
    }
    let asked = request(target, Method::Get, consent::PATH, consent::MAX_SIZE, PATIENCE);
    permitted(&asked.await)
}

fn permitted(answer: &Result<Page, RequestError>) -> Option<Permission> {
    answer.as_ref().ok().map(permission::decide)
}

/// Finds an address of the server, of IPv4 if there is one: pings need it.
pub(super) async fn resolve(server: &WatchServer) -> Result<SocketAddr, String> {
    let found = tokio::net::lookup_host((server.host.as_str(), server.port.unwrap_or(NO_PORT)));
    let found = match tokio::time::timeout(TIMEOUT, found).await {
        Ok(Ok(found)) => found.collect::<Vec<_>>(),
        Ok(Err(error)) => return Err(format!("can't resolve `{}`: {error}", server.host)),
        Err(_) => return Err(format!("can't resolve `{}`: no answer within 10 s", server.host)),
    };
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first
        .copied()
        .ok_or_else(|| format!("can't resolve `{}`: no address", server.host))
}

/// The target of all probes and loads.
pub(super) fn target(args: &WatchArgs, address: SocketAddr) -> Target {
    let mut target = Target::new(address);
    target.interface.clone_from(&args.interface);
    target.limit = args.load.load_rate;
    if let Some(server) = &args.server {
        target.pings = server.port.is_none();
        target.host.clone_from(&server.host);
        if server.host.contains(':') {
            target.host = format!("[{}]", server.host);
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server without an answer does not refuse.
    #[test]
    fn no_answer_is_no_refusal() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert_eq!(permitted(&Err(RequestError::Dial(refused))), None);
        assert_eq!(permitted(&Err(RequestError::TimedOut(PATIENCE))), None);
    }

    #[test]
    fn a_question_finds_the_address_and_the_permission() {
        let question = |asks| Question {
            server: "127.0.0.1:4480".parse().unwrap(),
            target: Target::new(([0, 0, 0, 0], 9).into()),
            last: None,
            asks,
        };
        let found = question(true).find();
        assert_eq!(found.address, Ok(([127, 0, 0, 1], 4480).into()));
        assert_eq!(found.permission, Some(Permission::ThisMachine));
        assert_eq!(question(false).find().permission, None);
    }
}
