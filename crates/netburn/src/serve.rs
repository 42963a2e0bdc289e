//! `netburn serve`.

use crate::args::{LimitArgs, ServeArgs};
use crate::exit::{CliError, ExitStatus};
use crate::join;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{eprint_message, print_stdout};
use netburn_fleet_member::addresses::advertised;
use netburn_fleet_member::discovery;
use netburn_protocol::join_url::{JoinUrl, ParseJoinUrlError, is_token};
use netburn_scenario::regular;
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::fetch::csv;
use netburn_traffic::server::{
    Addresses, Limits, MAX_OBJECT, RPM_OBJECT, RpmClients, Server, ServerConfig, ServerError, Terms,
};
use netburn_traffic::tls::Identity;
use std::net::SocketAddr;
use std::path::Path;

/// Minimum of `--head`.
const MIN_HEAD: u64 = 1024;

/// Serves until a signal.
pub(crate) fn serve(args: &ServeArgs) -> Result<ExitStatus, CliError> {
    if args.join {
        return join::server();
    }
    let config = config(args)?;
    let fingerprint = config.tls.as_ref().map(Identity::fingerprint);
    let consent = config.consent.clone();
    let rpm = config.rpm;
    // A lower limit of the system is not an error.
    let _ = netburn_platform::process::raise_open_files();
    let runtime = runtime::here()?;
    runtime.block_on(async {
        let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
        let server = Server::bind(config).await.map_err(unbound)?;
        match print_stdout(&urls(server.addresses())) {
            Ok(()) | Err(CliError::BrokenPipe) => {}
            Err(stop) => return Err(stop),
        }
        if consent.consents {
            eprint_message(&format!("serving; accepts load tests, operator: {}", consent.operator))
        } else {
            eprint_message("serving; rejects load tests")
        }
        if let Some(fingerprint) = fingerprint {
            eprint_message(&format!("certificate SHA-256 {}", hex(&fingerprint)));
        }
        if let Some(line) = rpm_line(rpm, server.addresses()) {
            eprint_message(&line);
        }
        let announced = rpm != RpmClients::None && !args.quiet;
        let _announcement = announced.then(|| announce(server.addresses()));
        let handle = server.handle();
        server.run(async move { signals.next().await }).await.map_err(unbound)?;
        let health = handle.health();
        eprint_message(&format!(
            "served {} requests, {} bytes down, {} bytes up",
            health.operations, health.bytes_down, health.bytes_up
        ));
        Ok(ExitStatus::Success)
    })
}

/// Settings of the server from the arguments.
fn config(args: &ServeArgs) -> Result<ServerConfig, CliError> {
    let mut config = ServerConfig {
        rate: args.rate,
        cc: args.cc.clone(),
        datagrams: !args.no_datagrams,
        threads: args.threads,
        tls: identity(args)?,
        limits: limits(&args.limits)?,
        fleet: args.fleet.as_deref().map(fleet_key).transpose()?,
        ..ServerConfig::default()
    };
    if !args.listen.is_empty() {
        config.listen = args.listen.iter().map(|l| l.http()).collect();
    }
    if !args.listen_tls.is_empty() {
        config.listen_tls = args.listen_tls.iter().map(|l| l.https()).collect();
    }
    config.consent = Terms {
        consents: !args.no_consent,
        operator: args.operator.clone().unwrap_or(config.consent.operator),
    };
    config.rpm = rpm(args, &config)?;
    Ok(config)
}

/// Clients that may run responsiveness tests. These tests need TLS and large objects.
fn rpm(args: &ServeArgs, config: &ServerConfig) -> Result<RpmClients, CliError> {
    let object = config.limits.object;
    let (tls, large) = (config.tls.is_some(), object >= RPM_OBJECT);
    match args.rpm.map(RpmClients::from) {
        None if config.consent.consents && tls && large => Ok(RpmClients::Local),
        None | Some(RpmClients::None) => Ok(RpmClients::None),
        Some(_) if !tls => Err(CliError::Usage(
            "--rpm: missing certificate, expected TLS\nhelp: add --tls, or --cert and --key".to_owned(),
        )),
        Some(_) if !large => Err(CliError::Usage(format!(
            "--rpm: found --object {object}, expected at least {RPM_OBJECT}\nhelp: remove --object"
        ))),
        Some(clients) => Ok(clients),
    }
}

