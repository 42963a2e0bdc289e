//! Contention window and its growth with failures (802.11-2020 clause 10.23.2.2).

use super::EdcaParameters;

/// CW and QSRC, the counter of consecutive failures.
///
/// They belong to the category, not to a frame: dropping a frame changes neither. After the number
/// of failures in the retry limit, the next failure resets the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    slots: u32,
    failures: u32,
}

impl Window {
    /// State before any failure.
    #[must_use]
    pub const fn new(parameters: &EdcaParameters) -> Self {
        Window {
            slots: parameters.cw_min,
            failures: 0,
        }
    }

    /// Maximum number of slots of a backoff (CW).
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Reports a response to a frame.
    pub const fn succeed(&mut self, parameters: &EdcaParameters) {
        *self = Window::new(parameters);
    }

    /// Reports a missing response, or an internal collision with a higher category. `limit`:
    /// dot11ShortRetryLimit.
    pub fn fail(&mut self, parameters: &EdcaParameters, limit: u32) {
        if self.failures >= limit {
            *self = Window::new(parameters);
        } else {
            self.failures += 1;
            self.slots = (2 * self.slots + 1).min(parameters.cw_max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CWmin 15, CWmax 1023, limit 7: 2^QSRC · 16 − 1 up to 1023, which is reached with the sixth
    /// failure; the eighth resets it.
    #[test]
    fn grows_and_resets() {
        let parameters = EdcaParameters::default_set(15)[1];
        let mut window = Window::new(&parameters);
        let mut seen = vec![window.slots()];
        for _ in 0..9 {
            window.fail(&parameters, 7);
            seen.push(window.slots());
        }
        assert_eq!(seen, [15, 31, 63, 127, 255, 511, 1_023, 1_023, 15, 31]);
        window.succeed(&parameters);
        assert_eq!(window, Window::new(&parameters));
    }
}
