//! Keys of `dash`.

use super::{KindKeys, KindSection, keys};
use crate::decode::{Context, Section, Spanned};
use crate::plan::WorkloadSection;
use crate::problem::Problem;
use netburn_units::BitRate;
use netburn_workload::Goal;
use netburn_workload::kinds::DashClient;

keys!(DashClient {
    connections => connections,
    dash => dash,
});

impl KindSection for DashClient {
    /// Reports an invalid value at the key that sets it, or at the section if that value is a default.
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        let (Some(section), Err((key, problem))) = (&section.dash, self.dash.validate()) else {
            return;
        };
        let message = format!("invalid `{key}`: {problem}");
        let at = section.present().into_iter().find(|(name, ..)| *name == key);
        let (place, path) = at.map_or((&section.place, section.path.as_str()), |(_, place, path)| {
            (place, path)
        });
        cx.problems.push(Problem::new(place.clone(), path, message, None));
    }

    fn check_default_goals(&self, goals: &[Goal], section: &WorkloadSection, cx: &mut Context) {
        let highest = self.dash.highest();
        if let (Some(section), Some((least, _))) = (&section.dash, goals.iter().find_map(Goal::rate))
            && highest < least
        {
            let message = format!("the default goal is segments of {least}, and the highest bit rate is {highest}");
            let help = "set a goal, such as `goal = [\"3 Mbit/s\", \"no stall\"]`";
            cx.problem_at(section, message, help.to_owned());
        }
    }

    fn check_rate(&self, goal: &Spanned<Goal>, at_least: BitRate, cx: &mut Context) {
        let highest = self.dash.highest();
        if at_least > highest {
            let message = format!("{at_least} cannot be met: the highest bit rate is {highest}");
            cx.problem_at(goal, message, "extend the `ladder`, or lower the goal".to_owned());
        }
    }
}
