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
        let mut text = String::new();
        let parameter = |text: &mut String, key: &str, parameter: Parameter| {
            line(
                text,
                key,
                &parameter.text(value(parameter)),
                comments.comment_of(parameter),
            );
        };
        let comment = |text: &str| comments.of_discipline().map(|_| text.to_owned());
        let _ = writeln!(
            text,
            "duration = \"{}\"\nbaseline = \"1 s\"\ndrain = \"4 s\"\n",
            schedule.duration()
        );
        text.push_str("[server.link]\n");
        parameter(&mut text, "delay", Parameter::ServerDelay);
        text.push_str("\n[ap.home]\n");
        line(&mut text, "queue", discipline.name(), comments.of_discipline());
        if has_limit(discipline) {
            parameter(&mut text, "queue_limit", Parameter::QueueLimit);
        }
        text.push_str("\n[ap.home.wan]\n");
        parameter(&mut text, "down", Parameter::Line(Direction::Down));
        parameter(&mut text, "up", Parameter::Line(Direction::Up));
        parameter(&mut text, "delay", Parameter::LineDelay);
        parameter(&mut text, "queue", Parameter::LineQueue);
        line(
            &mut text,
            "discipline",
            "fifo",
            comment("assumed: no queue management on the line"),
        );
        let (band, is_recorded) = self.band;
        let radio = self.radio();
        let _ = writeln!(text, "\n[ap.home.radio.{}]", band.name());
        let of_band = if is_recorded {
            "the band is measured"
        } else {
            "the band is assumed"
        };
        let of_radio = format!("the newest standard of the stations; {of_band}");
        line(&mut text, "standard", radio.standard.name(), comment(&of_radio));
        let width = format!("{} MHz", radio.width.as_mhz());
        line(&mut text, "width", &width, comment("the largest width of the stations"));
        number(
            &mut text,
            "streams",
            radio.streams,
            comment("assumed: those of the stations, at least two"),
        );
        parameter(&mut text, "channel_busy", Parameter::Busy);
        for (number_of, name) in self.stations.iter().enumerate() {
            let (mode, source) = self.modes[number_of];
            let of_mode = comment(match source {
                ModeSource::Reported => "measured: the driver reported it",
                ModeSource::Rates => "measured: the mode whose rates were recorded",
                ModeSource::Assumed => "assumed: the device recorded no link",
            });
            let _ = writeln!(text, "\n[station.{name}]\njoins = \"home.{}\"", band.name());
            line(&mut text, "standard", mode.standard.name(), of_mode.clone());
            number(&mut text, "streams", mode.streams, of_mode);
            parameter(&mut text, "signal", Parameter::Signal(number_of));
            let quoted: Vec<String> = schedule
                .workloads(number_of)
                .iter()
                .map(|name| format!("{name:?}"))
                .collect();
            let _ = writeln!(text, "workload = [{}]", quoted.join(", "));
        }
        text.push('\n');
        text.push_str(&schedule.sections());
        text
    }
}

fn line(text: &mut String, key: &str, value: &str, comment: Option<String>) {
    write_line(text, key, &format!("\"{value}\""), comment);
}

fn number(text: &mut String, key: &str, value: u8, comment: Option<String>) {
    write_line(text, key, &value.to_string(), comment);
}

/// A key below its comment.
fn write_line(text: &mut String, key: &str, value: &str, comment: Option<String>) {
    if let Some(comment) = comment {
        let _ = writeln!(text, "# {comment}");
    }
    let _ = writeln!(text, "{key} = {value}");
}
