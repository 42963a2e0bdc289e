//! How people write a quantity: a decimal number, perhaps a space, and a unit.

/// Why a text is not the quantity it should be. The message says what would be right. A long text is cut.
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
    /// It does not begin with a decimal number.
    #[error("`{found}` does not begin with a plain number; write it as `{example}`")]
    NotANumber {
        /// The text as found.
        found: String,
        /// A correct way to write such a quantity.
        example: &'static str,
    },
    /// The value does not fit, or is negative where it can't be.
    #[error("`{found}` is out of range: {why}")]
    OutOfRange {
        /// The text as found.
        found: String,
        /// What the range is.
        why: &'static str,
    },
    /// The number has more digits than are read, or than the type resolves.
    #[error("`{found}` has too many digits: {why}")]
    Digits {
        /// The text as found.
        found: String,
        /// How many there can be.
        why: &'static str,
    },
}

impl QuantityError {
    pub(crate) fn out_of_range(text: &str, why: &'static str) -> Self {
        Self::OutOfRange { found: cut(text), why }
    }
}

/// A unit that is read: how it is written, and its size in base steps.
pub(crate) struct Unit {
    pub(crate) names: &'static [&'static str],
    pub(crate) size: Size,
}

/// The size of a unit in base steps.
pub(crate) enum Size {
    /// A whole number of steps; what is finer than a step is refused.
    Exact(u64),
    /// `numerator / denominator` steps; rounded to the nearest step.
    Rounded { numerator: u64, denominator: u64 },
}

pub(crate) const fn unit(names: &'static [&'static str], size: u64) -> Unit {
    Unit {
        names,
        size: Size::Exact(size),
    }
}

/// A unit that is written: its name, its size in base steps and how many decimals it may have.
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) size: u64,
    pub(crate) decimals: u32,
}

pub(crate) const fn written(name: &'static str, size: u64, decimals: u32) -> Written {
    Written { name, size, decimals }
}

/// As many digits as the largest `u64` has: what we write we can read.
const DIGITS: usize = 20;
const TOO_LONG: &str = "at most 20 digits";

/// Reads `text` in base steps of a quantity whose units are `units`. `example` is how one is written rightly.
pub(crate) fn parse(text: &str, units: &[Unit], example: &'static str) -> Result<i128, QuantityError> {
    let trimmed = text.trim();
    let (negative, body) = match trimmed.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let end = body
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_')))
        .unwrap_or(body.len());
    let (number, unit_text) = (&body[..end], body[end..].trim());
    let Some((digits, decimals)) = decimal(number) else {
        return Err(QuantityError::NotANumber {
            found: cut(text),
            example,
        });
    };
    if unit_text.is_empty() {
        return Err(QuantityError::MissingUnit {
            found: cut(text),
            example,
        });
    }
    let unit = units
        .iter()
        .find(|u| u.names.contains(&unit_text))
        .ok_or_else(|| QuantityError::UnknownUnit {
            found: cut(text),
            unit: cut(unit_text),
            known: units.iter().map(|u| u.names[0]).collect::<Vec<_>>().join(", "),
        })?;
    if digits.len() > DIGITS || decimals > DIGITS {
        return Err(QuantityError::Digits {
            found: cut(text),
            why: TOO_LONG,
        });
    }
    let mantissa = digits
        .bytes()
        .fold(0, |value, byte| value * 10 + i128::from(byte - b'0'));
    let scale = 10i128.pow(decimals as u32);
    // No unit exceeds 2⁴² steps, so both products stay below 10²⁰ × 2⁴² < 2¹⁰⁹.
    let value = match unit.size {
        Size::Exact(size) => {
            let steps = mantissa * i128::from(size);
            if steps % scale != 0 {
                return Err(QuantityError::Digits {
                    found: cut(text),
                    why: "finer than can be kept",
                });
            }
            steps / scale
        }
        Size::Rounded { numerator, denominator } => {
            let divisor = scale * i128::from(denominator);
            (mantissa * i128::from(numerator) + divisor / 2) / divisor
        }
    };
    Ok(if negative { -value } else { value })
}

/// A plain decimal as its significant digits and how many of them (and of zeros before them) stand behind the point.
/// `None` unless it is `12`, `1.5` or `.5`, with `_` between digits at most.
fn decimal(text: &str) -> Option<(String, usize)> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let (whole, fraction) = (group(whole)?, group(fraction)?);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    Some((digits.trim_start_matches('0').to_owned(), fraction.len()))
}

/// A row of digits without the `_` between them; `None` where one stands elsewhere, or something else does.
fn group(text: &str) -> Option<String> {
    let misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    (plain && !misplaced).then(|| text.replace('_', ""))
}

/// Writes `value` base steps exactly, in the unit of `units` that takes the fewest digits and is no larger than the
/// value; of equals the first. The last unit is one step.
pub(crate) fn format(value: u64, units: &[Written], f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let (last, larger) = units.split_last().expect("a quantity has units");
    let mut best = value.to_string();
    let mut name = last.name;
    for unit in larger.iter().rev() {
        if let Some(text) = exactly(value, unit)
            && digits(&text) <= digits(&best)
        {
            (best, name) = (text, unit.name);
        }
    }
    f.pad(&format!("{best} {name}"))
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// `value` in `unit`, when it is at least one of it and needs no more decimals than the unit may have.
fn exactly(value: u64, unit: &Written) -> Option<String> {
    if value < unit.size {
        return None;
    }
    let scale = 10u128.pow(unit.decimals);
    let scaled = u128::from(value) * scale;
    let size = u128::from(unit.size);
    if !scaled.is_multiple_of(size) {
        return None;
    }
    let (whole, fraction) = (scaled / size / scale, scaled / size % scale);
    if fraction == 0 {
        return Some(whole.to_string());
    }
    let text = format!("{whole}.{fraction:0width$}", width = unit.decimals as usize);
    Some(text.trim_end_matches('0').to_owned())
}

/// Enough of a text to recognise it by.
fn cut(text: &str) -> String {
    const KEPT: usize = 40;
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
