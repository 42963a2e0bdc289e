//! Text form of a quantity: a decimal number, an optional space, and a unit.

/// Reason why a text is not a valid quantity. The message contains what is expected. A long text is
/// truncated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// A number without a unit.
    #[error("missing unit: found `{found}`, expected for example `{example}`")]
    MissingUnit {
        /// Input text.
        found: String,
        /// Example of a valid quantity.
        example: &'static str,
    },
    /// Unknown unit.
    #[error("unknown unit `{unit}` in `{found}`; expected one of {known}")]
    UnknownUnit {
        /// Input text.
        found: String,
        /// Unit in the text.
        unit: String,
        /// Known units.
        known: String,
    },
    /// The text does not begin with a decimal number.
    #[error("invalid number: found `{found}`, expected for example `{example}`")]
    NotANumber {
        /// Input text.
        found: String,
        /// Example of a valid quantity.
        example: &'static str,
    },
    /// The value is too large, or negative where only positive values are valid.
    #[error("`{found}` is out of range: {why}")]
    OutOfRange {
        /// Input text.
        found: String,
        /// Valid range.
        why: &'static str,
    },
    /// The number has more digits than are parsed, or than the type resolves.
    #[error("`{found}` has too many digits: {why}")]
    Digits {
        /// Input text.
        found: String,
        /// Maximum number of digits.
        why: &'static str,
    },
}

impl QuantityError {
    pub(crate) fn out_of_range(text: &str, why: &'static str) -> Self {
        Self::OutOfRange { found: cut(text), why }
    }
}

/// Unit for parsing: its symbol, and its size in base steps.
pub(crate) struct Unit {
    pub(crate) names: &'static [&'static str],
    pub(crate) size: Size,
}

/// Size of a unit in base steps.
pub(crate) enum Size {
    /// Integer number of steps; a value finer than one step is rejected.
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

/// Unit for formatting: its symbol, its size in base steps and its maximum number of decimals.
pub(crate) struct FormatUnit {
    pub(crate) name: &'static str,
    pub(crate) size: u64,
    pub(crate) decimals: u32,
}

pub(crate) const fn format_unit(name: &'static str, size: u64, decimals: u32) -> FormatUnit {
    FormatUnit { name, size, decimals }
}

/// Number of digits of the largest `u64`: every formatted value can be parsed.
const DIGITS: usize = 20;
const TOO_LONG: &str = "at most 20 digits";

/// Parses `text` in base steps of a quantity whose units are `units`. `example` is a valid
/// quantity.
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

/// Splits a plain decimal into its significant digits and the number of digits (including leading
/// zeros) after the point. Returns `None` unless the text has the form `12`, `1.5` or `.5`, with
/// optional `_` between digits.
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

/// Digits without the `_` between them; `None` for a misplaced `_` or another character.
fn group(text: &str) -> Option<String> {
    let misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    (plain && !misplaced).then(|| text.replace('_', ""))
}

/// Formats `value` base steps exactly, in the unit of `units` that needs the fewest digits and is
/// not larger than the value. Of equal ones it takes the first. The last unit is one step.
pub(crate) fn format(value: u64, units: &[FormatUnit], f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

/// `value` in `unit`, if it is at least one unit and needs no more decimals than the unit permits.
fn exactly(value: u64, unit: &FormatUnit) -> Option<String> {
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

/// Beginning of a text, for messages.
fn cut(text: &str) -> String {
    const KEPT: usize = 40;
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
