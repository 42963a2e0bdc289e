//! Colours.

use netburn_stats::metric_change::Judgement;

/// Meaning of a piece of text; only this module maps it to colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing particular.
    #[default]
    Plain,
    /// A heading.
    Heading,
    /// Less important.
    Quiet,
    /// Good.
    Good,
    /// Marginal, or unreliable.
    Unreliable,
    /// Bad.
    Bad,
}

impl From<Judgement> for Tone {
    fn from(judgement: Judgement) -> Self {
        match judgement {
            Judgement::Better => Tone::Good,
            Judgement::Worse => Tone::Bad,
            Judgement::Same => Tone::Plain,
            Judgement::CantTell => Tone::Quiet,
        }
    }
}

/// `text` in the colours of `tone` (ANSI SGR, ECMA-48 8.3.117), or as it is.
#[must_use]
pub fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        Tone::Plain => None,
        Tone::Heading => Some("1"),
        Tone::Quiet => Some("2"),
        Tone::Good => Some("32"),
        Tone::Unreliable => Some("33"),
        Tone::Bad => Some("1;31"),
    };
    match code.filter(|_| colour && !text.is_empty()) {
        Some(code) => format!("\x1b[{code}m{text}\x1b[0m"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitise::painted_width;

    #[test]
    fn colour_takes_no_room() {
        for tone in [
            Tone::Plain,
            Tone::Heading,
            Tone::Quiet,
            Tone::Good,
            Tone::Unreliable,
            Tone::Bad,
        ] {
            assert_eq!(painted_width(&format!("a {} m", paint("fail", tone, true))), 8);
            assert_eq!(paint("fail", tone, false), "fail");
        }
    }
}
