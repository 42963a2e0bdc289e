//! Checks of late results. Pure.

use super::{DEFAULT_MAX_BYTES, Part};
use netburn_protocol::messages::standing::{LateResults, LateResultsEnd};
use netburn_protocol::messages::{RejectReason, Rows, WrongRow};
use netburn_protocol::token::Token;

/// Received messages of one part of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    run: String,
    part: Part,
    taken: u64,
}

/// Reason for rejecting late results. The member keeps them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The results were not requested.
    #[error("unexpected late results of `{0}`")]
    NotAsked(String),
    /// Messages are missing.
    #[error("missing late rows of `{run}`: found sequence {got}, expected {expected}")]
    Gap {
        /// Name of the run.
        run: String,
        /// Received sequence number.
        got: u64,
        /// Expected sequence number.
        expected: u64,
    },
    /// Rows that the member can't report.
    #[error("late rows of `{0}`: {1}")]
    Row(String, WrongRow),
    /// The proof is not that of the part.
    #[error("wrong proof for late results of `{0}`")]
    Proof(String),
    /// There are more results than the part can have.
    #[error("late results of `{0}` exceed the maximum for this part")]
    TooMuch(String),
    /// The disk is full, or the run's folder is missing.
    #[error("late results of `{0}` can't be stored: {1}")]
    NoRoom(String, String),
    /// The results can't be added to the record.
    #[error("late results can't be added to their record: {0}")]
    NotAdded(String),
}

impl Rejection {
    /// Code of the rejection on the wire.
    #[must_use]
    pub fn code(&self) -> RejectReason {
        match self {
            Rejection::NotAsked(_) => RejectReason::UnknownRun,
            Rejection::Gap { .. } | Rejection::Row(..) | Rejection::TooMuch(_) => RejectReason::InvalidRows,
            Rejection::Proof(_) => RejectReason::InvalidToken,
            Rejection::NoRoom(..) | Rejection::NotAdded(_) => RejectReason::StorageFailed,
        }
    }
}

impl Intake {
    /// Creates the intake of a part of `run`, after `taken` messages.
    #[must_use]
    pub fn new(run: &str, part: &Part, taken: u64) -> Intake {
        Intake {
            run: run.to_owned(),
            part: part.clone(),
            taken,
        }
    }

    /// Name of the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Name of the part.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.part.name
    }

    /// Stations of the part.
    #[must_use]
    pub fn stations(&self) -> &[u16] {
        &self.part.stations
    }

    /// Last received sequence number.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Handles a message, with `kept` bytes stored before. Returns the rows to store, or `None` for a
    /// repeated message.
    ///
    /// # Errors
    /// [`Rejection`] if the message is of another run or part, out of order, about other stations, or
    /// beyond the maximum size. Then nothing changes.
    pub fn handle(&mut self, late: LateResults, kept: u64) -> Result<Option<Rows>, Rejection> {
        let LateResults {
            run,
            proof,
            sequence,
            batch,
        } = late;
        if run != self.run {
            return Err(Rejection::NotAsked(run));
        }
        self.check(&proof)?;
        if sequence <= self.taken {
            return Ok(None);
        }
        let expected = self.taken + 1;
        if sequence != expected {
            let got = sequence;
            return Err(Rejection::Gap { run, got, expected });
        }
        if kept > self.part.max_bytes.unwrap_or(DEFAULT_MAX_BYTES) {
            return Err(Rejection::TooMuch(run));
        }
        let checked = batch
            .clone()
            .into_rows(|station| self.part.stations.contains(&station), false);
        checked.map_err(|wrong| Rejection::Row(run, wrong))?;
        self.taken = sequence;
        Ok(Some(Rows { sequence, batch }))
    }

    /// Handles the end of the messages.
    ///
    /// # Errors
    /// [`Rejection::Proof`] if it is from another part.
    pub fn handle_end(&self, end: &LateResultsEnd) -> Result<(), Rejection> {
        self.check(&end.proof)
    }

    /// Checks the proof. Compares digests, so that the time does not depend on it.
    fn check(&self, proof: &str) -> Result<(), Rejection> {
        match &self.part.proof {
            Some(known) if !Token::known(known).admits(proof) => Err(Rejection::Proof(self.run.clone())),
            _ => Ok(()),
        }
    }
}
