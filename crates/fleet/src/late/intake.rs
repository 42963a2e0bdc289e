//! What may be taken of late results. Pure.

use crate::protocol::standing::Late;
use crate::protocol::{Rows, WrongRow};

/// The messages of one part of one run, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    run: String,
    name: String,
    stations: Vec<u16>,
    taken: u64,
}

/// Why late results aren't taken. The member keeps them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
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
    /// The disk has no room for them, or the run's folder is gone.
    #[error("late results of `{0}` can't be kept: {1}")]
    NoRoom(String, String),
    /// They are here, but can't be added to the record.
    #[error("late results can't be added to their record: {0}")]
    NotAdded(String),
}

impl Intake {
    /// Of the part `name` of `run`, which drove `stations`, after the first `taken` messages.
    #[must_use]
    pub fn new(run: &str, name: &str, stations: &[u16], taken: u64) -> Intake {
        Intake {
            run: run.to_owned(),
            name: name.to_owned(),
            stations: stations.to_vec(),
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
        &self.name
    }

    /// The stations that it drove.
    #[must_use]
    pub fn stations(&self) -> &[u16] {
        &self.stations
    }

    /// The last message that was taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// A message. `Some`: it is the next, and to be kept; `None`: it is here already.
    ///
    /// # Errors
    /// When it is another run's, out of order, or about stations that aren't this part's. Then nothing changes.
    pub fn handle(&mut self, late: Late) -> Result<Option<Rows>, Refusal> {
        let Late { run, sequence, batch } = late;
        if run != self.run {
            return Err(Refusal::NotAsked(run));
        }
        if sequence <= self.taken {
            return Ok(None);
        }
        let expected = self.taken + 1;
        if sequence != expected {
            let got = sequence;
            return Err(Refusal::Gap { run, got, expected });
        }
        let checked = batch
            .clone()
            .into_rows(|station| self.stations.contains(&station), false);
        checked.map_err(|wrong| Refusal::Row(run, wrong))?;
        self.taken = sequence;
        Ok(Some(Rows { sequence, batch }))
    }
}
