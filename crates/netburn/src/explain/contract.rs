//! The internet line beside its contract.

use crate::args::ExplainArgs;
use netburn_analysis::format::mbps;
use netburn_fit::Models;
use netburn_fit::home::Parameter;
use netburn_units::BitRate;
use netburn_workload::Direction;
use serde_json::{Value, json};

/// A line is below its contract if its rate is below this share of it. The headers of the line's protocol take a few percent.
const SHARE: f64 = 0.9;
/// Probability from which the answer is yes. From 5 % down it is no.
const SURE: f64 = 0.95;

/// A promised rate beside the models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Contract {
    direction: Direction,
    /// Promised rate in Mbit/s.
    promised: f64,
    /// Median of the models in Mbit/s.
    modelled: f64,
    /// Probability that the line is below its contract, if the prior is that of this line.
    below: f64,
    /// True if the measurement filled the line. Otherwise the upper end of its rate is that of the prior, which knows nothing
    /// about this line.
    was_full: bool,
    /// True if the models explain the measurement so well that it identifies the line.
    is_precise: bool,
}

/// The promised rates beside those of the models. Empty if the line of the models is not the internet line.
pub(super) fn contracts(args: &ExplainArgs, models: &Models) -> Vec<Contract> {
    if !models.home().has_internet_line {
        return Vec::new();
    }
    let of = |direction: Direction, rate: Option<BitRate>| {
        let promised = rate?.as_mbps_f64();
        let line = Parameter::Line(direction);
        Some(Contract {
            direction,
            promised,
            modelled: models.median(line)?,
            below: models.probability(line, |mbps| mbps < SHARE * promised)?,
            was_full: models.home().line[direction as usize].is_full(),
            is_precise: models.is_precise(),
        })
    };
    let both = [
        of(Direction::Down, args.contract_down),
        of(Direction::Up, args.contract_up),
    ];
    both.into_iter().flatten().collect()
}

impl Contract {
    /// True if the line is below its contract, false if it is not. `None` if the measurement leaves this open.
    fn is_below(&self) -> Option<bool> {
        match self.below {
            below if below >= SURE && self.was_full && self.is_precise => Some(true),
            below if below <= 1.0 - SURE => Some(false),
            _ => None,
        }
    }

    pub(super) fn sentence(&self) -> String {
        let (way, promised) = (self.direction.key(), mbps(self.promised));
        let line = format!("The internet line has about {} Mbit/s {way}", mbps(self.modelled));
        match self.is_below() {
            Some(true) => format!("{line}, which is below the {promised} Mbit/s of the contract."),
            Some(false) => {
                format!("The internet line {way} reaches the {promised} Mbit/s of the contract, to within 10 %.")
            }
            None => {
                let reason = if self.is_precise {
                    "A device with a faster link, such as a cable, would show it."
                } else {
                    "The model explains it only in part, so measure again without other load on the network."
                };
                format!(
                    "This measurement can't tell if the internet line {way} reaches the {promised} Mbit/s of the contract. \
                     {reason}"
                )
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "direction": self.direction.key(),
            "promised_mbps": self.promised,
            "modelled_mbps": self.modelled,
            "probability_below": self.below,
            "below": self.is_below(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_needs_a_probability_of_95_percent() {
        let contract = |below| Contract {
            direction: Direction::Down,
            promised: 100.0,
            modelled: 62.0,
            below,
            was_full: true,
            is_precise: true,
        };
        let answers = [1.0, 0.95, 0.9, 0.06, 0.04, 0.0].map(|below| contract(below).is_below());
        assert_eq!(answers, [Some(true), Some(true), None, None, Some(false), Some(false)]);
        assert_eq!(
            contract(1.0).sentence(),
            "The internet line has about 62.0 Mbit/s down, which is below the 100.0 Mbit/s of the contract."
        );
        assert!(contract(0.5).sentence().starts_with("This measurement can't tell"));
        // A line that was not full may be much faster, but not slower than what was measured.
        let not_full = |below| Contract {
            was_full: false,
            ..contract(below)
        };
        assert_eq!(
            [not_full(1.0), not_full(0.0)].map(|one| one.is_below()),
            [None, Some(false)]
        );
        let sentence = not_full(1.0).sentence();
        assert!(
            sentence.contains("faster link") && !sentence.contains("model"),
            "{sentence}"
        );
    }

    /// A faster link does not make a model better.
    #[test]
    fn an_imprecise_model_is_the_reason_for_no_answer() {
        for was_full in [true, false] {
            let contract = Contract {
                direction: Direction::Up,
                promised: 100.0,
                modelled: 62.0,
                below: 1.0,
                was_full,
                is_precise: false,
            };
            assert_eq!(contract.is_below(), None);
            let sentence = contract.sentence();
            assert!(
                sentence.contains("The model explains it only in part") && !sentence.contains("faster link"),
                "{sentence}"
            );
        }
    }
}
