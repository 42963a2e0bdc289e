//! Sending of rows: messages, spool and connection.

use super::*;

/// Minimum sleep of the machine that is reported. Clock synchronisation over a device's network is less
/// precise than this.
const MIN_SLEEP: Duration = Duration::from_millis(10);

/// Waits until the connection accepts a message; forever if there is nothing to send.
pub(super) async fn has_capacity(room: Option<mpsc::Sender<ToController>>) {
    let room = match &room {
        Some(sender) => sender.reserve().await.ok(),
        None => None,
    };
    if room.is_none() {
        // The end of the connection is noticed when receiving.
        std::future::pending::<()>().await;
    }
}

impl<D: Dial> ControllerSession<D> {
    /// Sends a message if the queue has space.
    pub(super) fn try_send(&mut self, message: ToController) {
        if let Link::Up(connection, _) = &self.link {
            let _ = connection.outgoing.try_send(message);
        }
    }

    /// Sends rows while the queue has space. Rows that must be read from disk are sent after a later call.
    pub(super) fn send_rows(&mut self) -> Result<(), AgentError> {
        let Link::Up(connection, _) = &self.link else {
            return Ok(());
        };
        while self.outbox.has_next()
            && let Ok(room) = connection.outgoing.try_reserve()
        {
            let next = self.outbox.take_next();
            let next = next.map_err(AgentError::Spool)?;
            let Some(rows) = next else { break };
            room.send(ToController::Rows(rows));
        }
        Ok(())
    }

    /// Closes the current message of rows, and records storage problems.
    pub(super) fn seal(&mut self, clock: RunClock) {
        let lost = self.outbox.take_lost();
        if lost > 0 {
            let what = format!("{lost} rows were dropped: the agent's disk and memory were full");
            self.tell(clock, EventKind::Incomplete, &what);
        }
        self.outbox.seal();
        if let Some(error) = self.outbox.take_storage_error() {
            let what = format!(
                "results can't be stored on the agent's disk ({error}); up to {MAX_MEMORY_ROWS} rows are kept in memory"
            );
            tracing::warn!("{what}");
            self.tell(clock, EventKind::Warning, &what);
        }
    }

    /// Records an increase of the total sleep time. The clock stops during sleep, so later times are that
    /// much too early on it.
    pub(super) fn report_sleep(&mut self, clock: RunClock, slept: Duration) {
        let longer = slept.checked_sub(self.slept).filter(|longer| *longer >= MIN_SLEEP);
        if let Some(longer) = longer {
            self.slept = slept;
            let what = format!(
                "the device slept for {}: its clock stopped, so its times from here on are too early by that much",
                Duration::from_millis((longer.as_nanos() + MIN_SLEEP.as_nanos() / 2) / MIN_SLEEP.as_nanos() * 10)
            );
            tracing::warn!("{what}");
            self.tell(clock, EventKind::Warning, &what);
        }
    }

    /// Adds measured rows.
    pub(super) fn put(&mut self, rows: &[Row], clock: RunClock) {
        for row in rows {
            if self.outbox.put(row) {
                self.seal(clock);
            }
        }
    }

    /// Adds an event for each of the agent's stations to the rows.
    pub(crate) fn tell(&mut self, clock: RunClock, kind: EventKind, text: &str) {
        for station in self.stations.clone() {
            let full = self.outbox.put(&Row::Event(EventRow {
                station: Some(station),
                workload: None,
                at: clock.now(),
                length: 0,
                kind,
                detail: text.into(),
            }));
            if full {
                self.outbox.seal();
            }
        }
    }
}
