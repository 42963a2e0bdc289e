//! Reconnecting to the controller.

use super::*;

impl<D: Dial> ControllerSession<D> {
    /// Handles a lost connection: starts to reconnect, if allowed.
    pub(super) fn handle_connection_lost(&mut self, why: ConnectionError) -> Result<SessionEvent, AgentError> {
        let Link::Up(_, dial) = std::mem::replace(&mut self.link, Link::Gone) else {
            return Err(AgentError::ControllerLost(why));
        };
        if self.reconnect_timeout.is_none() {
            return Err(AgentError::ControllerLost(why));
        }
        tracing::info!(%why, "connection to the controller lost; reconnecting");
        self.link = Link::Down {
            since: Instant::now(),
            attempt: self.reconnect(dial, self.jittered(MIN_RETRY_DELAY)),
            delay: MIN_RETRY_DELAY * 2,
            why,
        };
        Ok(SessionEvent::Nothing)
    }

    /// Handles the end of an attempt.
    pub(super) fn found(
        &mut self,
        dial: D,
        found: Result<(Connection, Welcome), ConnectionError>,
    ) -> Result<SessionEvent, AgentError> {
        match found {
            Ok((connection, welcome)) => {
                tracing::info!(welcome.last_sequence, "reconnected to the controller");
                self.link = Link::Up(Box::new(connection), dial);
                self.run_unknown = None;
                self.outbox.rewind(welcome.last_sequence);
                Ok(SessionEvent::Reconnected)
            }
            // Another attempt would give the same result, unless the controller has not noticed the end of
            // the old connection.
            Err(ConnectionError::Rejected(rejected)) if rejected.code != RejectReason::NameTaken => {
                self.link = Link::Gone;
                Err(AgentError::ControllerLost(ConnectionError::Rejected(rejected)))
            }
            Err(error) => {
                let run_unknown = matches!(error, ConnectionError::UnknownRun);
                let since = *self.run_unknown.get_or_insert_with(Instant::now);
                if !run_unknown {
                    self.run_unknown = None;
                } else if since.elapsed() > to_std(RUN_UNKNOWN_TIMEOUT) {
                    self.link = Link::Gone;
                    return Err(AgentError::ControllerLost(error));
                }

                let (now, next) = match &self.link {
                    Link::Down { since, delay, .. } => (*since, *delay),
                    Link::Up(..) | Link::Gone => (Instant::now(), MIN_RETRY_DELAY),
                };
                self.link = Link::Down {
                    since: now,
                    attempt: self.reconnect(dial, self.jittered(next)),
                    delay: (next * 2).min(if run_unknown {
                        RUN_UNKNOWN_TIMEOUT / 3
                    } else {
                        MAX_RETRY_DELAY
                    }),
                    why: error,
                };
                Ok(SessionEvent::Nothing)
            }
        }
    }

    /// Tries to reconnect after `delay`.
    pub(super) fn reconnect(&self, mut dial: D, delay: Duration) -> Attempt<D> {
        let (join, clock) = (self.join.clone(), self.clock);
        Box::pin(async move {
            tokio::time::sleep(to_std(delay)).await;
            let found = Connection::open(&mut dial, &join, true, clock).await;
            (dial, found)
        })
    }

    /// Random delay of 75 to 125 % of `delay`, so that agents do not all reconnect at once.
    fn jittered(&self, delay: Duration) -> Duration {
        let dice = self.clock.now().0.unsigned_abs() / 1000 % 1024;
        Duration::from_nanos(delay.as_nanos() / 4 * 3 + delay.as_nanos() / 2 / 1024 * dice)
    }

    /// Ends a silent connection, and attempts to reconnect that took too long. They end only before the start and
    /// after the end of the part; during the run they continue.
    pub(super) fn check_connection(&mut self, over: Option<Instant>) -> Result<(), AgentError> {
        let Some(reconnect_timeout) = self.reconnect_timeout else {
            return Ok(());
        };
        match &self.link {
            Link::Up(connection, _) => {
                let limit = match self.outbox.pending() {
                    0 => FINAL_ACK_TIMEOUT,
                    _ => ACK_TIMEOUT,
                };
                if over.is_some() && connection.heard.elapsed() > to_std(limit)
                    || self.outbox.is_owed() && connection.heard.elapsed() > to_std(ACK_TIMEOUT)
                {
                    self.handle_connection_lost(ConnectionError::Silent(limit))?;
                }
                Ok(())
            }
            Link::Down { since, .. } => {
                let since = over.map_or(*since, |over| over.max(*since));
                if since.elapsed() > to_std(reconnect_timeout)
                    && (over.is_some() || !self.running)
                    && let Link::Down { why, .. } = std::mem::replace(&mut self.link, Link::Gone)
                {
                    return Err(AgentError::ControllerLost(why));
                }
                Ok(())
            }
            Link::Gone => Ok(()),
        }
    }
}
