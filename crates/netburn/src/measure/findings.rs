//! Findings of a measurement, in words.

use netburn_analysis::format::{mbps, ms};
use netburn_fit::evidence::Quantity;
use netburn_fit::home::{LineUse, Parameter};
use netburn_fit::{Fit, Models, Schedule};
use netburn_report::sanitise::wrap;
use netburn_report::table::{Cell, left, render, right};
use netburn_workload::{Direction, ProbeTarget};

/// Directions of transfers, in the order in which they are shown.
const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];
/// Added delay of a device below which no device is named, in ms.
const NOTABLE: f64 = 10.0;
/// Part of the goodput of the fastest device below which a device is slow: repeated transfers differ by some percent.
const NOTABLY_SLOWER: f64 = 0.9;

/// Findings of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Findings {
    /// Down and up.
    line: [LineRate; 2],
    /// True if probes reached the first hop beyond the router, so that the line is the internet line.
    is_internet: bool,
    /// Queue of the access point.
    queue: String,
    /// True if the model explains the measurement.
    is_explained: bool,
    devices: Vec<Found>,
}

/// Rate between the access point and the server, in Mbit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LineRate {
    /// It was full: the median and the 90 % interval.
    Identified(f64, f64, f64),
    /// It was not full: the highest rate of all devices together.
    NotFull(f64),
    /// The same, if it is not known whether it was full.
    AtLeast(f64),
    Unknown,
}

/// Findings about one device.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    name: String,
    /// Goodput when only this device transfers, down and up, in Mbit/s.
    alone: [Option<f64>; 2],
    /// Median round trip to the server without load, in ms.
    idle: Option<f64>,
    /// The same while all devices download, and while all upload.
    loaded: [Option<f64>; 2],
}

impl Findings {
    pub(super) fn new(fit: &Fit) -> Self {
        let schedule = fit.models.schedule();
        let value = |phase: usize, station: usize, quantity: Quantity| {
            let mut all = fit.observations.iter();
            let key = |one: &&_| is(one, phase, station, quantity);
            all.find(key).map(|one| one.measured)
        };
        let delay = |phase: Option<usize>, station| value(phase?, station, Quantity::Latency(ProbeTarget::Server, 50));
        let idle = schedule.phases.iter().position(|phase| phase.flows.is_empty());
        let stations = schedule.stations.iter().enumerate();
        let devices = stations.map(|(station, name)| Found {
            name: name.clone(),
            alone: DIRECTIONS.map(|direction| {
                value(
                    phase_of(schedule, &[station], direction)?,
                    station,
                    Quantity::Goodput(direction),
                )
            }),
            idle: delay(idle, station),
            loaded: DIRECTIONS.map(|direction| {
                let all: Vec<usize> = (0..schedule.stations.len()).collect();
                delay(phase_of(schedule, &all, direction), station)
            }),
        });
        Findings {
            line: DIRECTIONS.map(|direction| line_rate(fit, direction)),
            is_internet: fit.models.home().has_internet_line,
            queue: queue(&fit.models),
            is_explained: fit.models.explains(),
            devices: devices.collect(),
        }
    }

    /// Lines of at most `width` columns.
    pub(super) fn text(&self, width: usize) -> String {
        let mut paragraphs = Vec::new();
        if !self.is_explained {
            paragraphs.push(
                "No model behaves like this network, so do not rely on network.toml. The measured values are in the table."
                    .to_owned(),
            );
        }
        paragraphs.push(self.line_text());
        paragraphs.push(format!("Queue of the access point: {}.", self.queue));
        paragraphs.extend(self.slowest());
        let mut text = String::new();
        for paragraph in paragraphs {
            text.push_str(&wrap(&paragraph, width, "  ").join("\n"));
            text.push('\n');
        }
        text.push_str(&format!("\n{}\n\n", self.table(width)));
        for paragraph in [
            Some(
                "Rates are in Mbit/s, for one device alone. Delays are median round trips to the server: a call needs less \
                 than about 150 ms."
                    .to_owned(),
            ),
            self.most_delayed(),
        ]
        .into_iter()
        .flatten()
        {
            text.push_str(&wrap(&paragraph, width, "").join("\n"));
            text.push('\n');
        }
        text
    }

