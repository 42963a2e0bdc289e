//! Its part in a run.

use super::*;

/// The run it takes part in.
pub(super) struct Current {
    pub(super) run: String,
    pub(super) name: String,
    pub(super) task: JoinHandle<Result<Ended, FleetError>>,
    pub(super) leave: watch::Sender<bool>,
}

/// The end of the current run, if there is one.
pub(super) async fn over(current: &mut Option<Current>) -> (String, Result<Ended, FleetError>) {
    match current {
        Some(Current { run, task, .. }) => {
            let ended = task.await;
            let ended = ended.unwrap_or_else(|error| Err(FleetError::Assignment(error.to_string())));
            (run.clone(), ended)
        }
        None => std::future::pending().await,
    }
}

/// Where a server of this member listens: beside the controller everywhere, elsewhere where it reached the controller
/// from, which is where others reach it.
fn listen_at(ends: Ends) -> SocketAddr {
    match (ends.ours, ends.theirs) {
        (Some(ours), Some(theirs)) if ours.ip() != theirs.ip() => SocketAddr::new(ours.ip(), PORT),
        _ => SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)),
    }
}

/// The holder of a run, through the controller.
struct ToRun {
    contact: Contact,
    path: String,
}

impl Dial for ToRun {
    async fn dial(&mut self) -> Result<Channel, FleetError> {
        let opened = self.contact.open(&self.path, MAX_TO_PARTICIPANT).await;
        let (channel, _) = opened.map_err(|error| match error {
            ContactError::Unknown { .. } => FleetError::Unheld,
            error => FleetError::Join(error.to_string()),
        })?;
        Ok(channel)
    }
}

impl<N: FnMut(News<'_>)> Member<N> {
    /// Its owner wants it to end: so does its part in a run.
    pub(super) fn leave(&mut self) {
        self.next = None;
        if let Some(current) = &self.current {
            (self.news)(News::Leaves(&current.run));
            current.leave.send_replace(true);
        }
    }

    /// Takes part in a run, over a connection of its own.
    pub(super) fn begin(&mut self, summon: Summon, ends: Ends) {
        let Summon { run, name, token } = summon;
        (self.news)(News::Begins(&run));
        let Settings {
            about,
            server,
            limits,
            spool,
            ..
        } = &self.settings;
        let dial = ToRun {
            contact: self.contact.clone(),
            path: format!("{RUN}{run}"),
        };
        let join = Join {
            url: self.contact.place().to_string(),
            token,
            role: about.role,
            name: name.clone(),
            parent: None,
            listen: listen_at(ends),
            fleet: Some(self.token.clone()),
        };
        let terms = MemberTerms {
            key: FleetKey::new(&self.token),
            ends,
            server: server.clone(),
            interface: about.interface.clone(),
            limits: *limits,
            spent: self.spent.clone(),
            moved: Default::default(),
            total: netburn_traffic::client::Total::default(),
            paced: Default::default(),
        };
        let (leave, told) = watch::channel(false);
        let told = Leave::once(told);
        let manner = Manner {
            run: run.clone(),
            spool: Some(spool.clone()),
            patience: Some(PATIENCE),
            terms,
            leave: told.clone(),
        };
        let role = about.role;
        let task = tokio::spawn(async move {
            match role {
                Role::Agent => agent::run(dial, &join, manner).await,
                Role::Server => server::run(dial, &join, Some(PATIENCE), told)
                    .await
                    .map(|()| Ended::Delivered),
            }
        });
        self.current = Some(Current { run, name, task, leave });
    }

    /// Its part in a run is over.
    pub(super) fn ended(&mut self, (run, ended): (String, Result<Ended, FleetError>)) {
        self.current = None;
        let how = match &ended {
            Ok(Ended::Delivered) => "over, its results are delivered".to_owned(),
            Ok(Ended::Kept) => "over, its results wait here until they are wanted".to_owned(),
            Err(error) => error.to_string(),
        };
        (self.news)(News::Ends(&run, &how));
    }
}
