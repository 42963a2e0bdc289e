//! Formulas over the metrics of runs.
//!
//! ```text
//! station.b.probe.p95_ms                                            the median over the runs
//! max station.b.probe.max_ms                                        the largest of all runs; `min` the smallest
//! totals.throughput_mbps / against:totals.throughput_mbps           each run over the one it is compared with
//! share station.tv.film.stalls = 0 and station.tv.verdict >= marginal    the share of the runs of which that is true
//! ```
//!
//! Words are separated by spaces. Operands are metrics, numbers in their units, and names of verdicts. `+ - * /` are evaluated
//! from left to right.

use super::paths::MetricPath;
use netburn_record::metrics::{Unit, VERDICTS};
use netburn_record::summary::Summary;

/// An expression over metrics and its aggregation over runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    over: Aggregate,
    conditions: Vec<Condition>,
}

/// Invalid formula, with the expected syntax.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormulaError(pub String);

/// Aggregation over runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Median,
    Max,
    Min,
    Share,
}

/// An expression and, for a share, the expression it is compared with.
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

/// A first operand, and the operations on it in order.
#[derive(Debug, Clone, PartialEq)]
struct Expression {
    first: Operand,
    rest: Vec<(char, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Number(f64),
    Metric(MetricPath),
    BaselineMetric(MetricPath),
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// The formula is invalid.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let mut words = text.split_whitespace().peekable();
        let over = match words.peek().copied() {
            Some("max") => Aggregate::Max,
            Some("min") => Aggregate::Min,
            Some("share") => Aggregate::Share,
            _ => Aggregate::Median,
        };
        if over != Aggregate::Median {
            words.next();
        }
        let rest: Vec<&str> = words.collect();
        let conditions: Vec<Condition> = rest
            .split(|word| *word == "and")
            .map(condition)
            .collect::<Result<_, _>>()?;
        match over {
            Aggregate::Share if conditions.iter().any(|condition| condition.right.is_none()) => Err(FormulaError(
                "`share` needs a condition: `share METRIC <= VALUE`".to_owned(),
            )),
            Aggregate::Share => Ok(Formula { over, conditions }),
            _ if conditions.len() > 1 || conditions[0].right.is_some() => Err(FormulaError(
                "conditions belong in a `share`: `share METRIC <= VALUE and …`".to_owned(),
            )),
            _ => Ok(Formula { over, conditions }),
        }
    }

    /// Returns the unit of the result.
    #[must_use]
    pub fn unit(&self) -> Unit {
        let expression = &self.conditions[0].left;
        match (self.over, &expression.first) {
            (Aggregate::Share, _) => Unit::Share,
            _ if expression.rest.iter().any(|(operator, _)| *operator == '/') => Unit::Share,
            (_, Operand::Metric(path) | Operand::BaselineMetric(path)) => path.unit(),
            (_, Operand::Number(_)) => Unit::Count,
        }
    }

    /// Returns `true` if the formula uses other runs (`against:`).
    #[must_use]
    pub fn compares(&self) -> bool {
        self.operands()
            .any(|operand| matches!(operand, Operand::BaselineMetric(_)))
    }

    /// Returns the metrics that the formula reads; `true` marks those of the other runs.
    pub fn metrics(&self) -> impl Iterator<Item = (&MetricPath, bool)> {
        self.operands().filter_map(|operand| match operand {
            Operand::Number(_) => None,
            Operand::Metric(path) => Some((path, false)),
            Operand::BaselineMetric(path) => Some((path, true)),
        })
    }

