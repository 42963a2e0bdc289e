//! What may be taken of late results. Pure.

use super::{DEFAULT_MAX_BYTES, Part};
use crate::controller::Token;
use crate::protocol::standing::{LateResults, LateResultsEnd};
use crate::protocol::{RejectReason, Rows, WrongRow};

/// The messages of one part of one run, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    run: String,
    part: Part,
    taken: u64,
}

/// Why late results aren't taken. The member keeps them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Nobody asked for them.
    #[error("results of `{0}` were not asked for")]
    NotAsked(String),
    /// Messages are missing before this one.
    #[error("late rows {got} of `{run}` came where {expected} were next")]
    Gap {
        /// The run.
        run: String,
        /// What came.
        got: u64,
        /// What should have.
        expected: u64,
    },
    /// Rows that can't be the member's.
    #[error("late rows of `{0}`: {1}")]
    Row(String, WrongRow),
    /// They come from somebody else than who took part.
    #[error("late results of `{0}` don't come from who took part in it")]
    Proof(String),
    /// There are more of them than the part can have.
    #[error("late results of `{0}` are more than its part in the run can have")]
    TooMuch(String),
    /// The disk has no room for them, or the run's folder is gone.
    #[error("late results of `{0}` can't be kept: {1}")]
    NoRoom(String, String),
    /// They are here, but can't be added to the record.
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
    /// Of a part of `run`, after the first `taken` messages.
    #[must_use]
    pub fn new(run: &str, part: &Part, taken: u64) -> Intake {
        Intake {
            run: run.to_owned(),
            part: part.clone(),
            taken,
        }
    }

    /// The run that it is of.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Whose part it is.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.part.name
    }

    /// The stations that it drove.
    #[must_use]
    pub fn stations(&self) -> &[u16] {
        &self.part.stations
    }

    /// The last message that was taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// A message, where so many bytes of others are kept. `Some`: it is the next, and to be kept; `None`: it is here already.
    ///
    /// # Errors
    /// When it is another run's or somebody else's, out of order, about stations that aren't this part's, or there are
    /// more than the part can have. Then nothing changes.
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

    /// There are no more messages.
    ///
    /// # Errors
    /// When somebody else says so.
    pub fn handle_end(&self, end: &LateResultsEnd) -> Result<(), Rejection> {
        self.check(&end.proof)
    }

    /// Whether `proof` is this part's. Compares digests, so that the time it takes says nothing about it.
    fn check(&self, proof: &str) -> Result<(), Rejection> {
        match &self.part.proof {
            Some(known) if !Token::known(known).admits(proof) => Err(Rejection::Proof(self.run.clone())),
            _ => Ok(()),
        }
    }
}
