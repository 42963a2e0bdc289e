//! Axes: positions of ticks, and the format of values.

use netburn_analysis::format;
use netburn_units::format_decimal;
use serde::Serialize;

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Quantity along the axis.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Scale of the axis.
    pub scale: Scale,
    /// Fixed ends; `None` for those of the data.
    pub ends: (Option<f64>, Option<f64>),
}

/// Mapping from values to positions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps have equal distances.
    Linear,
    /// Logarithmic.
    Log,
    /// Percentiles by the number of nines: 0.5, 0.9, 0.99 and 0.999 have equal distances.
    Percentile,
    /// Names, one after another.
    Names(Vec<String>),
}

/// Unit of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Seconds.
    Seconds,
    /// Megabits (10⁶) per second.
    Mbps,
    /// A share, 0 to 1, written in percent.
    Share,
    /// A number without a unit.
    Count,
    /// Decibels over a milliwatt.
    Dbm,
    /// Nothing: names.
    None,
}

/// A tick: position and text.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// Text; empty for a tick without one.
    pub label: String,
}

impl Axis {
    /// An axis that covers the extent of its data.
    #[must_use]
    pub fn new(label: &str, unit: Unit, scale: Scale) -> Self {
        Axis {
            label: label.to_owned(),
            unit,
            scale,
            ends: (None, None),
        }
    }

