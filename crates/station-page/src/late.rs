//! Results of an ended run that the controller has not requested yet.

use crate::delivery::{Delivery, Message};
use crate::fleet::Fleet;
use crate::host::Host;
use crate::saved_session::SavedSession;
use crate::stored;
use netburn_protocol::messages::standing::{LateResultsEnd, PendingResults, proof};
use netburn_protocol::messages::{MAX_TEXT, shorten};

/// Maximum number of messages without an acknowledgement.
const MAX_UNACKED: u64 = 64;

/// Results of one run.
pub(crate) struct Late {
    state: SavedSession,
    delivery: Delivery,
    /// Last sequence number that is acknowledged on this connection.
    acknowledged: u64,
    /// Last sequence number that was sent; `None` if nothing is requested, or everything was sent.
    sent: Option<u64>,
}

impl Late {
    pub(crate) fn new(state: SavedSession, delivery: Delivery) -> Late {
        Late {
            state,
            delivery,
            acknowledged: 0,
            sent: None,
        }
    }

    /// Loads stored results, also those of a run that was not over.
    pub(crate) fn restore(host: &mut Host, state: SavedSession) -> Late {
        let delivery = Delivery::restore(host, &state.invitation.run, state.sequence);
        let was_late = state.is_late;
        let state = SavedSession { is_late: true, ..state };
        if !was_late {
            host.put(vec![state.entry()]);
        }
        Late::new(state, delivery)
    }

    /// Size of the results, in bytes of JSON.
    pub(crate) fn size(&self) -> usize {
        self.delivery.size()
    }

    /// Reason for the early end of the station's part, if it did not complete it.
    pub(crate) fn early_end(&self) -> Option<&str> {
        let is_complete = self.state.report.is_some();
        (!is_complete).then(|| self.state.reason.as_deref().unwrap_or("no reason was given"))
    }

    /// Announces the results on a new connection, whose controller may have less than its predecessor acknowledged.
    pub(crate) fn announce(&mut self) -> PendingResults {
        self.acknowledged = 0;
        self.sent = None;
        PendingResults {
            run: self.state.invitation.run.clone(),
            name: self.state.invitation.name.clone(),
            messages: self.delivery.sequence,
        }
    }

    /// The controller requests the results.
    pub(crate) fn handle_request(&mut self, host: &mut Host, fleet: &Fleet) {
        self.sent = Some(self.acknowledged);
        self.deliver(host, fleet);
    }

    /// The fleet's controller has all batches up to `sequence`.
    pub(crate) fn handle_acknowledged(&mut self, host: &mut Host, fleet: &Fleet, sequence: u64) {
        self.delivery.handle_acknowledged(host, sequence);
        self.acknowledged = self.acknowledged.max(sequence.min(self.delivery.sequence));
        self.deliver(host, fleet);
    }

    /// Sends results, as far as the acknowledgements permit.
    fn deliver(&mut self, host: &mut Host, fleet: &Fleet) {
        let last = self.delivery.sequence;
        let Some(sent) = self.sent.map(|sent| sent.max(self.acknowledged)) else {
            return;
        };
        let end = last.min(self.acknowledged + MAX_UNACKED);
        // Batches that the run's controller acknowledged are in its record. An empty one holds their sequence number.
        let run = &self.state.invitation.run;
        let proof = proof(&self.state.invitation.token);
        let messages = self.delivery.messages.iter();
        let mut messages = messages.skip_while(|message| message.sequence <= sent).peekable();
        for sequence in sent + 1..=end {
            let message: Option<&Message> = messages.next_if(|message| message.sequence == sequence);
            let batch = message.map_or("{}", |message| &message.batch);
            fleet.send_text(host, stored::late_results(run, &proof, sequence, batch));
        }
        self.sent = Some(end).filter(|end| *end < last);
        if self.sent.is_some() {
            return;
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
            health: None,
            stop_requested_at: self.state.stop_requested_at,
        };
        fleet.send_text(host, stored::late_results_end(end, self.state.report.as_ref()));
    }
}