    fn line_text(&self) -> String {
        let each: Vec<String> = DIRECTIONS
            .iter()
            .zip(&self.line)
            .map(|(direction, rate)| match *rate {
                LineRate::Identified(median, low, high) => format!(
                    "{} {} Mbit/s (90 % interval {} to {})",
                    direction.key(),
                    mbps(median),
                    mbps(low),
                    mbps(high)
                ),
                LineRate::NotFull(rate) => format!(
                    "{} {} Mbit/s or more, because the devices did not fill it",
                    direction.key(),
                    mbps(rate)
                ),
                LineRate::AtLeast(rate) => format!("{} {} Mbit/s or more", direction.key(), mbps(rate)),
                LineRate::Unknown => format!("{} not known", direction.key()),
            })
            .collect();
        let what = if self.is_internet {
            "Internet line"
        } else {
            "Path between the access point and the server"
        };
        format!("{what}: {}.", each.join("; "))
    }

    /// The device with the lowest goodput, if it is notably slower than the fastest one.
    fn slowest(&self) -> Option<String> {
        let known = self
            .devices
            .iter()
            .filter_map(|device| Some((device.alone[0]?, device)));
        let (rate, device) = known.clone().min_by(|one, other| one.0.total_cmp(&other.0))?;
        let fastest = known.map(|(rate, _)| rate).fold(0.0, f64::max);
        (rate < NOTABLY_SLOWER * fastest).then(|| {
            format!(
                "Slowest device: {}, with {} Mbit/s down when it is alone.",
                device.name,
                mbps(rate)
            )
        })
    }

    /// The device to whose delay the load adds most.
    fn most_delayed(&self) -> Option<String> {
        let mut worst: Option<(f64, String)> = None;
        for device in &self.devices {
            for (loaded, verb) in device.loaded.iter().zip(["download", "upload"]) {
                let (Some(idle), Some(loaded)) = (device.idle, *loaded) else {
                    continue;
                };
                let added = loaded - idle;
                if added >= NOTABLE && worst.as_ref().is_none_or(|(most, _)| added > *most) {
                    let text = format!(
                        "The load adds most delay to {} while all devices {verb}: {} ms instead of {} ms.",
                        device.name,
                        ms(loaded),
                        ms(idle)
                    );
                    worst = Some((added, text));
                }
            }
        }
        worst.map(|(_, text)| text)
    }

    fn table(&self, width: usize) -> String {
        let rate = |value: Option<f64>| value.map_or_else(Cell::unknown, |rate| mbps(rate).into());
        let delay = |value: Option<f64>| value.map_or_else(Cell::unknown, |delay| format!("{} ms", ms(delay)).into());
        let columns = [
            left("DEVICE"),
            right("DOWN"),
            right("UP"),
            right("DELAY IDLE"),
            right("ALL DOWNLOAD"),
            right("ALL UPLOAD"),
        ];
        let rows = self.devices.iter().map(|device| {
            vec![
                device.name.clone().into(),
                rate(device.alone[0]),
                rate(device.alone[1]),
                delay(device.idle),
                delay(device.loaded[0]),
                delay(device.loaded[1]),
            ]
        });
        let rows: Vec<Vec<Cell>> = rows.collect();
        render(&columns, &rows, 1, width, false).join("\n")
    }
}

fn is(one: &netburn_fit::result::Observation, phase: usize, station: usize, quantity: Quantity) -> bool {
    (one.key.phase, one.key.station, one.key.quantity) == (phase, station, quantity)
}

/// The phase in which exactly these stations transfer, all of them in this direction only.
fn phase_of(schedule: &Schedule, stations: &[usize], direction: Direction) -> Option<usize> {
    schedule.phases.iter().position(|phase| {
        let mut own: Vec<usize> = phase.flows.iter().map(|flow| flow.station).collect();
        own.sort_unstable();
        own == stations && phase.flows.iter().all(|flow| flow.direction == direction)
    })
}

