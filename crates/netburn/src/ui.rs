//! `netburn ui`.

mod browser;

use crate::args::UiArgs;
use crate::exit::{CliError, ExitStatus};
use crate::measure::served_at;
use crate::signals::Signals;
use crate::terminal::{eprint_message, print_stdout};
use crate::{fleet, runtime};
use netburn_dashboard::{Config, PORT, Server};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

/// Default folder of runs, which may not exist yet.
const RUNS: &str = "runs";

/// `netburn ui`.
pub(crate) fn ui(args: &UiArgs) -> Result<ExitStatus, CliError> {
    if args.dir != Path::new(RUNS) {
        std::fs::read_dir(&args.dir).map_err(|e| CliError::Usage(format!("{}: {e}", args.dir.display())))?;
    }
    // Without a folder for its state there is no controller, so the page starts no measurements.
    let state = fleet::state().ok();
    let measurements = state
        .clone()
        .map(|state| served_at(state, &args.dir, args.join_listen.clone()));
    let mut config = Config::new(args.dir.clone());
    if let Some(listen) = args.listen {
        config.listen = listen.with_default_port(PORT);
    }
    config.names = args.host.clone();
    config.needs_key = true;
    config.measurements = measurements.as_ref().map(Arc::clone);
    let wanted = config.listen;
    let runtime = runtime::on(2)?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new().map_err(|e| CliError::Failed(format!("can't listen for signals: {e}")))?;
        let server = Server::bind(config)
            .await
            .map_err(|e| CliError::Usage(format!("can't listen at {wanted}: {e}")))?;
        let url = match args.host.first() {
            Some(host) => server.url(host),
            None => server.local_url(),
        };
        match print_stdout(&format!("{url}\n")) {
            Ok(()) | Err(CliError::BrokenPipe) => {}
            Err(stop) => return Err(stop),
        }
        eprint_message(&format!(
            "open the address to test your network or to try a home; it shows the runs in the folder {}; Ctrl-C ends it",
            args.dir.display()
        ));
        let opened = state
            .filter(|_| !args.no_browser && std::io::stderr().is_terminal())
            .and_then(|state| browser::open(&server.local_url(), &state));
        let stopped = async {
            signals.next().await;
            if let Some(measurements) = measurements {
                measurements.end().await;
            }
        };
        server.run(stopped).await;
        if let Some(file) = opened {
            let _ = std::fs::remove_file(file);
        }
        Ok(ExitStatus::Success)
    });
    // A request for a long run may still be in progress; the shutdown does not wait for it.
    runtime.shutdown_background();
    ended
}
