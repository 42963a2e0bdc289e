//! The model as a scenario file.

use super::{Home, Parameter, has_limit};
use crate::links::ModeSource;
use crate::schedule::Schedule;
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
        self.access_point(&mut file, discipline);
        for station in 0..self.stations.len() {
            self.station(&mut file, station, schedule);
        }
        file.text.push('\n');
        file.text.push_str(&schedule.sections());
        file.text
    }

    /// The access point with its queue, its line and its radio.
    fn access_point(&self, file: &mut File<'_>, discipline: QueueKind) {
        file.section("ap.home");
        file.line("queue", discipline.name(), file.comments.of_discipline());
        if has_limit(discipline) {
            file.parameter("queue_limit", Parameter::QueueLimit);
        }
        file.section("ap.home.wan");
        file.parameter("down", Parameter::Line(Direction::Down));
        file.parameter("up", Parameter::Line(Direction::Up));
        file.parameter("delay", Parameter::LineDelay);
        file.parameter("queue_down", Parameter::LineQueue(Direction::Down));
        file.parameter("queue_up", Parameter::LineQueue(Direction::Up));
        file.known("discipline", "fifo", "assumed: no queue management on the line");
        let (band, is_recorded) = self.band;
        let radio = self.radio();
        file.section(&format!("ap.home.radio.{}", band.name()));
        let of_band = if is_recorded {
            "the band is measured"
        } else {
            "the band is assumed"
        };
        let of_standard = format!("the newest standard of the stations; {of_band}");
        file.known("standard", radio.standard.name(), &of_standard);
        let width = format!("{} MHz", radio.width.as_mhz());
        file.known("width", &width, "the largest width of the stations");
        file.known_number("streams", radio.streams, "assumed: those of the stations, at least two");
        file.parameter("channel_busy", Parameter::Busy);
    }

    fn station(&self, file: &mut File<'_>, station: usize, schedule: &Schedule) {
        let (mode, source) = self.modes[station];
        let of_mode = match source {
            ModeSource::Reported => "measured: the driver reported it",
            ModeSource::Rates => "measured: the mode whose rates were recorded",
            ModeSource::Assumed => "assumed: the device recorded no link",
        };
        file.section(&format!("station.{}", self.stations[station]));
        file.line("joins", &format!("home.{}", self.band.0.name()), None);
        file.known("standard", mode.standard.name(), of_mode);
        file.known_number("streams", mode.streams, of_mode);
        file.parameter("signal", Parameter::Signal(station));
        let _ = writeln!(file.text, "workload = {:?}", schedule.workloads(station));
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
