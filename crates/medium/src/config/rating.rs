//! Speed rating of a product.

use std::fmt;
use std::str::FromStr;

/// Speed rating of the form `AC1750`: letters for a generation and the sum of its radios' rates in
/// Mbit/s, rounded up. [`rating`](crate::rating) interprets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rating {
    /// `N`, `AC`, `AX`, `AXE` or `BE`.
    pub letters: &'static str,
    /// 100 to 99 999 Mbit/s.
    pub number: u32,
}

/// A text that is not a rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseRatingError;

impl FromStr for Rating {
    type Err = ParseRatingError;

    /// Parses `"AC1750"`, in upper or lower case.
    fn from_str(text: &str) -> Result<Self, ParseRatingError> {
        let at = text.find(|c: char| !c.is_ascii_alphabetic()).ok_or(ParseRatingError)?;
        let (letters, digits) = text.split_at(at);
        let letters = ["N", "AC", "AX", "AXE", "BE"]
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(letters))
            .ok_or(ParseRatingError)?;
        if !(3..=5).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ParseRatingError);
        }
        let number = digits.parse().map_err(|_| ParseRatingError)?;
        if number < 100 {
            return Err(ParseRatingError);
        }
        Ok(Rating { letters, number })
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.letters, self.number))
    }
}

impl fmt::Display for ParseRatingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no speed rating: `N`, `AC`, `AX`, `AXE` or `BE` and three to five digits, as in `AC1750`")
    }
}

impl std::error::Error for ParseRatingError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for text in ["N300", "AC1750", "ax5400", "axe5400", "BE19000"] {
            assert_eq!(text.parse::<Rating>().unwrap().to_string(), text.to_uppercase());
        }
        for text in [
            "", "AC", "1750", "AD1750", "AC17.5", "AC12", "AC123456", "AC 1750", "AC0050", "АС1750",
        ] {
            assert_eq!(text.parse::<Rating>(), Err(ParseRatingError), "{text}");
        }
    }
}
