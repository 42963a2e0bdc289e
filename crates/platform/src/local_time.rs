//! Local time.

/// Difference of local time to UTC at a time in seconds since 1970, in seconds: 3600 for Central European Time. 0 if it is
/// unknown.
#[must_use]
pub fn utc_offset(at: i64) -> i32 {
    #[cfg(unix)]
    {
        // Some systems have seconds of 32 bits.
        let at = at as libc::time_t;
        // SAFETY: all fields are integers, and a pointer that is not dereferenced.
        let mut local: libc::tm = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are valid for the call, and no thread of this process changes the variable TZ.
        let known = !unsafe { libc::localtime_r(&raw const at, &raw mut local) }.is_null();
        if known {
            i32::try_from(local.tm_gmtoff).unwrap_or(0)
        } else {
            0
        }
    }
    #[cfg(not(unix))]
    {
        let _ = at;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UTC-12 to UTC+14 are in use (the tz database).
    #[test]
    fn an_offset_is_one_of_a_time_zone() {
        for at in [0, 1_800_000_000, i64::MAX] {
            assert!((-12 * 3600..=14 * 3600).contains(&utc_offset(at)), "{at}");
        }
    }
}
