//! Bufferbloat letters: the increase of the mean round-trip time under load over that of an idle
//! path.

use netburn_units::Duration;

/// A letter, from the best to the worst. There is no E.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Letter {
    /// A+.
    APlus,
    /// A.
    A,
    /// B.
    B,
    /// C.
    C,
    /// D.
    D,
    /// F.
    F,
}

impl Letter {
    /// All letters, from the best to the worst.
    pub const ALL: [Letter; 6] = [Letter::APlus, Letter::A, Letter::B, Letter::C, Letter::D, Letter::F];

    /// The letter as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Letter::APlus => "A+",
            Letter::A => "A",
            Letter::B => "B",
            Letter::C => "C",
            Letter::D => "D",
            Letter::F => "F",
        }
    }
}

/// A scale of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Name of the scale.
    pub name: &'static str,
    /// Source of its limits.
    pub source: &'static str,
    /// Each letter but F with its limit, from the best. An increase below the limit has this letter
    /// or a better one.
    pub limits: [(Letter, Duration); 5],
}

impl Scale {
    /// The scale of the speed test of dslreports.com. 8x8's Network Utility and the test of LibreQoS
    /// have the same limits.
    pub const DSLREPORTS: Scale = Scale {
        name: "dslreports",
        source: "https://www.dslreports.com/faq/17930",
        limits: [
            (Letter::APlus, Duration::from_millis(5)),
            (Letter::A, Duration::from_millis(30)),
            (Letter::B, Duration::from_millis(60)),
            (Letter::C, Duration::from_millis(200)),
            (Letter::D, Duration::from_millis(400)),
        ],
    };

    /// Letter of an increase of the mean round-trip time.
    #[must_use]
    pub fn letter(&self, increase: Duration) -> Letter {
        let mut limits = self.limits.iter();
        let found = limits.find(|(_, limit)| increase < *limit);
        found.map_or(Letter::F, |(letter, _)| *letter)
    }
}

/// Increase of the mean round-trip time under load over the idle one; zero if it fell.
#[must_use]
pub fn increase(idle: Duration, loaded: Duration) -> Duration {
    loaded.saturating_sub(idle)
}

/// Mean of the increases under download and under upload. The scale of dslreports is for this mean:
/// the directions are loaded one after the other.
#[must_use]
pub fn mean_increase(download: Duration, upload: Duration) -> Duration {
    let sum = u128::from(download.as_nanos()) + u128::from(upload.as_nanos());
    // The mean of two values of 64 bits has 64 bits.
    Duration::from_nanos((sum / 2) as u64)
}