/// The fleet from a file with a token, or from an address to join.
fn fleet_key(from: &str) -> Result<FleetKey, CliError> {
    let token = match from.split_once('#') {
        Some(_) => {
            let url: JoinUrl = from
                .parse()
                .map_err(|e: ParseJoinUrlError| CliError::Usage(format!("--fleet: {e}")))?;
            url.token
        }
        None => {
            let text = regular::read_input(Path::new(from), crate::fleet::MAX_TOKEN_FILE);
            let text = text.map_err(|e| CliError::Usage(format!("--fleet {from}: {e}")))?;
            let line = text.lines().next().unwrap_or_default().trim();
            // The file may also have the whole address.
            let token = line
                .rsplit('#')
                .next()
                .unwrap_or_default()
                .split('.')
                .next()
                .unwrap_or_default();
            Some(token.to_owned())
        }
    };
    match token.filter(|token| is_token(token)) {
        Some(token) => Ok(FleetKey::new(&token)),
        None => Err(CliError::Usage(
            "--fleet: there is no token; `netburn fleet serve` keeps it in its state directory and prints it after the `#`"
                .to_owned(),
        )),
    }
}

fn identity(args: &ServeArgs) -> Result<Option<Identity>, CliError> {
    let made = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => Identity::from_pem_files(cert, key),
        _ if args.tls || !args.tls_name.is_empty() || !args.listen_tls.is_empty() => {
            let names = if args.tls_name.is_empty() {
                ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec()
            } else {
                args.tls_name.clone()
            };
            Identity::generate(&names)
        }
        _ => return Ok(None),
    };
    made.map(Some).map_err(|e| CliError::Usage(e.to_string()))
}

fn limits(args: &LimitArgs) -> Result<Limits, CliError> {
    let mut limits = Limits::default();
    let set = |to: &mut usize, from: Option<usize>| *to = from.unwrap_or(*to);
    set(&mut limits.connections, args.connections);
    set(&mut limits.connections_per_client, args.connections_per_client);
    limits.requests_per_client = args.requests_per_client.unwrap_or(limits.requests_per_client);
    limits.rate_per_client = args.rate_per_client;
    limits.object = args.object.unwrap_or(limits.object);
    limits.head = args.head.unwrap_or(limits.head);
    limits.head_time = args.head_time.unwrap_or(limits.head_time);
    limits.idle_time = args.idle_time.unwrap_or(limits.idle_time);
    limits.stall_time = args.stall_time.unwrap_or(limits.stall_time);
    limits.streams = args.streams.unwrap_or(limits.streams);
    limits.datagrams.probes = args.probes_per_client.unwrap_or(limits.datagrams.probes);
    if limits.object > MAX_OBJECT {
        return Err(CliError::Usage(format!(
            "--object {}: at most {MAX_OBJECT}",
            limits.object
        )));
    }
    if limits.head.as_bytes() < MIN_HEAD {
        return Err(CliError::Usage(format!("--head {}: at least 1 KiB", limits.head)));
    }
    Ok(limits)
}

/// One address per line, as a client would use it.
fn urls(addresses: &Addresses) -> String {
    let mut urls = String::new();
    for (scheme, list) in [("http", &addresses.http), ("https", &addresses.https)] {
        for address in list {
            urls.push_str(&format!("{scheme}://{}/\n", usable(*address)));
        }
    }
    urls
}

/// The URL for responsiveness tests, and who may use it; `None` if no client may.
fn rpm_line(clients: RpmClients, addresses: &Addresses) -> Option<String> {
    let who = match clients {
        RpmClients::None => return None,
        RpmClients::Local => "local clients",
        RpmClients::All => "all clients",
    };
    let url = usable(*addresses.https.first()?);
    Some(format!("responsiveness tests of {who}: https://{url}/.well-known/nq"))
}

/// Announces responsiveness tests on the local network. If that fails, clients need the URL.
fn announce(addresses: &Addresses) -> Option<discovery::Announcement> {
    let announced = discovery::announce_responsiveness(&csv::hostname(), &addresses.https);
    announced.unwrap_or_else(|error| {
        tracing::info!(%error, "not announced on the local network");
        None
    })
}

/// Address at which clients reach a listener; an unspecified address is replaced by the most likely one.
fn usable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        SocketAddr::new(advertised(&[address]), address.port())
    } else {
        address
    }
}

/// An address that can't be bound is a usage error; other errors are failures.
fn unbound(error: ServerError) -> CliError {
    match error {
        ServerError::Machine(_) => CliError::Failed(error.to_string()),
        _ => CliError::Usage(error.to_string()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
