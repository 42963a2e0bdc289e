//! The model as a scenario file.

use super::{Home, IdleDelay, LineUse, Parameter, has_limit};
use crate::links::ModeSource;
use crate::schedule::Schedule;
use netburn_medium::config::Band;
use netburn_medium::queue::QueueKind;
use netburn_workload::Direction;
use std::fmt::Write as _;

/// Comments of the keys of a file.
pub(crate) trait Comments {
    /// Comment of a parameter.
    fn comment_of(&self, parameter: Parameter) -> Option<String>;
    /// Comment of the queue discipline.
    fn of_discipline(&self) -> Option<String>;
}

/// A file without comments, for a simulation.
pub(crate) struct NoComments;

impl Comments for NoComments {
    fn comment_of(&self, _: Parameter) -> Option<String> {
        None
    }

    fn of_discipline(&self) -> Option<String> {
        None
    }
}

impl Home {
    /// The scenario with these values of the parameters, and the workloads of a schedule.
    pub(crate) fn scenario(
        &self,
        value: &dyn Fn(Parameter) -> f64,
        discipline: QueueKind,
        schedule: &Schedule,
        comments: &dyn Comments,
    ) -> String {
        let mut file = File {
            text: format!(
                "duration = \"{}\"\nbaseline = \"1 s\"\ndrain = \"4 s\"\n",
                schedule.duration()
            ),
            value,
            comments,
        };
        file.section("server.link");
        file.parameter("delay", Parameter::ServerDelay);
        self.access_points(&mut file, discipline);
        for station in 0..self.stations.len() {
            self.station(&mut file, station, schedule);
        }
        file.text.push('\n');
        file.text.push_str(&schedule.sections());
        file.text
    }

    /// The access point with its queue, its line and its radio.
    fn access_points(&self, file: &mut File<'_>, discipline: QueueKind) {
        file.section("ap.home");
        file.line("queue", discipline.name(), file.comments.of_discipline());
        if has_limit(discipline) {
            file.parameter("queue_limit", Parameter::QueueLimit);
        }
        file.section("ap.home.wan");
        file.parameter("down", Parameter::Line(Direction::Down));
        file.parameter("up", Parameter::Line(Direction::Up));
        file.parameter("delay", Parameter::LineDelay);
        for direction in [Direction::Down, Direction::Up] {
            let key = |name: &str| format!("{name}_{}", direction.key());
            if self.line[direction as usize] == LineUse::Managed {
                let why = "measured: the line was full, and had no queue";
                file.known(&key("discipline"), "cake", why);
            } else {
                file.parameter(&key("queue"), Parameter::LineQueue(direction));
            }
        }
        file.known("discipline", "fifo", "assumed: no further queue management on the line");
        for band in self.bands() {
            self.radio_section(file, None, band);
        }
        for (number, unit) in self.units.iter().enumerate() {
            let name = Home::ap_name(Some(number));
            file.section(&format!("ap.{name}"));
            if unit.is_wireless {
                let backhaul = format!("home.{}", unit.band.name());
                let why = "measured: its stations recorded another radio, and have longer round trips without load";
                file.known("backhaul", &backhaul, why);
                file.parameter("backhaul_signal", Parameter::Backhaul(number));
            } else {
                let why = "assumed: a cable, because nothing shows a wireless backhaul on the channel of its stations";
                file.known("backhaul", "home", why);
            }
            file.known("queue", discipline.name(), "assumed: that of the router");
            self.radio_section(file, Some(number), unit.band);
            if !unit.shares_channel {
                let why = "measured: not the channel of the router's radio. Its number is an example";
                file.known_number("channel", other_channel(unit.band), why);
            }
        }
    }

