//! Results of an ended run that the controller has not requested yet.

use crate::delivery::{Delivery, Message};
use crate::fleet::Fleet;
use crate::host::Host;
use crate::session::SavedSession;
use netburn_protocol::messages::standing::{FromMember, LateResults, LateResultsEnd, PendingResults, proof};
use netburn_protocol::messages::{MAX_TEXT, shorten};

/// Results of one run.
pub(crate) struct Late {
    pub(crate) state: SavedSession,
    delivery: Delivery,
}

impl Late {
    pub(crate) fn new(state: SavedSession, delivery: Delivery) -> Late {
        Late { state, delivery }
    }

    /// Loads stored results.
    pub(crate) fn restore(host: &Host, state: SavedSession) -> Late {
        let delivery = Delivery::restore(host, &state.invitation.run, state.sequence);
        Late { state, delivery }
    }

    /// Reason for the early end of the station's part, if it did not complete it.
    pub(crate) fn early_end(&self) -> Option<&str> {
        let is_complete = self.state.report.is_some();
        (!is_complete).then(|| self.state.reason.as_deref().unwrap_or("no reason was given"))
    }

    pub(crate) fn pending(&self) -> PendingResults {
        PendingResults {
            run: self.state.invitation.run.clone(),
            name: self.state.invitation.name.clone(),
            messages: self.delivery.sequence,
        }
    }

    /// Sends all results.
    pub(crate) fn deliver(&self, host: &mut Host, fleet: &Fleet) {
        // Batches that the run's controller acknowledged are in its record. An empty one holds their sequence number.
        let run = &self.state.invitation.run;
        let proof = proof(&self.state.invitation.token);
        let mut messages = self.delivery.messages.iter().peekable();
        for sequence in 1..=self.delivery.sequence {
            let message: Option<&Message> = messages.next_if(|message| message.sequence == sequence);
            let results = LateResults {
                run: run.clone(),
                proof: proof.clone(),
                sequence,
                batch: message.map(|message| message.batch.clone()).unwrap_or_default(),
            };
            fleet.send(host, &FromMember::LateResults(results));
        }
        let error = match (&self.state.report, &self.state.reason) {
            (Some(_), _) => None,
            (None, Some(reason)) => Some(shorten(reason.clone(), MAX_TEXT)),
            (None, None) => Some("the station did not complete its assignment".to_owned()),
        };
        let end = LateResultsEnd {
            run: run.clone(),
            proof,
            error,
            health: self.state.report.clone(),
            stop_requested_at: self.state.stop_requested_at,
        };
        fleet.send(host, &FromMember::LateResultsEnd(end));
    }

    /// The fleet's controller has all batches up to `sequence`.
    pub(crate) fn handle_acknowledged(&mut self, host: &mut Host, sequence: u64) {
        let run = self.state.invitation.run.clone();
        self.delivery.handle_acknowledged(host, &run, sequence);
    }
}
