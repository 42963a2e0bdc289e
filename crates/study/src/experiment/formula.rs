//! What is read out of runs, and how that becomes one number.
//!
//! ```text
//! station.b.probe.p95_ms                                            the median over the runs
//! max station.b.probe.max_ms                                        the largest of all runs; `min` the smallest
//! totals.throughput_mbps / against:totals.throughput_mbps           each run over the one it is compared with
//! share station.tv.film.stalls = 0 and station.tv.verdict >= marginal    the share of the runs of which that is true
//! ```
//!
//! Words are separated by spaces. Operands are figures, numbers in their units and names of verdicts; `+ - * /` are worked out from left to right.

use super::paths::{Figure, Unit, VERDICTS};
use netburn_record::summary::Summary;

/// What is read out of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    over: Over,
    conditions: Vec<Condition>,
}

/// A text that is no formula: what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// How the runs become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Median,
    Max,
    Min,
    Share,
}

/// An expression and, for a share, what it is held against.
#[derive(Debug, Clone, PartialEq)]
struct Condition {
    left: Expression,
    right: Option<(Relation, Expression)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

/// A first operand, and what is done with further ones in turn.
#[derive(Debug, Clone, PartialEq)]
struct Expression {
    first: Operand,
    rest: Vec<(char, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Number(f64),
    Of(Figure),
    OfOther(Figure),
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        let mut words = text.split_whitespace().peekable();
        let over = match words.peek().copied() {
            Some("max") => Over::Max,
            Some("min") => Over::Min,
            Some("share") => Over::Share,
            _ => Over::Median,
        };
        if over != Over::Median {
            words.next();
        }
        let rest: Vec<&str> = words.collect();
        let conditions: Vec<Condition> = rest
            .split(|word| *word == "and")
            .map(condition)
            .collect::<Result<_, _>>()?;
        match over {
            Over::Share if conditions.iter().any(|condition| condition.right.is_none()) => Err(Wrong(
                "a `share` is of the runs of which something is true: `share FIGURE <= VALUE`".to_owned(),
            )),
            Over::Share => Ok(Formula { over, conditions }),
            _ if conditions.len() > 1 || conditions[0].right.is_some() => Err(Wrong(
                "conditions belong in a `share`: `share FIGURE <= VALUE and …`".to_owned(),
            )),
            _ => Ok(Formula { over, conditions }),
        }
    }

    /// What it comes out in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        let expression = &self.conditions[0].left;
        match (self.over, &expression.first) {
            (Over::Share, _) => Unit::Share,
            _ if expression.rest.iter().any(|(operator, _)| *operator == '/') => Unit::Share,
            (_, Operand::Of(figure) | Operand::OfOther(figure)) => figure.unit(),
            (_, Operand::Number(_)) => Unit::Count,
        }
    }

    /// Whether it compares with other runs.
    #[must_use]
    pub fn compares(&self) -> bool {
        self.operands().any(|operand| matches!(operand, Operand::OfOther(_)))
    }

    /// The figures that it reads, of the runs or, second, of those compared with.
    pub fn figures(&self) -> impl Iterator<Item = (&Figure, bool)> {
        self.operands().filter_map(|operand| match operand {
            Operand::Number(_) => None,
            Operand::Of(figure) => Some((figure, false)),
            Operand::OfOther(figure) => Some((figure, true)),
        })
    }

    /// What it comes to over runs and, where there are any, those that they are compared with, one for each. Not a number where a figure isn't known.
    #[must_use]
    pub fn of(&self, runs: &[Summary], others: &[Summary]) -> f64 {
        let pairs = runs.iter().enumerate().map(|(index, run)| (run, others.get(index)));
        if self.over == Over::Share {
            let holds = |(run, other)| self.conditions.iter().all(|condition| condition.holds(run, other));
            let held = pairs.filter(|pair| holds(*pair)).count();
            return held as f64 / runs.len() as f64;
        }
        let mut values: Vec<f64> = pairs
            .map(|(run, other)| self.conditions[0].left.of(run, other))
            .collect();
        values.sort_by(f64::total_cmp);
        if values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        match (self.over, values.len()) {
            (_, 0) => f64::NAN,
            (Over::Max, count) => values[count - 1],
            (Over::Min, _) => values[0],
            (_, count) if count % 2 == 1 => values[count / 2],
            (_, count) => (values[count / 2 - 1] + values[count / 2]) / 2.0,
        }
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        let expressions = self.conditions.iter().flat_map(|condition| {
            let right = condition.right.iter().map(|(_, right)| right);
            std::iter::once(&condition.left).chain(right)
        });
        expressions.flat_map(|expression| {
            std::iter::once(&expression.first).chain(expression.rest.iter().map(|(_, operand)| operand))
        })
    }
}

fn condition(words: &[&str]) -> Result<Condition, Wrong> {
    let relation = |word: &str| match word {
        "<" => Some(Relation::Less),
        "<=" => Some(Relation::AtMost),
        "=" => Some(Relation::Equal),
        ">=" => Some(Relation::AtLeast),
        ">" => Some(Relation::More),
        _ => None,
    };
    let found = words
        .iter()
        .enumerate()
        .find_map(|(at, word)| Some((at, relation(word)?)));
    match found {
        None => Ok(Condition {
            left: expression(words)?,
            right: None,
        }),
        Some((at, relation)) => Ok(Condition {
            left: expression(&words[..at])?,
            right: Some((relation, expression(&words[at + 1..])?)),
        }),
    }
}

