//! Likely causes as text.

use crate::sanitise::{sanitise, wrap};
use crate::style::{Tone, paint};
use netburn_analysis::explain::{Explanation, Severity};

/// `explanation` as lines of at most `width` columns, after an empty line and a heading. No lines
/// if nothing was found.
#[must_use]
pub fn lines(explanation: &Explanation, width: usize, colour: bool) -> Vec<String> {
    if explanation.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), paint("Likely causes:", Tone::Heading, colour)];
    for (number, cause) in explanation.causes.iter().enumerate() {
        let tone = match cause.severity {
            Severity::Notable => Tone::Plain,
            Severity::Serious => Tone::Bad,
            Severity::Measurement => Tone::Unreliable,
        };
        let title = paint(&sanitise(&cause.title), tone, colour);
        lines.extend(wrap(&format!("{}. {title}", number + 1), width, "   "));
        for text in [&cause.evidence, &cause.advice] {
            lines.extend(wrap(&format!("   {}", sanitise(text)), width, "   "));
        }
    }
    for unexplained in &explanation.unexplained {
        lines.extend(wrap(&sanitise(&unexplained.sentence()), width, "   "));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_analysis::explain::{Cause, Kind, Unexplained};

    #[test]
    fn lines_have_no_control_characters() {
        let cause = Cause {
            kind: Kind::Adapter,
            severity: Severity::Serious,
            title: "a\u{1b}[2Jb".to_owned(),
            evidence: "c\u{9b}d\n".to_owned(),
            advice: "e\u{202e}".to_owned(),
            stations: Vec::new(),
            by: Vec::new(),
        };
        let unexplained = Unexplained {
            station: "f\u{1b}".to_owned(),
            what: vec!["g\u{202e}".to_owned()],
        };
        let explanation = Explanation {
            causes: vec![cause],
            unexplained: vec![unexplained],
        };
        let lines = lines(&explanation, 80, false);
        assert_eq!(lines[1], "Likely causes:");
        assert!(
            lines
                .iter()
                .all(|line| !line.chars().any(char::is_control) && !line.contains('\u{202e}')),
            "{lines:?}"
        );
        assert_eq!(super::lines(&Explanation::default(), 80, false), Vec::<String>::new());
    }
}
