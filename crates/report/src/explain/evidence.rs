//! What the rules look at.

use super::Cause;
use netburn_record::{Ground, Health, Row, Summary};
use netburn_scenario::Plan;

/// What the rules look at, gathered from a run's rows in bounded memory.
///
/// **Call order:** [`new`](Self::new), [`row`](Self::row) for every row of the run in any order (of several runs of one plan: all of
/// theirs), then [`causes`](Self::causes).
#[derive(Debug, Clone)]
pub struct Evidence {
    plan: Plan,
    ground: Ground,
}

impl Evidence {
    /// Of a run of that plan there.
    #[must_use]
    pub fn new(plan: &Plan, ground: Ground) -> Self {
        Evidence {
            plan: plan.clone(),
            ground,
        }
    }

    /// Takes a row.
    pub fn row(&mut self, row: &Row) {
        let _ = (row, &self.plan, self.ground);
    }

    /// What it all suggests, the gravest first.
    #[must_use]
    pub fn causes(&self, _summary: &Summary, _health: &[Health]) -> Vec<Cause> {
        Vec::new()
    }
}
