//! Text form of numbers without a unit.

/// Formats a number with at most `max_decimals` decimals, without trailing zeros: `2.5`, `3`.
#[must_use]
pub fn format_decimal(value: f64, max_decimals: usize) -> String {
    let text = format!("{value:.max_decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_zeros_are_omitted() {
        for (value, decimals, text) in [
            (2.5, 2, "2.5"),
            (3.0, 2, "3"),
            (0.001, 2, "0"),
            (1.005e3, 0, "1005"),
            (100.0, 0, "100"),
            (100.0, 3, "100"),
            (-0.125, 3, "-0.125"),
        ] {
            assert_eq!(format_decimal(value, decimals), text);
        }
    }
}
