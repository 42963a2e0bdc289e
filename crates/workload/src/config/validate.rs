//! Limits of a configuration.

use super::{Activity, Config, ConfigError, Goal, MIN_REPEAT, MIN_WINDOW, wrong};
use netburn_units::Duration;

impl Config {
    /// Checks that all values are in range and consistent. A kind determines which goals it [supports](crate::Kind::supports).
    ///
    /// # Errors
    /// The first invalid value, with its key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.settings.pattern().validate_settings()?;
        self.check_activity()?;
        let (longest, text) = if self.kind().is_one_way() {
            // A lost packet of a call is outstanding until its timeout.
            (Duration::from_secs(2), "2 s")
        } else {
            (Duration::from_secs(3600), "1 h")
        };
        if self.timeout < Duration::from_millis(10) || self.timeout > longest {
            return wrong("timeout", format!("is {}; 10 ms to {text}", self.timeout));
        }
        self.check_goals()
    }

    fn check_activity(&self) -> Result<(), ConfigError> {
        let Activity { start, stop, repeat } = self.activity;
        let length = stop.map(|stop| stop.saturating_sub(start));
        if let (Some(stop), Some(length)) = (stop, length)
            && length < MIN_WINDOW
        {
            let text = format!("is {stop}; at least {MIN_WINDOW} after `start`, which is {start}");
            return wrong("stop", text);
        }
        let Some(repeat) = repeat else { return Ok(()) };
        match length {
            _ if !self.kind().can_repeat => wrong("repeat", format!("can't be set on kind `{}`", self.kind())),
            None => wrong("repeat", "needs a `stop`"),
            Some(length) if repeat < length || repeat < MIN_REPEAT => {
                let text = format!("is {repeat}; at least {}", length.max(MIN_REPEAT));
                wrong("repeat", text)
            }
            Some(_) => Ok(()),
        }
    }

    fn check_goals(&self) -> Result<(), ConfigError> {
        let kind = self.kind();
        for (index, goal) in self.goals.iter().enumerate() {
            if !(kind.supports)(goal) {
                return wrong(
                    "goal",
                    format!("is not supported on kind `{kind}`; {}", goal.supporting_kinds()),
                );
            }
            goal.validate()?;
            if *goal == Goal::NoStall && self.playback().is_none() {
                return wrong("goal", "can't be `no stall` without a `player`");
            }
            let same = |other: &&Goal| std::mem::discriminant(*other) == std::mem::discriminant(goal);
            if let Some(other) = self.goals[..index].iter().find(same) {
                let (first, second) = (other.describe(kind), goal.describe(kind));
                return wrong("goal", format!("has two goals of one type: {first} and {second}"));
            }
        }
        Ok(())
    }
}
