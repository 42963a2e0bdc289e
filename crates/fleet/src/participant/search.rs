//! A controller that is gone, and the search for it.

use super::*;

impl<D: Dial> Conversation<D> {
    /// The connection is gone: another is looked for, if that is our way.
    pub(super) fn lose(&mut self, why: String) -> Result<News, FleetError> {
        let Link::Up(_, dial) = std::mem::replace(&mut self.link, Link::Gone) else {
            return Err(FleetError::Gone(why));
        };
        if self.patience.is_none() {
            return Err(FleetError::Gone(why));
        }
        tracing::info!(why, "the controller is gone; it is looked for");
        self.link = Link::Down {
            since: Instant::now(),
            search: self.search(dial, self.jittered(RETRY.0)),
            delay: RETRY.0 * 2,
            why,
        };
        Ok(News::Nothing)
    }

    /// An attempt has ended.
    pub(super) fn found(&mut self, dial: D, found: Result<(Line, Welcome), FleetError>) -> Result<News, FleetError> {
        match found {
            Ok((line, welcome)) => {
                tracing::info!(welcome.taken, "the controller is back");
                self.link = Link::Up(Box::new(line), dial);
                self.unheld = None;
                self.outbox.rewind(welcome.taken);
                Ok(News::Back)
            }
            // To ask again would get the same answer, unless it is our own connection before that isn't known to be gone.
            Err(FleetError::Refused(reason)) if !reason.contains(JOINED_ALREADY) => {
                self.link = Link::Gone;
                Err(FleetError::Refused(reason))
            }
            Err(error) => {
                let unheld = matches!(error, FleetError::Unheld);
                let since = *self.unheld.get_or_insert_with(Instant::now);
                if !unheld {
                    self.unheld = None;
                } else if since.elapsed() > std(UNHELD) {
                    self.link = Link::Gone;
                    return Err(FleetError::Unheld);
                }

                let (now, next) = match &self.link {
                    Link::Down { since, delay, .. } => (*since, *delay),
                    Link::Up(..) | Link::Gone => (Instant::now(), RETRY.0),
                };
                self.link = Link::Down {
                    since: now,
                    search: self.search(dial, self.jittered(next)),
                    delay: (next * 2).min(if unheld { UNHELD / 3 } else { RETRY.1 }),
                    why: error.to_string(),
                };
                Ok(News::Nothing)
            }
        }
    }

    /// Tries to reach the controller after `delay`.
    pub(super) fn search(&self, mut dial: D, delay: Duration) -> Search<D> {
        let (join, clock) = (self.join.clone(), self.clock);
        Box::pin(async move {
            tokio::time::sleep(std(delay)).await;
            let found = Line::open(&mut dial, &join, true, clock).await;
            (dial, found)
        })
    }

    /// Between three and five quarters of it: not everyone who was lost at once comes back at once.
    fn jittered(&self, delay: Duration) -> Duration {
        let dice = self.clock.now().0.unsigned_abs() / 1000 % 1024;
        Duration::from_nanos(delay.as_nanos() / 4 * 3 + delay.as_nanos() / 2 / 1024 * dice)
    }

    /// Gives up a connection on which nothing comes any more, and the search when it has taken too long: before the
    /// start, or once our part is over. While it runs nothing is given up.
    pub(super) fn look_for_controller(&mut self, over: Option<Instant>) -> Result<(), FleetError> {
        let Some(patience) = self.patience else { return Ok(()) };
        match &self.link {
            Link::Up(line, _) => {
                let limit = match self.outbox.waiting() {
                    0 => DEAF_AFTER,
                    _ => DEAF,
                };
                if over.is_some() && line.heard.elapsed() > std(limit)
                    || self.outbox.is_owed() && line.heard.elapsed() > std(DEAF)
                {
                    self.lose(format!("nothing was heard of it for {limit}"))?;
                }
                Ok(())
            }
            Link::Down { since, why, .. } => {
                let since = over.map_or(*since, |over| over.max(*since));
                match since.elapsed() > std(patience) && (over.is_some() || !self.running) {
                    true => Err(FleetError::Gone(why.clone())),
                    false => Ok(()),
                }
            }
            Link::Gone => Ok(()),
        }
    }
}