fn expression(words: &[&str]) -> Result<Expression, Wrong> {
    let Some((first, rest)) = words.split_first() else {
        return Err(Wrong("a figure is missing".to_owned()));
    };
    let mut expression = Expression {
        first: operand(first)?,
        rest: Vec::new(),
    };
    for pair in rest.chunks(2) {
        match pair {
            ["+", word] => expression.rest.push(('+', operand(word)?)),
            ["-", word] => expression.rest.push(('-', operand(word)?)),
            ["*", word] => expression.rest.push(('*', operand(word)?)),
            ["/", word] => expression.rest.push(('/', operand(word)?)),
            _ => {
                let message = format!("`{}`: one of `+ - * /` and an operand would be right", pair.join(" "));
                return Err(Wrong(message));
            }
        }
    }
    Ok(expression)
}

fn operand(word: &str) -> Result<Operand, Wrong> {
    if let Some((_, rank)) = VERDICTS.iter().find(|(name, _)| *name == word) {
        return Ok(Operand::Number(*rank));
    }
    if let Some(number) = word.parse().ok().filter(|number: &f64| number.is_finite()) {
        return Ok(Operand::Number(number));
    }
    match word.strip_prefix("against:") {
        Some(path) => Figure::parse(path).map(Operand::OfOther),
        None => Figure::parse(word).map(Operand::Of),
    }
    .map_err(Wrong)
}

impl Condition {
    fn holds(&self, run: &Summary, other: Option<&Summary>) -> bool {
        let Some((relation, right)) = &self.right else {
            return false;
        };
        let (left, right) = (self.left.of(run, other), right.of(run, other));
        match relation {
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::Equal => left == right,
            Relation::AtLeast => left >= right,
            Relation::More => left > right,
        }
    }
}

impl Expression {
    fn of(&self, run: &Summary, other: Option<&Summary>) -> f64 {
        let value = |operand: &Operand| match operand {
            Operand::Number(number) => *number,
            Operand::Of(figure) => figure.of(run).unwrap_or(f64::NAN),
            Operand::OfOther(figure) => other.and_then(|other| figure.of(other)).unwrap_or(f64::NAN),
        };
        self.rest
            .iter()
            .fold(value(&self.first), |so_far, (operator, operand)| match operator {
                '+' => so_far + value(operand),
                '-' => so_far - value(operand),
                '*' => so_far * value(operand),
                _ => so_far / value(operand),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::summary::Summariser;
    use netburn_record::{Header, RunStatus};
    use netburn_scenario::{Environment, load};
    use netburn_workload::Verdict;

    /// Summaries of nothing, with these totals and verdicts.
    fn runs(of: &[(f64, Verdict)]) -> Vec<Summary> {
        let (plan, _) = load("anomaly").unwrap().resolve_for(Environment::Simulate).unwrap();
        let summary = Summariser::new(Header::simulated(plan)).finish("", &RunStatus::Complete);
        of.iter()
            .map(|(mbps, verdict)| {
                let mut summary = summary.clone();
                summary.totals.throughput_mbps = *mbps;
                summary.verdict = *verdict;
                summary
            })
            .collect()
    }

    #[test]
    fn by_hand() {
        let some = runs(&[
            (10.0, Verdict::Fail),
            (30.0, Verdict::Pass),
            (20.0, Verdict::Marginal),
            (40.0, Verdict::Fail),
        ]);
        let others = runs(&[(20.0, Verdict::Fail); 4]);
        let of = |text: &str| Formula::parse(text).unwrap().of(&some, &others);
        assert_eq!(of("totals.throughput_mbps"), 25.0);
        assert_eq!(of("max totals.throughput_mbps - 1"), 39.0);
        assert_eq!(of("min totals.throughput_mbps / against:totals.throughput_mbps"), 0.5);
        assert_eq!(of("share totals.throughput_mbps >= 20"), 0.75);
        assert_eq!(of("share verdict = fail"), 0.5);
        assert_eq!(of("share verdict >= marginal and totals.throughput_mbps > 20"), 0.25);
        assert_eq!(of("share verdict = against:verdict"), 0.5);
        assert!(of("totals.airtime_jain").is_nan());
        assert_eq!(of("share totals.airtime_jain < 1"), 0.0);
    }

    #[test]
    fn what_it_comes_out_in() {
        let unit = |text: &str| Formula::parse(text).unwrap().unit();
        assert_eq!(unit("totals.throughput_mbps"), Unit::Mbps);
        assert_eq!(
            unit("totals.throughput_mbps / against:totals.throughput_mbps"),
            Unit::Share
        );
        assert_eq!(unit("max station.b.probe.max_ms - 3"), Unit::Ms);
        assert_eq!(unit("share verdict = fail"), Unit::Share);
        assert!(Formula::parse("share verdict = against:verdict").unwrap().compares());
    }

    #[test]
    fn bad_input() {
        for (text, right) in [
            ("", "missing"),
            ("share verdict", "share FIGURE"),
            ("verdict = fail", "share FIGURE"),
            ("share verdict =", "missing"),
            ("totals.throughput_mbps totals.throughput_mbps", "operand"),
            ("totals.througput", "totals.throughput_mbps"),
            ("share verdict = good", "totals"),
        ] {
            let error = Formula::parse(text).unwrap_err();
            assert!(error.0.contains(right), "{text}: {error}");
        }
    }
}
