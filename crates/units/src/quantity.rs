//! How people write a quantity: a decimal number, perhaps a space, and a unit.

/// Why a text is not the quantity it should be. The message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// A number stands alone.
    #[error("`{found}` lacks its unit; write it as `{example}`")]
    MissingUnit {
        /// The text as found.
        found: String,
        /// A correct way to write such a quantity.
        example: &'static str,
    },
    /// The unit is none of the known ones.
    #[error("unknown unit `{unit}` in `{found}`; known here: {known}")]
    UnknownUnit {
        /// The text as found.
        found: String,
        /// Its unit part.
        unit: String,
        /// The units that would do.
        known: String,
    },
    /// There is no number in front.
    #[error("`{found}` does not begin with a number; write it as `{example}`")]
    NotANumber {
        /// The text as found.
        found: String,
        /// A correct way to write such a quantity.
        example: &'static str,
    },
    /// The value does not fit, is negative where it can't be, or has more digits than the type resolves.
    #[error("`{found}` is out of range: {why}")]
    OutOfRange {
        /// The text as found.
        found: String,
        /// What the range is.
        why: &'static str,
    },
}

/// A unit: how it is written, and its size in base steps as the fraction `numerator / denominator`.
pub(crate) struct Unit {
    pub(crate) names: &'static [&'static str],
    pub(crate) numerator: u64,
    pub(crate) denominator: u64,
}

pub(crate) const fn unit(names: &'static [&'static str], size: u64) -> Unit {
    Unit {
        names,
        numerator: size,
        denominator: 1,
    }
}

/// Reads `text` in base steps of a quantity whose units are `units`. `example` is how one is written rightly.
pub(crate) fn parse(text: &str, units: &[Unit], example: &'static str) -> Result<i128, QuantityError> {
    let found = || text.to_owned();
    let trimmed = text.trim();
    let (negative, body) = match trimmed.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let end = body
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(body.len());
    let (number, unit_text) = (&body[..end], body[end..].trim());
    let (mantissa, scale) = decimal(number).ok_or_else(|| match number.bytes().any(|b| b.is_ascii_digit()) {
        true => QuantityError::OutOfRange {
            found: found(),
            why: "at most 18 digits",
        },
        false => QuantityError::NotANumber {
            found: found(),
            example,
        },
    })?;
    if unit_text.is_empty() {
        return Err(QuantityError::MissingUnit {
            found: found(),
            example,
        });
    }
    let unit = units
        .iter()
        .find(|u| u.names.contains(&unit_text))
        .ok_or_else(|| QuantityError::UnknownUnit {
            found: found(),
            unit: unit_text.to_owned(),
            known: units.iter().map(|u| u.names[0]).collect::<Vec<_>>().join(", "),
        })?;
    // 18 digits times a u64 fits 124 bits.
    let numerator = mantissa * i128::from(unit.numerator);
    let denominator = scale * i128::from(unit.denominator);
    if numerator % denominator != 0 {
        return Err(QuantityError::OutOfRange {
            found: found(),
            why: "finer than can be kept",
        });
    }
    let value = numerator / denominator;
    Ok(if negative { -value } else { value })
}

/// A plain decimal as `(digits, power of ten to divide by)`.
fn decimal(text: &str) -> Option<(i128, i128)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut mantissa: i128 = 0;
    let mut digits = 0;
    let mut scale: i128 = 1;
    let fraction = fraction.trim_end_matches('0');
    for (part, fractional) in [(whole, false), (fraction, true)] {
        for byte in part.bytes().filter(|b| *b != b'_') {
            mantissa = mantissa * 10 + i128::from(byte - b'0');
            digits += usize::from(mantissa != 0);
            if fractional {
                scale = scale.checked_mul(10)?;
            }
            if digits > 18 {
                return None;
            }
        }
    }
    (scale <= 1_000_000_000_000_000_000).then_some((mantissa, scale))
}

/// Writes `value` base steps in the largest of `units` (name, size) that keeps it a short exact decimal.
pub(crate) fn format(value: u64, units: &[(&str, u64)], f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    for (name, size) in units {
        if value >= *size && (u128::from(value) * 1000).is_multiple_of(u128::from(*size)) {
            let whole = value / size;
            let thousandths = (u128::from(value % size) * 1000 / u128::from(*size)) as u64;
            let mut text = format!("{whole}.{thousandths:03}");
            let kept = text.trim_end_matches('0').trim_end_matches('.').len();
            text.truncate(kept);
            return f.pad(&format!("{text} {name}"));
        }
    }
    let (name, size) = units.last().expect("a quantity has units");
    f.pad(&format!("{} {name}", value / size))
}
