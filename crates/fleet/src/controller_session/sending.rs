//! Rows on their way: into messages, onto the disk, over the connection.

use super::*;

/// The shortest sleep that is told: no clock is known better than this over a device's network.
const NAP: Duration = Duration::from_millis(10);

/// Until the connection takes another message; never where there is nothing to send.
pub(super) async fn has_capacity(room: Option<mpsc::Sender<ToController>>) {
    let room = match &room {
        Some(sender) => sender.reserve().await.ok(),
        None => None,
    };
    if room.is_none() {
        // The connection's end is told elsewhere.
        std::future::pending::<()>().await;
    }
}

impl<D: Dial> ControllerSession<D> {
    /// Says something that isn't worth waiting for.
    pub(super) fn try_send(&mut self, message: ToController) {
        if let Link::Up(connection, _) = &self.link {
            let _ = connection.outgoing.try_send(message);
        }
    }

    /// Sends as much as the connection takes at once.
    pub(super) fn send_rows(&mut self) -> Result<(), FleetError> {
        let Link::Up(connection, _) = &self.link else {
            return Ok(());
        };
        while self.outbox.has_next()
            && let Ok(room) = connection.outgoing.try_reserve()
        {
            let next = self.outbox.take_next();
            let next =
                next.map_err(|error| FleetError::ControllerLost(format!("what was spooled can't be read: {error}")))?;
            let Some(rows) = next else { break };
            room.send(ToController::Rows(rows));
        }
        Ok(())
    }

    /// Makes a message of the rows that there are, and says what became of them where that isn't as it should be.
    pub(super) fn seal(&mut self, clock: RunClock) {
        let lost = self.outbox.take_lost();
        if lost > 0 {
            let what = format!("{lost} rows were let go: neither the agent's disk nor its memory had room for them");
            self.tell(clock, EventKind::Incomplete, &what);
        }
        if let Err(error) = self.outbox.seal() {
            let what = format!(
                "the agent's disk takes no more results ({error}); up to {MAX_MEMORY_ROWS} rows are kept in its memory instead"
            );
            tracing::warn!("{what}");
            self.tell(clock, EventKind::Warning, &what);
        }
    }

    /// This machine has slept for `slept` in all: says so where that is more than it was. Its clock stood still meanwhile, so
    /// that everything after is that much late by everybody else's.
    pub(super) fn report_sleep(&mut self, clock: RunClock, slept: Duration) {
        let longer = slept.checked_sub(self.slept).filter(|longer| *longer >= NAP);
        if let Some(longer) = longer {
            self.slept = slept;
            let what = format!(
                "the device slept for {}: its clock stood still, and what it measured from here on came that much later",
                Duration::from_millis((longer.as_nanos() + NAP.as_nanos() / 2) / NAP.as_nanos() * 10)
            );
            tracing::warn!("{what}");
            self.tell(clock, EventKind::Warning, &what);
        }
    }

    /// Puts an event about all our stations into the next message.
    pub(crate) fn tell(&mut self, clock: RunClock, kind: EventKind, text: &str) {
        for station in self.stations.clone() {
            let full = self.outbox.put(&Row::Event(EventRow {
                station: Some(station),
                workload: None,
                at: clock.now(),
                length: 0,
                kind,
                text: text.to_owned(),
            }));
            if full {
                let _ = self.outbox.seal();
            }
        }
    }

    /// Has the spool synced now and then, by a thread that may wait for the disk.
    pub(super) async fn sync(&mut self) {
        if self.syncing.as_ref().is_some_and(|task| !task.is_finished()) || self.synced.elapsed() < to_std(SYNC) {
            return;
        }
        if let Some(task) = self.syncing.take()
            && let Ok(Err(error)) = task.await
        {
            tracing::warn!(%error, "the spool can't be synced");
        }
        self.synced = Instant::now();
        let file = self.outbox.unsynced();
        self.syncing = file.map(|file| tokio::task::spawn_blocking(move || file.sync_data()));
    }
}
