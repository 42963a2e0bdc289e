//! Detection of the end of a flood of connections, after which a server returns its free memory to the system.

/// Number of connections from which memory is released afterwards, and the number at which the load is
/// over.
const LOAD_THRESHOLDS: (usize, usize) = (256, 64);
/// Number of consecutive samples at which the load must be over.
const CALM_SAMPLES: u32 = 5;

/// Detects the end of a high number of connections, after which memory can be released.
#[derive(Debug, Default)]
pub struct LoadMonitor {
    loaded: bool,
    calm: u32,
}

impl LoadMonitor {
    /// Takes the highest number of open connections since the last call, at equal intervals. Returns `true`
    /// once after each period of high load.
    #[must_use]
    pub fn sample(&mut self, open: usize) -> bool {
        self.loaded |= open >= LOAD_THRESHOLDS.0;
        self.calm = if open <= LOAD_THRESHOLDS.1 { self.calm + 1 } else { 0 };
        let over = self.loaded && self.calm >= CALM_SAMPLES;
        self.loaded &= !over;
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_released_after_high_load() {
        let mut load_monitor = LoadMonitor::default();
        let mut looks =
            |counts: &[usize]| -> Vec<bool> { counts.iter().map(|open| load_monitor.sample(*open)).collect() };
        assert!(
            !looks(&[10, 20, 255, 5, 5, 5, 5, 5, 5]).contains(&true),
            "no flood of connections"
        );
        assert!(
            !looks(&[900, 300, 64, 64, 64, 64, 65]).contains(&true),
            "more connections are still open than count as none"
        );
        assert_eq!(
            looks(&[0, 1, 0, 64, 0, 0, 0]),
            [false, false, false, false, true, false, false]
        );
    }
}
