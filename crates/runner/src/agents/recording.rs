//! Rows and quality issues of the machine that carries a run: of its lab, or of its loopback interface.

use netburn_lab::Lab;
use netburn_linux::interface;
use netburn_linux::links::Links;
use netburn_record::{EventKind, EventRow, Row, Sink};
use netburn_units::Instant;
use std::io;

/// Sink that forwards rows to another one, and adds the rows of the lab with each sync.
pub(crate) struct RecordingSink<'a> {
    sink: &'a mut dyn Sink,
    lab: Option<&'a Lab>,
    /// The loopback interface, which carries a local run. `None` if it can't be monitored.
    loopback: Option<(Links, u32)>,
    /// Reasons why the results of the run are unreliable.
    quality_issues: Vec<String>,
}

impl<'a> RecordingSink<'a> {
    /// For a run that neither a lab nor the loopback interface carries.
    pub(crate) const fn new(sink: &'a mut dyn Sink) -> Self {
        RecordingSink {
            sink,
            lab: None,
            loopback: None,
            quality_issues: Vec::new(),
        }
    }

    /// For a run over the loopback interface.
    pub(crate) fn on_loopback(sink: &'a mut dyn Sink) -> Self {
        let watched = || Some((Links::watch().ok()?, interface::number("lo").ok()?));
        RecordingSink {
            loopback: watched(),
            ..RecordingSink::new(sink)
        }
    }

    /// For a run inside a lab.
    pub(crate) fn in_lab(sink: &'a mut dyn Sink, lab: &'a Lab) -> Self {
        RecordingSink {
            lab: Some(lab),
            ..RecordingSink::new(sink)
        }
    }

    /// The lab that carries the run.
    pub(crate) const fn lab(&self) -> Option<&'a Lab> {
        self.lab
    }

    /// Records a quality issue for each interface of the run that another program took down. Call it before the lab is
    /// stopped, because that removes its devices.
    pub(crate) fn check_interfaces(&mut self) {
        if let Some((links, index)) = &self.loopback
            && links.went_down(*index).unwrap_or(false)
        {
            let text = "the loopback interface was taken down during the run";
            self.quality_issues.push(text.to_owned());
        }
        for name in self.lab.map(Lab::interfaces_down).unwrap_or_default() {
            self.quality_issues
                .push(format!("the interface of {name} was taken down during the run"));
        }
    }

    /// Writes the remaining rows of the lab and its self-check.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.sync()?;
        let at = self.lab.and_then(|lab| lab.snapshots().0).unwrap_or(Instant::ZERO);
        let mut put = |kind, text| {
            self.sink.put(&Row::Event(EventRow {
                station: None,
                workload: None,
                at,
                length: 0,
                kind,
                text,
            }))
        };
        for issue in std::mem::take(&mut self.quality_issues) {
            put(EventKind::QualityIssue, issue)?;
        }
        let Some(lab) = self.lab else {
            return self.sink.sync();
        };
        for note in lab.notes() {
            put(EventKind::Warning, note.clone())?;
        }
        let health = serde_json::to_string(&lab.health()).map_err(io::Error::other)?;
        put(EventKind::Lab, health)?;
        if let Some(why) = lab.failed() {
            put(
                EventKind::QualityIssue,
                format!("the lab stopped carrying packets: {why}"),
            )?;
        }
        self.sink.sync()
    }
}

impl Sink for RecordingSink<'_> {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.sink.put(row)
    }

    fn sync(&mut self) -> io::Result<()> {
        for row in self.lab.map(Lab::take_rows).unwrap_or_default() {
            self.sink.put(&row)?;
        }
        self.sink.sync()
    }
}
