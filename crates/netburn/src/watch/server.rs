//! The address of the server, which a name server gives.

use crate::args::{WatchArgs, WatchServer};
use netburn_traffic::client::Target;
use std::net::SocketAddr;
use std::time::Duration;

/// Port of a target that receives pings only. It is not used.
const NO_PORT: u16 = 9;
/// Time limit of a name server.
const TIMEOUT: Duration = Duration::from_secs(10);

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
