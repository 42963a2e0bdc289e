//! The plan of a number.

use super::home::WIRED_HOMES;
use super::plan::{CrosscheckPlan, Draw};

impl CrosscheckPlan {
    /// Generates the plan with this number.
    #[must_use]
    pub fn generate(number: u64) -> Self {
        let mut draw = Draw::new(number);
        if number >= WIRED_HOMES {
            Self::wired_home(number, &mut draw)
        } else {
            Self::one_cell(number, &mut draw)
        }
    }
}
