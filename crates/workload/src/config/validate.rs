//! Limits of a configuration.

use super::{
    Activity, BIN, Config, Goal, Kind, LoadConnections, MAX_LOAD_CONNECTIONS, MAX_PROBE_INTERVAL, MAX_RATING, MAX_RPM,
    MAX_VOICE_INTERVAL, MIN_PERIOD, MIN_PROBE_INTERVAL, MIN_REPEAT, MIN_VOICE_INTERVAL, MIN_WINDOW, PlayerConfig,
    ProbeTarget, Streams,
};
use crate::direction::Direction;
use netburn_units::{ByteSize, Duration, Probability};

/// Invalid configuration: the key as in scenario files, and the problem with its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct ConfigError {
    /// Key of the invalid value: `objects`, `object_size`, `interval`, `jitter`, `outstanding`,
    /// `streams`, `load_down`, `load_up`, `up`, `down`, `adaptation`, `stop`, `repeat`, `player`, `dash`, `target`, `goal`, `timeout`.
    pub key: &'static str,
    /// Problem, and the valid range.
    pub problem: String,
}

impl Config {
    /// Checks that all values are in range and consistent.
    ///
    /// Goals by kind:
    ///
    /// - latency: all kinds except `download` and `upload`, whose objects have no meaningful size, and
    ///   `voice`
    /// - loss: kinds with streams
    /// - no gap: `game`
    /// - frames: `cloud-gaming`
    /// - no freeze: `video-call`
    /// - rate: `stream`, `dash`, `download` and `upload`
    /// - no stall: a `stream` with a player, and `dash`
    /// - quality: `voice`, whose only goal it is
    /// - round trips per minute: `responsiveness`, whose only goal it is
    ///
    /// # Errors
    /// The first invalid value, with its key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_objects()?;
        self.check_period()?;
        self.check_activity()?;
        self.check_streams()?;
        self.check_load()?;
        within("outstanding", u64::from(self.outstanding), 1, 1000)?;
        within("streams", u64::from(self.streams), 1, 1000)?;
        if self.streams > 1 && !self.kind.is_bulk() {
            return wrong(
                "streams",
                format!("is for kinds `download` and `upload`, not `{}`", self.kind),
            );
        }
        let moved_at_once = u64::from(self.objects) * u64::from(self.max_in_flight());
        if moved_at_once > 10_000 {
            let key = if self.kind.is_bulk() { "streams" } else { "outstanding" };
            return wrong(
                key,
                format!("times `objects` is {moved_at_once} requests at once; at most 10000"),
            );
        }
        // A lost packet of a call is outstanding until its timeout.
        let (longest, text) = match self.kind {
            kind if kind.is_one_way() => (Duration::from_secs(2), "2 s"),
            _ => (Duration::from_secs(3600), "1 h"),
        };
        if self.timeout < Duration::from_millis(10) || self.timeout > longest {
            return wrong("timeout", format!("is {}; 10 ms to {text}", self.timeout));
        }
        match (self.kind, &self.player) {
            (_, None) => {}
            (Kind::Stream, Some(player)) => check_player(player)?,
            (kind, Some(_)) => return wrong("player", format!("is for kind `stream`, not `{kind}`")),
        }
        match (self.kind, &self.dash) {
            (Kind::Dash, None) => return wrong("dash", "is required for kind `dash`".to_owned()),
            (Kind::Dash, Some(dash)) => {
                if let Err((key, problem)) = dash.validate() {
                    return wrong("dash", format!("has an invalid `{key}`: {problem}"));
                }
            }
            (kind, Some(_)) => return wrong("dash", format!("is for kind `dash`, not `{kind}`")),
            (_, None) => {}
        }
        if self.kind != Kind::Probe && self.target != ProbeTarget::Server {
            return wrong("target", format!("is for kind `probe`, not `{}`", self.kind));
        }
        self.check_goals()
    }

    fn check_objects(&self) -> Result<(), ConfigError> {
        let (objects, size) = match self.kind {
            Kind::Probe => (1, (ByteSize::from_bytes(64), ByteSize::from_bytes(1400))),
            // The size of a segment follows from its bit rate.
            Kind::Responsiveness | Kind::Dash => (1, (ByteSize::from_bytes(1), ByteSize::from_bytes(1))),
            kind if kind.is_one_way() => (1, (ByteSize::from_bytes(32), ByteSize::from_bytes(1400))),
            _ => (1000, (ByteSize::from_bytes(1), ByteSize::from_gib(16))),
        };
        within("objects", u64::from(self.objects), 1, objects)?;
        if self.object_size < size.0 || self.object_size > size.1 {
            return wrong(
                "object_size",
                format!("is {}; {} to {}", self.object_size, size.0, size.1),
            );
        }
        Ok(())
    }

    fn check_streams(&self) -> Result<(), ConfigError> {
        match (self.kind.is_adaptive(), self.adaptation) {
            (true, None) => return wrong("adaptation", format!("is required for kind `{}`", self.kind)),
            (false, Some(_)) => {
                return wrong("adaptation", format!("is for kind `video-call`, not `{}`", self.kind));
            }
            (true, Some(_)) | (false, None) => {}
        }
        if !self.kind.has_streams() {
            return match self.datagrams.all().next() {
                Some((direction, _)) => wrong(key_of(direction), format!("can't be set on kind `{}`", self.kind)),
                None => Ok(()),
            };
        }
        if self.datagrams == Streams::default() {
            return wrong("up", format!("or `down` is required for kind `{}`", self.kind));
        }
        if (self.kind.has_round_trips() || self.kind.is_adaptive()) && self.datagrams.all().count() < 2 {
            return wrong("up", format!("and `down` are required for kind `{}`", self.kind));
        }
        for (direction, stream) in self.datagrams.all() {
            if let Err((key, problem)) = stream.validate() {
                return wrong(key_of(direction), format!("has an invalid `{key}`: {problem}"));
            }
        }
        self.check_adaptation()
    }

    fn check_adaptation(&self) -> Result<(), ConfigError> {
        let Some(adaptation) = self.adaptation else {
            return Ok(());
        };
        for (direction, stream) in self.datagrams.all() {
            let Err((key, problem)) = adaptation.validate(&stream) else {
                continue;
            };
            let of = if matches!(key, "rate" | "size") {
                key_of(direction)
            } else {
                "adaptation"
            };
            return wrong(of, format!("has an invalid `{key}`: {problem}"));
        }
        Ok(())
    }

    fn check_load(&self) -> Result<(), ConfigError> {
        let LoadConnections { down, up } = self.load;
        let most = match self.kind {
            Kind::Responsiveness => MAX_LOAD_CONNECTIONS,
            _ => 0,
        };
        within("load_down", u64::from(down), 0, u64::from(most))?;
        within("load_up", u64::from(up), 0, u64::from(most))
    }

    fn check_period(&self) -> Result<(), ConfigError> {
        let every = match (self.kind, self.interval) {
            (kind, None) if kind.has_streams() => Duration::ZERO,
            (kind, Some(_)) if kind.has_streams() => {
                return wrong(
                    "interval",
                    format!("can't be set on kind `{kind}`, whose streams have their own"),
                );
            }
            (Kind::Download | Kind::Upload | Kind::Dash, None) => Duration::ZERO,
            (Kind::Dash, Some(_)) => {
                let why = "can't be set on kind `dash`, whose segments follow from its buffer";
                return wrong("interval", why.to_owned());
            }
            (kind @ (Kind::Download | Kind::Upload), Some(_)) => {
                let why = format!("can't be set on kind `{kind}`, whose objects follow each other without an interval");
                return wrong("interval", format!("{why}; use kind `stream` for a fixed rate"));
            }
            (kind, None) => return wrong("interval", format!("or `rate` is required for kind `{kind}`")),
            (Kind::Voice, Some(every)) if every < MIN_VOICE_INTERVAL || every > MAX_VOICE_INTERVAL => {
                return wrong(
                    "interval",
                    format!("is {every}; {MIN_VOICE_INTERVAL} to {MAX_VOICE_INTERVAL}"),
                );
            }
            (Kind::Responsiveness, Some(every)) if every < MIN_PROBE_INTERVAL || every > MAX_PROBE_INTERVAL => {
                return wrong(
                    "interval",
                    format!("is {every}; {MIN_PROBE_INTERVAL} to {MAX_PROBE_INTERVAL}"),
                );
            }
            (_, Some(every)) if every < MIN_PERIOD || every > Duration::from_secs(86_400) => {
                return wrong("interval", format!("is {every}; {MIN_PERIOD} to 24 h"));
            }
            (_, Some(every)) => every,
        };
        if self.kind == Kind::Voice && !self.jitter.is_zero() {
            return wrong(
                "jitter",
                "can't be set on kind `voice`, whose packets are due on a fixed grid".to_owned(),
            );
        }
        if self.kind == Kind::Responsiveness && !self.jitter.is_zero() {
            return wrong(
                "jitter",
                "can't be set on kind `responsiveness`, whose probes are due on a fixed grid".to_owned(),
            );
        }
        if self.jitter > every / 2 {
            let bound = if every.is_zero() {
                format!("can't be set on kind `{}`, which has no interval", self.kind)
            } else {
                format!("is {}; at most half of `interval`, which is {every}", self.jitter)
            };
            return wrong("jitter", bound);
        }
        Ok(())
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
            _ if !self.kind.can_repeat() => wrong("repeat", format!("can't be set on kind `{}`", self.kind)),
            None => wrong("repeat", "needs a `stop`".to_owned()),
            Some(length) if repeat < length || repeat < MIN_REPEAT => {
                let text = format!("is {repeat}; at least {}", length.max(MIN_REPEAT));
                wrong("repeat", text)
            }
            Some(_) => Ok(()),
        }
    }

    fn check_goals(&self) -> Result<(), ConfigError> {
        for (index, goal) in self.goals.iter().enumerate() {
            check_goal(goal, self.kind, self.playback().is_some())?;
            let same = |other: &&Goal| std::mem::discriminant(*other) == std::mem::discriminant(goal);
            if let Some(other) = self.goals[..index].iter().find(same) {
                let (first, second) = (other.describe(self.kind), goal.describe(self.kind));
                return wrong("goal", format!("has two goals of one type: {first} and {second}"));
            }
        }
        Ok(())
    }
}