fn line_rate(fit: &Fit, direction: Direction) -> LineRate {
    let estimate = fit.estimate(Parameter::Line(direction));
    if let Some(estimate) = estimate.filter(|estimate| estimate.is_identified()) {
        return LineRate::Identified(estimate.median, estimate.interval.0, estimate.interval.1);
    }
    match (fit.highest(direction), fit.models.home().line[direction as usize]) {
        (Some(rate), LineUse::Free) => LineRate::NotFull(rate),
        (Some(rate), _) => LineRate::AtLeast(rate),
        (None, _) => LineRate::Unknown,
    }
}

fn queue(models: &Models) -> String {
    match models.discipline() {
        Some(kind) => format!("{} ({})", kind.name(), kind.properties().summary),
        None => {
            let why = if models.is_precise() {
                "several can behave like this"
            } else {
                "no model behaves exactly like the network"
            };
            format!("not identified, because {why} ({})", models.listed_disciplines(0.05))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, down: f64, loaded: [Option<f64>; 2]) -> Found {
        Found {
            name: name.to_owned(),
            alone: [Some(down), Some(20.0)],
            idle: Some(12.0),
            loaded,
        }
    }

    fn findings() -> Findings {
        Findings {
            line: [LineRate::Identified(94.1, 93.0, 95.24), LineRate::NotFull(9.5)],
            is_internet: false,
            queue: "fifo (one queue for the device)".to_owned(),
            is_explained: true,
            devices: vec![
                found("laptop", 94.0, [Some(80.0), Some(14.0)]),
                found("phone", 34.0, [Some(60.0), Some(240.4)]),
            ],
        }
    }

    #[test]
    fn a_line_that_was_not_full_has_a_lower_bound() {
        let text = findings().text(200);
        assert!(
            text.contains(
                "Path between the access point and the server: down 94.1 Mbit/s (90 % interval 93.0 to 95.2); up 9.5 Mbit/s \
                 or more, because the devices did not fill it."
            ),
            "{text}"
        );
        let open = Findings {
            line: [LineRate::Unknown, LineRate::AtLeast(9.5)],
            ..findings()
        };
        assert!(
            open.text(200).contains("down not known; up 9.5 Mbit/s or more."),
            "{}",
            open.text(200)
        );
        let internet = Findings {
            is_internet: true,
            line: [LineRate::Unknown; 2],
            ..findings()
        };
        assert!(
            internet
                .text(200)
                .starts_with("Internet line: down not known; up not known.")
        );
    }

    #[test]
    fn the_slowest_and_the_most_delayed_device_are_named() {
        let text = findings().text(200);
        assert!(text.contains("Slowest device: phone, with 34.0 Mbit/s down"), "{text}");
        // 240.4 − 12 is more than 80 − 12 and 60 − 12.
        assert!(
            text.contains("most delay to phone while all devices upload: 240 ms instead of 12.0 ms"),
            "{text}"
        );
        let row = text.lines().find(|line| line.starts_with("phone")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(
            cells,
            ["phone", "34.0", "20.0", "12.0", "ms", "60.0", "ms", "240", "ms"]
        );
    }

    #[test]
    fn of_equal_devices_none_is_the_slowest() {
        let of = |rates: [f64; 2]| {
            let devices = rates.map(|rate| found("one", rate, [None; 2])).to_vec();
            Findings { devices, ..findings() }.text(200)
        };
        assert!(!of([37.3, 37.4]).contains("Slowest"));
        assert!(!of([36.0, 40.0]).contains("Slowest"));
        assert!(of([35.9, 40.0]).contains("Slowest device: one, with 35.9 Mbit/s down"));
    }

    #[test]
    fn a_model_that_explains_nothing_is_not_recommended() {
        let warning = "do not rely on network.toml";
        assert!(!findings().text(200).contains(warning));
        let findings = Findings {
            is_explained: false,
            ..findings()
        };
        assert!(findings.text(200).contains(warning));
    }

    #[test]
    fn unknown_values_are_no_numbers() {
        let mut findings = findings();
        findings.devices.truncate(1);
        findings.devices[0].loaded = [None, Some(15.0)];
        let text = findings.text(200);
        assert!(text.contains('–'), "{text}");
        // One device is not the slowest of several, and 3 ms more is no delay by the load.
        assert!(!text.contains("Slowest") && !text.contains("adds most"), "{text}");
    }
}
