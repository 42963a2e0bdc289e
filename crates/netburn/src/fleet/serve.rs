//! `netburn fleet serve`.

use super::list::text;
use super::{MeasurementsOf, here, qr, runtime, state};
use crate::args::{FleetServeArgs, Listen};
use crate::exit::{CliError, ExitStatus};
use crate::signals::Signals;
use crate::terminal::{eprint_message, print_stdout};
use netburn_dashboard::measurement::Measurements;
use netburn_dashboard::{Dashboard, Hosts};
use netburn_fleet_controller::hub::control::ObservedAccessPoints;
use netburn_fleet_controller::hub::{
    Config, Controller, ControllerEvent, Origin, RejectionSummary, ServeError, State, StateError,
};
use netburn_protocol::join_url::{JoinUrl, PORT, Place};
use netburn_protocol::token::Token;
use netburn_report::sanitise::sanitise;
use netburn_traffic::tls::Identity;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;

/// `netburn fleet serve`.
pub(crate) fn serve(args: &FleetServeArgs, measurements: MeasurementsOf) -> Result<ExitStatus, CliError> {
    let state = state()?;
    let config = config(args, state.clone())?;
    // Each member and each agent of a run has a connection. A lower limit of the system is not an error.
    let _ = netburn_platform::raise_open_files();
    runtime()?.block_on(async {
        let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
        let name = config.fleet.clone();
        let names = config.host.clone();
        let mut controller = Controller::bind(config).map_err(|error| unbound(&state, error))?;
        let measurements = measurements(state.clone(), &args.runs);
        let runs = Runs::show(&mut controller, measurements, args, names.as_deref())
            .map_err(|error| unbound(&state, error.into()))?;
        let (urls, near) = (controller.urls(), controller.local_url());
        greet(&name, &urls, &near)?;
        runs.tell(&controller.runs_token().map_err(|error| unbound(&state, error.into()))?);
        let _announced = announced(&name, &controller, args.quiet);
        let on_event = |event: ControllerEvent<'_>| match event {
            ControllerEvent::Joined(member) => {
                eprint_message(&format!("+ {}", text(std::slice::from_ref(member)).trim_end()))
            }
            ControllerEvent::Left(name) => eprint_message(&format!("- {}", sanitise(name))),
            ControllerEvent::Revoked(urls, key) => {
                eprint_message("token and key were revoked, and all members were disconnected; the new addresses are:");
                let near = JoinUrl {
                    token: urls.first().and_then(|url| url.token.clone()),
                    ..near.clone()
                };
                let _ = greet(&name, urls, &near);
                runs.tell(&key);
                runs.page.replace_key(key);
            }
            rejected => warn_of_rejections(&rejected),
        };
        let stopped = async {
            signals.next().await;
            runs.measurements.end().await;
        };
        controller.run(stopped, on_event).await;
        Ok(ExitStatus::Success)
    })
}

fn config(args: &FleetServeArgs, state: State) -> Result<Config, CliError> {
    let name = args.name.clone().unwrap_or_else(here);
    let mut config = Config::new(state, name);
    listen_at(&mut config, &args.listen);
    config.host = args.host.clone();
    config.observed = ObservedAccessPoints {
        access_points: args.observed.access_points.iter().map(ToString::to_string).collect(),
        // Commands in other folders use it.
        ssh_config: args
            .observed
            .ssh_config
            .as_deref()
            .map(std::path::absolute)
            .transpose()
            .map_err(|e| CliError::Usage(e.to_string()))?,
    };
    if let (Some(cert), Some(key)) = (&args.cert, &args.key) {
        let identity = Identity::from_pem_files(cert, key).map_err(|e| CliError::Usage(e.to_string()))?;
        config.certificate = Some(identity);
    }
    Ok(config)
}

/// Sets the listening addresses of the command line, if there are any.
pub(super) fn listen_at(config: &mut Config, listen: &[Listen]) {
    if !listen.is_empty() {
        config.listen = listen.iter().map(|listen| listen.with_default_port(PORT)).collect();
    }
}

/// The dashboard of the runs, next to the station page.
struct Runs {
    page: Arc<Dashboard>,
    measurements: Arc<dyn Measurements>,
    scheme: &'static str,
    host: String,
    port: u16,
}