    fn radio_section(&self, file: &mut File<'_>, unit: Option<usize>, band: Band) {
        let radio = self.radio(band);
        let mut own = self.stations.iter().filter(|station| station.band.0 == band);
        let of_band = if own.any(|station| station.band.1) {
            "the band is measured"
        } else {
            "the band is assumed"
        };
        let ap = Home::ap_name(unit);
        file.section(&format!("ap.{ap}.radio.{}", band.name()));
        let of_standard = format!("the newest standard of the stations; {of_band}");
        file.known("standard", radio.standard.name(), &of_standard);
        let width = format!("{} MHz", radio.width.as_mhz());
        file.known("width", &width, "the largest width of the stations");
        file.known_number("streams", radio.streams, "assumed: those of the stations, at least two");
        if unit.is_none() {
            file.parameter("channel_busy", Parameter::Busy(band));
        }
    }

    fn station(&self, file: &mut File<'_>, number: usize, schedule: &Schedule) {
        let station = &self.stations[number];
        let (mode, source) = station.mode;
        let of_mode = match source {
            ModeSource::Reported => "measured: the driver reported it",
            ModeSource::Rates => "measured: the mode whose rates were recorded",
            ModeSource::Assumed => "assumed: the device recorded no link",
        };
        file.section(&format!("station.{}", station.name));
        let ap = Home::ap_name(station.unit);
        file.line("joins", &format!("{ap}.{}", station.band.0.name()), None);
        file.known("standard", mode.standard.name(), of_mode);
        file.known_number("streams", mode.streams, of_mode);
        file.parameter("signal", Parameter::Signal(number));
        if let IdleDelay::Adapter(_) = station.idle {
            file.parameter("rx_interrupt_delay", Parameter::AdapterDelay(number));
        }
        let _ = writeln!(file.text, "workload = {:?}", schedule.workloads(number));
        if station.idle == IdleDelay::Dozing {
            file.section(&format!("station.{}.power_save", station.name));
            let why = "measured: answers from beyond the access point are late without load";
            file.known("mode", "legacy", why);
            file.parameter("timeout", Parameter::DozeTimeout(number));
        }
        let directions = [Direction::Down, Direction::Up].into_iter();
        let limited: Vec<Direction> = directions
            .filter(|one| station.limit[*one as usize].is_some())
            .collect();
        if !limited.is_empty() {
            file.section(&format!("station.{}.adapter_rate", station.name));
        }
        for direction in limited {
            file.parameter(direction.key(), Parameter::AdapterRate(number, direction));
        }
    }
}

/// Channel whose frequencies are not those of the default channel of a band, for each width up to 160 MHz.
const fn other_channel(band: Band) -> u8 {
    match band {
        Band::Ghz2_4 => 11,
        Band::Ghz5 => 100,
        Band::Ghz6 => 101,
    }
}

/// A scenario file that is being written.
struct File<'a> {
    text: String,
    value: &'a dyn Fn(Parameter) -> f64,
    comments: &'a dyn Comments,
}

impl File<'_> {
    fn section(&mut self, header: &str) {
        let _ = writeln!(self.text, "\n[{header}]");
    }

    fn parameter(&mut self, key: &str, parameter: Parameter) {
        let value = parameter.text((self.value)(parameter));
        self.line(key, &value, self.comments.comment_of(parameter));
    }

    /// A key that is not estimated.
    fn known(&mut self, key: &str, value: &str, comment: &str) {
        self.line(key, value, self.with_comments(comment));
    }

    /// The same with a number.
    fn known_number(&mut self, key: &str, value: u8, comment: &str) {
        self.write(key, &value.to_string(), self.with_comments(comment));
    }

    /// The comment, in a file with comments.
    fn with_comments(&self, comment: &str) -> Option<String> {
        self.comments.of_discipline().map(|_| comment.to_owned())
    }

    fn line(&mut self, key: &str, value: &str, comment: Option<String>) {
        self.write(key, &format!("\"{value}\""), comment);
    }

    /// A key below its comment.
    fn write(&mut self, key: &str, value: &str, comment: Option<String>) {
        if let Some(comment) = comment {
            let _ = writeln!(self.text, "# {comment}");
        }
        let _ = writeln!(self.text, "{key} = {value}");
    }
}