fn check_player(player: &PlayerConfig) -> Result<(), ConfigError> {
    if player.rate.as_bps() == 0 {
        return wrong(
            "player",
            "has an invalid rate: found 0, expected more than 0".to_owned(),
        );
    }
    if player.start.is_zero() {
        return wrong(
            "player",
            "has an invalid start: found 0 s, expected more than 0 s".to_owned(),
        );
    }
    if player.max_buffer < player.start {
        let (max_buffer, start) = (player.max_buffer, player.start);
        return wrong(
            "player",
            format!(
                "has a `max_buffer` of {max_buffer}, which is less than its start of {start}; playback would never start"
            ),
        );
    }
    Ok(())
}

fn check_goal(goal: &Goal, kind: Kind, player: bool) -> Result<(), ConfigError> {
    match (goal, kind) {
        (Goal::Rpm { at_least, window, step }, Kind::Responsiveness) => {
            if window.is_zero() || step.is_zero() {
                return wrong("goal", "has a window or step of 0 s; expected more than 0 s".to_owned());
            }
            within("goal", u64::from(*at_least), 1, u64::from(MAX_RPM))
        }
        (_, Kind::Responsiveness) => wrong(
            "goal",
            "on kind `responsiveness` must be round trips per minute, such as `1000 rpm`".to_owned(),
        ),
        (Goal::Rpm { .. }, _) => wrong(
            "goal",
            format!("on kind `{kind}` can't be round trips per minute; only kind `responsiveness` has them"),
        ),
        (Goal::Latency { .. }, Kind::Download | Kind::Upload | Kind::Dash) => {
            wrong("goal", format!("on kind `{kind}` can't be a latency; use a rate"))
        }
        (Goal::Quality { window, step, .. }, Kind::Voice) if window.is_zero() || step.is_zero() => {
            wrong("goal", "has a window or step of 0 s; expected more than 0 s".to_owned())
        }
        (Goal::Quality { at_least, .. }, Kind::Voice) => within("goal", u64::from(*at_least), 1, u64::from(MAX_RATING)),
        (Goal::Quality { .. }, _) => wrong(
            "goal",
            format!("on kind `{kind}` can't be a rating; only kind `voice` has one"),
        ),
        (Goal::Loss { .. }, kind) if !kind.has_streams() => wrong(
            "goal",
            format!("on kind `{kind}` can't be a loss; only kinds with `up` and `down` have one"),
        ),
        (Goal::Loss { window, step, .. }, _) if window.is_zero() || step.is_zero() => {
            wrong("goal", "has a window or step of 0 s; expected more than 0 s".to_owned())
        }
        (Goal::Loss { at_most, .. }, _) if [Probability::ZERO, Probability::ONE].contains(at_most) => wrong(
            "goal",
            format!("is a loss of {at_most}; expected more than 0 %, less than 100 %"),
        ),
        (Goal::Loss { .. }, _) | (Goal::NoGap, Kind::Game) | (Goal::Frames, Kind::CloudGaming) => Ok(()),
        (Goal::NoFreeze, Kind::VideoCall) => Ok(()),
        (Goal::NoFreeze, _) => wrong(
            "goal",
            format!("on kind `{kind}` can't be `no freeze`; only kind `video-call` has it"),
        ),
        (Goal::Frames, _) => wrong(
            "goal",
            format!("on kind `{kind}` can't be `frames on time`; only kind `cloud-gaming` has frames"),
        ),
        (Goal::NoGap, _) => wrong(
            "goal",
            format!("on kind `{kind}` can't be `no gap`; only kind `game` has it"),
        ),
        (_, Kind::Voice) => wrong("goal", "on kind `voice` must be a rating".to_owned()),
        (Goal::Latency { limit }, _) if limit.is_zero() => wrong(
            "goal",
            "has an invalid latency: found 0 s, expected more than 0 s".to_owned(),
        ),
        (Goal::Rate { .. }, kind) if kind.has_streams() || matches!(kind, Kind::Pages | Kind::Calls | Kind::Probe) => {
            wrong("goal", format!("on kind `{kind}` can't be a rate; use a latency"))
        }
        (Goal::Rate { at_least, .. }, _) if at_least.as_bps() == 0 => {
            wrong("goal", "has an invalid rate: found 0, expected more than 0".to_owned())
        }
        (Goal::Rate { window, step, .. }, _) => {
            for (what, span) in [("window", window), ("step", step)] {
                if span.is_zero() || !span.as_nanos().is_multiple_of(BIN.as_nanos()) {
                    return wrong("goal", format!("has a {what} of {span}; expected a multiple of {BIN}"));
                }
            }
            Ok(())
        }
        (Goal::NoStall, Kind::Stream | Kind::Dash) if player => Ok(()),
        (Goal::NoStall, Kind::Stream) => wrong("goal", "can't be `no stall` without a `player`".to_owned()),
        (Goal::NoStall, _) => wrong(
            "goal",
            format!("on kind `{kind}` can't be `no stall`; only kinds `stream` and `dash` have a player"),
        ),
        (Goal::Latency { .. }, _) => Ok(()),
    }
}

fn key_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
    }
}

fn within(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else if least == most {
        wrong(key, format!("is {value}; it must be {least}"))
    } else {
        wrong(key, format!("is {value}; {least} to {most}"))
    }
}

fn wrong(key: &'static str, problem: String) -> Result<(), ConfigError> {
    Err(ConfigError { key, problem })
}
