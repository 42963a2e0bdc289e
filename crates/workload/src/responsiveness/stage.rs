//! Stages and connections of a responsiveness test.

/// Number of a connection, from 0 in the order in which they are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// Stage of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Probes without load.
    Idle,
    /// Connections are added until the goodput is stable.
    Goodput,
    /// Probes are sent until the score is stable.
    Responsiveness,
    /// The load continues until the last probes have responses.
    Settling,
    /// The test has ended.
    Finished,
}

impl Stage {
    /// Returns the name of the stage.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Idle => "idle",
            Stage::Goodput => "goodput",
            Stage::Responsiveness => "responsiveness",
            Stage::Settling => "settling",
            Stage::Finished => "finished",
        }
    }
}
