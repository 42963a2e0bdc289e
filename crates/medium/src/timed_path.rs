//! A station's path with its times: straight lines between positions, at a constant speed.

use crate::geometry::Position;
use netburn_units::{Duration, Instant, Speed};

/// A path at a constant speed. It begins at [`Instant::ZERO`], the start of the load, and ends at its last position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedPath {
    legs: Vec<Leg>,
    first: Position,
    last: Position,
    speed: Speed,
}

/// A straight part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    /// Position at its start.
    pub from: Position,
    /// Position at its end. The floor changes at the end.
    pub to: Position,
    /// Time of its start, in ns since the start of the load.
    begin: u64,
    /// Duration in ns.
    nanos: u64,
}

impl Leg {
    /// Time of its start.
    #[must_use]
    pub fn begin(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(self.begin)
    }

    /// Time of its end.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.begin() + Duration::from_nanos(self.nanos)
    }
}

impl TimedPath {
    /// A path through these positions; `None` without any. One position: the station stays there.
    #[must_use]
    pub fn new(positions: &[Position], speed: Speed) -> Option<Self> {
        let (first, last) = (*positions.first()?, *positions.last()?);
        let mut legs = Vec::new();
        let mut begin = 0;
        for leg in positions.windows(2) {
            let millimetres = leg[0].metres_to(leg[1]) * 1_000.0;
            let nanos = millimetres * 1e9 / speed.as_millimetres_per_second().max(1) as f64;
            let nanos = libm::round(nanos) as u64;
            legs.push(Leg {
                from: leg[0],
                to: leg[1],
                begin,
                nanos,
            });
            begin += nanos;
        }
        Some(TimedPath {
            legs,
            first,
            last,
            speed,
        })
    }

    /// A path that stays at a position.
    #[must_use]
    pub const fn standing(at: Position) -> Self {
        TimedPath {
            legs: Vec::new(),
            first: at,
            last: at,
            speed: Speed::from_millimetres_per_second(1_000),
        }
    }

    /// Its straight parts in order; none if the station stays.
    #[must_use]
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// First position.
    #[must_use]
    pub const fn first(&self) -> Position {
        self.first
    }

    /// Position at `now`. Before the start of the load it is the first one.
    #[must_use]
    pub fn at(&self, now: Instant) -> Position {
        let Ok(elapsed) = u64::try_from(now.as_nanos()) else {
            return self.first;
        };
        let leg = self.legs.iter().find(|leg| elapsed < leg.begin + leg.nanos);
        leg.map_or(self.last, |leg| {
            leg.from.towards(leg.to, elapsed.saturating_sub(leg.begin), leg.nanos)
        })
    }

    /// Distance in metres that it has travelled at `now`.
    #[must_use]
    pub fn travelled(&self, now: Instant) -> f64 {
        let elapsed = u64::try_from(now.as_nanos()).unwrap_or(0).min(self.end());
        elapsed as f64 / 1e9 * self.speed.as_millimetres_per_second() as f64 / 1_000.0
    }

    /// Time between two updates of fast fading: a distance of 5 mm, a tenth of a wavelength in 6 GHz.
    #[must_use]
    pub fn fading_interval(&self) -> Duration {
        let nanos = 5 * 1_000_000_000 / self.speed.as_millimetres_per_second().max(1);
        Duration::from_nanos(nanos.clamp(100_000, 100_000_000))
    }

    /// Returns true if the station moves at `now` or later.
    #[must_use]
    pub fn is_moving(&self, now: Instant) -> bool {
        i64::try_from(self.end()).is_ok_and(|end| now.as_nanos() < end)
    }

    /// Time at which it ends, in ns since the start of the load.
    fn end(&self) -> u64 {
        self.legs.last().map_or(0, |leg| leg.begin + leg.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i64) -> Position {
        Position { x, y: 0, floor: 0 }
    }

    fn seconds(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// 20 m at 1 m/s, and back 10 m.
    #[test]
    fn positions_on_a_way() {
        let speed = Speed::from_millimetres_per_second(1_000);
        let way = TimedPath::new(&[at(2_000), at(22_000), at(12_000)], speed).unwrap();
        for (time, x) in [
            (0, 2_000),
            (5, 7_000),
            (20, 22_000),
            (25, 17_000),
            (30, 12_000),
            (99, 12_000),
        ] {
            assert_eq!(way.at(seconds(time)), at(x), "{time} s");
        }
        assert_eq!(way.at(Instant::ZERO - Duration::from_secs(1)), at(2_000));
        for (time, metres) in [(0, 0.0), (5, 5.0), (25, 25.0), (30, 30.0), (99, 30.0)] {
            assert!((way.travelled(seconds(time)) - metres).abs() < 1e-9, "{time} s");
        }
        assert_eq!(way.fading_interval(), Duration::from_millis(5));
        assert!(way.is_moving(seconds(29)) && !way.is_moving(seconds(30)));
        let staying = TimedPath::new(&[at(1)], speed).unwrap();
        assert_eq!(staying, TimedPath::standing(at(1)));
        assert!(!staying.is_moving(Instant::ZERO));
        assert_eq!((staying.first(), staying.legs().len()), (at(1), 0));
        assert_eq!(TimedPath::new(&[], speed), None);
    }

    /// 20 m at 1 m/s end at 20 s, the 10 m back at 30 s.
    #[test]
    fn legs_have_times() {
        let speed = Speed::from_millimetres_per_second(1_000);
        let way = TimedPath::new(&[at(2_000), at(22_000), at(12_000)], speed).unwrap();
        let times: Vec<_> = way.legs().iter().map(|leg| (leg.begin(), leg.end())).collect();
        assert_eq!(times, [(seconds(0), seconds(20)), (seconds(20), seconds(30))]);
    }
}
