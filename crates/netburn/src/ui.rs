//! `netburn ui`.

use crate::args::UiArgs;
use crate::exit::{CliError, ExitStatus};
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{eprint_message, print_stdout};
use netburn_dashboard::{Config, PORT, Server};
use std::path::Path;

/// Default folder of runs, which may not exist yet.
const RUNS: &str = "runs";

/// `netburn ui`.
pub(crate) fn ui(args: &UiArgs) -> Result<ExitStatus, CliError> {
    if args.dir != Path::new(RUNS) {
        std::fs::read_dir(&args.dir).map_err(|e| CliError::Usage(format!("{}: {e}", args.dir.display())))?;
    }
    let mut config = Config::new(args.dir.clone());
    if let Some(listen) = args.listen {
        config.listen = listen.with_default_port(PORT);
    }
    config.names = args.host.clone();
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
        eprint_message(&format!("showing the runs in {}; Ctrl-C ends it", args.dir.display()));
        server.run(async move { signals.next().await }).await;
        Ok(ExitStatus::Success)
    });
    // A request for a long run may still be in progress; the shutdown does not wait for it.
    runtime.shutdown_background();
    ended
}