impl Runs {
    fn show(
        controller: &mut Controller,
        measurements: Arc<dyn Measurements>,
        args: &FleetServeArgs,
        host: Option<&str>,
    ) -> Result<Runs, StateError> {
        let key = controller.runs_token()?;
        let names: Vec<&str> = host.into_iter().collect();
        let hosts = Hosts::new(controller.addresses(), &names);
        let own = controller.addresses().first().map_or(PORT, |at| at.port());
        let address = controller.urls().into_iter().find_map(|url| match url.place {
            Place::Network { host, port, tls } => Some((if tls { "https" } else { "http" }, host, port)),
            Place::Unix(_) => None,
        });
        let (scheme, host, port) = address.unwrap_or(("http", "localhost".to_owned(), own));
        let page = Dashboard::new(&args.runs, hosts, Some((key, own)));
        let page = Arc::new(page.with_measurements(Arc::clone(&measurements)));
        controller.set_http_handler(Arc::clone(&page) as _);
        Ok(Runs {
            page,
            measurements,
            scheme,
            host,
            port,
        })
    }

    /// Prints the address of the page with its key to the terminal of the user.
    fn tell(&self, key: &Token) {
        let url = netburn_dashboard::url(self.scheme, &self.host, self.port, Some(key));
        eprint_message(&format!("runs (keep this address private): {url}"));
    }
}

fn lines(urls: &[JoinUrl]) -> String {
    urls.iter().map(|url| format!("{url}\n")).collect()
}

/// Prints the QR code of an address to standard error, if that is a terminal.
pub(crate) fn show_code(url: &str) {
    if std::io::stderr().is_terminal()
        && let Some(code) = qr::code(url)
    {
        eprint_message(&code);
    }
}

/// Prints the addresses to standard output and instructions to standard error. The QR code comes first, so that the
/// addresses to copy are below it.
fn greet(name: &str, urls: &[JoinUrl], near: &JoinUrl) -> Result<(), CliError> {
    let best = &urls[0];
    show_code(&best.to_string());
    match print_stdout(&lines(urls)) {
        Ok(()) | Err(CliError::BrokenPipe) => {}
        Err(stop) => return Err(stop),
    }
    eprint_message(&format!(
        "the fleet `{name}`: scan the code with a phone, or open the first address there. On a laptop or board:\n  netburn \
         fleet join '{best}'\nOn this machine:\n  netburn fleet join '{near}'"
    ));
    Ok(())
}

/// Announces the fleet on the local network, unless `quiet`. If that fails, members need its address.
pub(super) fn announced(
    name: &str,
    controller: &Controller,
    quiet: bool,
) -> Option<netburn_fleet_member::discovery::Announcement> {
    if quiet {
        return None;
    }
    let port = controller.addresses().first().map_or(0, SocketAddr::port);
    match netburn_fleet_member::discovery::announce(name, &controller.urls(), port) {
        Ok(announced) => announced,
        Err(error) => {
            tracing::info!(%error, "not announced on the local network");
            None
        }
    }
}

/// Prints that a connection, or several of them, were rejected. Other events print nothing.
pub(super) fn warn_of_rejections(event: &ControllerEvent<'_>) {
    match event {
        ControllerEvent::Rejected(who, why) => {
            eprint_message(&format!("{} was rejected: {}", sanitise(who), sanitise(why)))
        }
        ControllerEvent::MoreRejected(more) => eprint_message(&more_denied(*more)),
        _ => {}
    }
}

/// Line with the number of further rejected connections.
fn more_denied(more: RejectionSummary) -> String {
    let from = match more.from {
        Origin::Address(ip) => format!("from {ip}"),
        Origin::Here => "from this machine".to_owned(),
        Origin::Others => "from other addresses".to_owned(),
    };
    format!("… and {} more were rejected {from}", grouped(more.count))
}

/// A count with commas between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|part| std::str::from_utf8(part).unwrap_or_default())
        .collect();
    parts.join(",")
}

/// The error of a controller that could not start. A second controller is reported with the path of the state.
pub(super) fn unbound(state: &State, error: ServeError) -> CliError {
    match &error {
        ServeError::State(StateError::AlreadyRunning(_)) => CliError::Usage(format!(
            "{error}; `netburn fleet list` prints its members. Its state is in {}",
            state.path().display()
        )),
        _ => CliError::Usage(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_one_line() {
        let line = |count, from| more_denied(RejectionSummary { count, from });
        let flood = Origin::Address("10.77.0.15".parse().unwrap());
        assert_eq!(line(11_566, flood), "… and 11,566 more were rejected from 10.77.0.15");
        assert_eq!(line(7, Origin::Here), "… and 7 more were rejected from this machine");
        assert_eq!(
            line(1_000_000, Origin::Others),
            "… and 1,000,000 more were rejected from other addresses"
        );
    }
}
