//! The run that a member takes part in.

use super::*;
use crate::addresses::beside;
use netburn_protocol::messages::MAX_ALTERNATIVES;
use std::net::SocketAddr;

/// The current run.
pub(super) struct CurrentRun {
    pub(super) run: String,
    pub(super) name: String,
    pub(super) task: JoinHandle<Result<PartEnd, AgentError>>,
    pub(super) shutdown: watch::Sender<bool>,
}

/// Waits for the end of the current run; forever if there is none.
pub(super) async fn wait_for_run_end(current: &mut Option<CurrentRun>) -> (String, Result<PartEnd, AgentError>) {
    match current {
        Some(CurrentRun { run, task, .. }) => {
            let ended = task.await.unwrap_or_else(|error| Err(AgentError::Failed(error)));
            (run.clone(), ended)
        }
        None => std::future::pending().await,
    }
}

/// Addresses on which a server of this member listens. On the controller's machine they are unspecified. On other
/// machines they are those of the interface that reaches the controller, because members may have the other IP version
/// only.
fn server_listen_addresses(connection_addresses: SocketAddrs) -> Vec<SocketAddr> {
    match (connection_addresses.ours, connection_addresses.theirs) {
        (Some(ours), Some(theirs)) if ours.ip() != theirs.ip() => {
            let others = beside(ours.ip()).into_iter();
            let others = others.take(MAX_ALTERNATIVES).map(|ip| SocketAddr::new(ip, PORT));
            std::iter::once(with_port(ours, PORT)).chain(others).collect()
        }
        _ => ServerConfig::default().listen,
    }
}

/// Opens connections to the holder of a run, through the controller.
struct RunDialer {
    endpoint: ControllerEndpoint,
    path: String,
}

impl Dial for RunDialer {
    async fn dial(&mut self) -> Result<Channel, ConnectionError> {
        let opened = self.endpoint.open(&self.path, MAX_TO_AGENT).await;
        let (channel, _) = opened.map_err(|error| match error {
            ConnectError::UnknownPath { .. } => ConnectionError::UnknownRun,
            error => ConnectionError::Unreachable(Box::new(error)),
        })?;
        Ok(channel)
    }
}

impl<N: FnMut(MemberEvent<'_>)> Member<N> {
    /// Ends the current run at the owner's request.
    pub(super) fn shutdown(&mut self) {
        self.next = None;
        if let Some(current) = &self.current {
            (self.on_event)(MemberEvent::Leaving(&current.run));
            current.shutdown.send_replace(true);
        }
    }

    /// Takes part in a run, over a second connection.
    pub(super) fn start_run(&mut self, invite: Invite, connection_addresses: SocketAddrs) {
        let Invite { run, name, token } = invite;
        (self.on_event)(MemberEvent::RunStarted(&run));
        let Settings {
            about,
            server,
            limits,
            spool,
            ..
        } = &self.settings;
        let dial = RunDialer {
            endpoint: self.endpoint.clone(),
            path: format!("{RUN}{run}"),
        };
        let join = Join {
            url: self.endpoint.place().to_string(),
            token,
            role: about.role,
            name: name.clone(),
            parent: None,
            listen: server_listen_addresses(connection_addresses),
            fleet: Some(self.token.clone()),
        };
        let policy = MemberPolicy {
            key: FleetKey::new(&self.token),
            connection_addresses,
            server: server.clone(),
            interface: about.interface.clone(),
            limits: *limits,
            rate_budget: self.rate_budget.clone(),
            usage: Default::default(),
            total: netburn_traffic::client::Total::default(),
            paced: Default::default(),
        };
        let (shutdown, signal) = watch::channel(false);
        let signal = ShutdownSignal::from_watch(signal);
        let options = AgentOptions {
            run: run.clone(),
            spool: Some(spool.clone()),
            reconnect_timeout: Some(RECONNECT_TIMEOUT),
            policy,
            shutdown: signal.clone(),
        };
        let role = about.role;
        let task = tokio::spawn(async move {
            match role {
                Role::Agent => agent::run(dial, &join, options).await,
                Role::Server => server::run(dial, &join, Some(RECONNECT_TIMEOUT), signal)
                    .await
                    .map(|()| PartEnd::Delivered),
            }
        });
        self.current = Some(CurrentRun {
            run,
            name,
            task,
            shutdown,
        });
    }

    /// Handles the end of the current run.
    pub(super) fn handle_run_end(&mut self, (run, ended): (String, Result<PartEnd, AgentError>)) {
        self.current = None;
        // The run may have left a spool.
        self.spooled = None;
        let how = match &ended {
            Ok(PartEnd::Delivered) => "over, its results are delivered".to_owned(),
            Ok(PartEnd::Spooled) => "over, its results are kept until the controller requests them".to_owned(),
            Err(error) => error.to_string(),
        };
        (self.on_event)(MemberEvent::RunEnded(&run, &how));
    }
}