    /// Evaluates the formula over `runs` and, if it uses them, the corresponding `others`. Returns NaN if a metric has no value.
    #[must_use]
    pub fn evaluate(&self, runs: &[Summary], others: &[Summary]) -> f64 {
        let pairs = runs.iter().enumerate().map(|(index, run)| (run, others.get(index)));
        if self.over == Aggregate::Share {
            let holds = |(run, other)| self.conditions.iter().all(|condition| condition.holds(run, other));
            let count = pairs.filter(|pair| holds(*pair)).count();
            return count as f64 / runs.len() as f64;
        }
        let mut values: Vec<f64> = pairs
            .map(|(run, other)| self.conditions[0].left.evaluate(run, other))
            .collect();
        values.sort_by(f64::total_cmp);
        if values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        match (self.over, values.len()) {
            (_, 0) => f64::NAN,
            (Aggregate::Max, count) => values[count - 1],
            (Aggregate::Min, _) => values[0],
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

fn condition(words: &[&str]) -> Result<Condition, FormulaError> {
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

fn expression(words: &[&str]) -> Result<Expression, FormulaError> {
    let Some((first, rest)) = words.split_first() else {
        return Err(FormulaError("missing metric".to_owned()));
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
                let message = format!(
                    "unexpected `{}`; expected one of `+ - * /` and an operand",
                    pair.join(" ")
                );
                return Err(FormulaError(message));
            }
        }
    }
    Ok(expression)
}

fn operand(word: &str) -> Result<Operand, FormulaError> {
    if let Some((_, rank)) = VERDICTS.iter().find(|(name, _)| *name == word) {
        return Ok(Operand::Number(*rank));
    }
    if let Some(number) = word.parse().ok().filter(|number: &f64| number.is_finite()) {
        return Ok(Operand::Number(number));
    }
    match word.strip_prefix("against:") {
        Some(path) => MetricPath::parse(path).map(Operand::BaselineMetric),
        None => MetricPath::parse(word).map(Operand::Metric),
    }
    .map_err(FormulaError)
}

impl Condition {
    fn holds(&self, run: &Summary, other: Option<&Summary>) -> bool {
        let Some((relation, right)) = &self.right else {
            return false;
        };
        let (left, right) = (self.left.evaluate(run, other), right.evaluate(run, other));
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
    fn evaluate(&self, run: &Summary, other: Option<&Summary>) -> f64 {
        let value = |operand: &Operand| match operand {
            Operand::Number(number) => *number,
            Operand::Metric(path) => path.value(run).unwrap_or(f64::NAN),
            Operand::BaselineMetric(path) => other.and_then(|other| path.value(other)).unwrap_or(f64::NAN),
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

    /// Empty summaries with these throughputs and verdicts.
    fn runs(values: &[(f64, Verdict)]) -> Vec<Summary> {
        let (plan, _) = load("anomaly").unwrap().resolve_for(Environment::Simulate).unwrap();
        let summary = Summariser::new(Header::simulated(plan)).finish("", &RunStatus::Complete);
        values
            .iter()
            .map(|(mbps, verdict)| {
                let mut summary = summary.clone();
                summary.totals.throughput_mbps = *mbps;
                summary.verdict = *verdict;
                summary
            })
            .collect()
    }

    #[test]
    fn known_values() {
        let some = runs(&[
            (10.0, Verdict::Fail),
            (30.0, Verdict::Pass),
            (20.0, Verdict::Marginal),
            (40.0, Verdict::Fail),
        ]);
        let others = runs(&[(20.0, Verdict::Fail); 4]);
        let value = |text: &str| Formula::parse(text).unwrap().evaluate(&some, &others);
        assert_eq!(value("totals.throughput_mbps"), 25.0);
        assert_eq!(value("max totals.throughput_mbps - 1"), 39.0);
        assert_eq!(
            value("min totals.throughput_mbps / against:totals.throughput_mbps"),
            0.5
        );
        assert_eq!(value("share totals.throughput_mbps >= 20"), 0.75);
        assert_eq!(value("share verdict = fail"), 0.5);
        assert_eq!(value("share verdict >= marginal and totals.throughput_mbps > 20"), 0.25);
        assert_eq!(value("share verdict = against:verdict"), 0.5);
        assert!(value("totals.airtime_jain").is_nan());
        assert_eq!(value("share totals.airtime_jain < 1"), 0.0);
    }

    #[test]
    fn units() {
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
    fn invalid_formulas() {
        for (text, right) in [
            ("", "missing"),
            ("share verdict", "share METRIC"),
            ("verdict = fail", "share METRIC"),
            ("share verdict =", "missing"),
            ("totals.throughput_mbps totals.throughput_mbps", "operand"),
            ("totals.througput", "throughput_mbps"),
            ("share verdict = good", "throughput_mbps"),
        ] {
            let error = Formula::parse(text).unwrap_err();
            assert!(error.0.contains(right), "{text}: {error}");
        }
    }
}