    /// Label of the axis, with a note if it is logarithmic.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.scale {
            Scale::Log => format!("{} (log scale)", self.label),
            _ => self.label.clone(),
        }
    }

    /// The same axis with fixed ends.
    #[must_use]
    pub fn within(mut self, low: Option<f64>, high: Option<f64>) -> Self {
        self.ends = (low, high);
        self
    }

    /// The ends of the axis for values of that extent.
    #[must_use]
    pub fn range(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let (low, high) = (self.ends.0.unwrap_or(low), self.ends.1.unwrap_or(high));
        match &self.scale {
            Scale::Names(names) => (-0.5, names.len() as f64 - 0.5),
            Scale::Percentile => (low, high.max(low + 1e-6)),
            Scale::Log => {
                let low = if low > 0.0 { low } else { high.max(1.0) / 1e4 };
                (low / 1.15, high.max(low * 2.0) * 1.15)
            }
            Scale::Linear if high > low => match self.ends {
                (_, Some(_)) => (low, high),
                _ => (low, high + (high - low) * 0.05),
            },
            Scale::Linear => (low, low + low.abs().max(1.0)),
        }
    }

    /// The place of a value between the ends, 0 to 1.
    #[must_use]
    pub fn place(&self, value: f64, (low, high): (f64, f64)) -> f64 {
        let along = |value: f64| match self.scale {
            Scale::Log => value.max(low).log10(),
            Scale::Percentile => nines(value),
            Scale::Linear | Scale::Names(_) => value,
        };
        let (low, high) = (along(low), along(high));
        ((along(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Ticks between the ends: about `wanted`.
    #[must_use]
    pub fn ticks(&self, (low, high): (f64, f64), wanted: usize) -> Vec<Tick> {
        let tick = |value: f64| Tick {
            value,
            label: self.unit.tick(value),
        };
        match &self.scale {
            Scale::Names(names) => {
                let named = names.iter().enumerate();
                named
                    .map(|(place, name)| Tick {
                        value: place as f64,
                        label: name.clone(),
                    })
                    .collect()
            }
            Scale::Percentile => {
                let levels = [0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
                let within = levels
                    .into_iter()
                    .filter(|level| *level >= low - 1e-9 && *level <= high + 1e-9);
                within.map(tick).collect()
            }
            Scale::Log => log_ticks(low, high).into_iter().map(tick).collect(),
            Scale::Linear => linear_ticks(low, high, wanted, self.unit)
                .into_iter()
                .map(tick)
                .collect(),
        }
    }
}

impl Unit {
    /// A value with its unit, as in a table or a label.
    #[must_use]
    pub fn write(self, value: f64) -> String {
        match self {
            Unit::Ms => format::span(value),
            Unit::Seconds if value >= 100.0 => format!("{value:.0} s"),
            Unit::Seconds => format!("{} s", format::short(value)),
            Unit::Mbps => format!("{} Mbit/s", format::mbps(value)),
            Unit::Share => format::percent(value),
            Unit::Dbm => format!("{} dBm", format::short(value)),
            Unit::Count => format::short(value),
            Unit::None => String::new(),
        }
    }

    /// A round value with its unit, as on an axis.
    fn tick(self, value: f64) -> String {
        let plain = |value| format_decimal(value, 6);
        match self {
            Unit::Ms if value >= 1000.0 => format!("{} s", plain(value / 1000.0)),
            Unit::Ms if value > 0.0 && value < 1.0 => format!("{} µs", plain(value * 1000.0)),
            Unit::Ms => format!("{} ms", plain(value)),
            Unit::Seconds if value >= 120.0 && value % 60.0 == 0.0 => format!("{} min", plain(value / 60.0)),
            Unit::Seconds => format!("{} s", plain(value)),
            Unit::Share => format!("{} %", plain(value * 100.0)),
            Unit::Mbps | Unit::Count | Unit::Dbm => plain(value),
            Unit::None => String::new(),
        }
    }
}

/// Returns the number of nines of a level: 0.9 has 1, 0.99 has 2.
#[must_use]
pub fn nines(level: f64) -> f64 {
    -(1.0 - level).max(1e-9).log10()
}

/// Every power of ten, with 2 and 5 in between if there are few.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let between: &[f64] = match last - first {
        ..=3 => &[1.0, 2.0, 5.0],
        4..=5 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let all = (first..=last).flat_map(|power| between.iter().map(move |step| step * 10_f64.powi(power)));
    all.filter(|value| *value >= low && *value <= high).collect()
}

/// Round values with a distance of 1, 2 or 5 times a power of ten. For seconds, also multiples of
/// minutes.
fn linear_ticks(low: f64, high: f64, wanted: usize, unit: Unit) -> Vec<f64> {
    let rough = (high - low) / wanted.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let mut step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    if unit == Unit::Seconds && step >= 30.0 {
        let minutes = [
            30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0, 86_400.0,
        ];
        step = minutes.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(step);
    }
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 100.0) as u32;
    (0..=count).map(|index| (first + f64::from(index)) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, ends: (f64, f64)) -> Vec<String> {
        axis.ticks(ends, 5).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn a_logarithmic_axis_is_labelled() {
        let heading = |scale| Axis::new("latency", Unit::Ms, scale).heading();
        assert_eq!(heading(Scale::Log), "latency (log scale)");
        assert_eq!(heading(Scale::Linear), "latency");
    }

    #[test]
    fn ticks_are_round() {
        let linear = |unit| Axis::new("", unit, Scale::Linear);
        assert_eq!(labels(&linear(Unit::Mbps), (0.0, 97.0)), ["0", "20", "40", "60", "80"]);
        assert_eq!(labels(&linear(Unit::Seconds), (0.0, 305.0)), ["0 s", "2 min", "4 min"]);
        assert_eq!(
            labels(&linear(Unit::Seconds), (0.0, 8.0)),
            ["0 s", "2 s", "4 s", "6 s", "8 s"]
        );
        assert_eq!(
            labels(&linear(Unit::Share), (0.0, 1.0)),
            ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
        );
        let log = Axis::new("", Unit::Ms, Scale::Log);
        assert_eq!(
            labels(&log, (0.7, 80.0)),
            ["1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"]
        );
        assert_eq!(
            labels(&log, (0.2, 30_000.0)),
            ["1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        let nines = Axis::new("", Unit::Share, Scale::Percentile);
        assert_eq!(
            labels(&nines, (0.5, 0.9995)),
            ["50 %", "75 %", "90 %", "95 %", "99 %", "99.9 %"]
        );
    }

    #[test]
    fn positions_are_between_the_ends() {
        let nines = Axis::new("", Unit::Share, Scale::Percentile);
        assert!((nines.place(0.99, (0.9, 0.999)) - 0.5).abs() < 1e-9);
        let log = Axis::new("", Unit::Ms, Scale::Log);
        assert!((log.place(10.0, (1.0, 100.0)) - 0.5).abs() < 1e-9);
        assert!(log.place(0.0, (1.0, 100.0)).abs() < 1e-9, "nothing is below the axis");
    }

    #[test]
    fn an_axis_of_one_value_has_room() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = Axis::new("", Unit::Ms, scale);
            for value in [0.0, 5.0] {
                let (low, high) = axis.range((value, value));
                assert!(high > low, "{axis:?} {value}");
                assert!(!axis.ticks((low, high), 5).is_empty());
            }
        }
    }
}
