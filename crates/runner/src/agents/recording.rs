//! Rows and quality issues of the machine that carries a run: of its lab, or of its loopback interface.

use super::access_points::AccessPoints;
use netburn_platform::Monotonic;
use netburn_platform::interface;
use netburn_platform::links::Links;
use netburn_record::{Detail, EventKind, EventRow, LabHealth, QualityIssue, Row, Sink};
use netburn_units::Instant;
use std::io;

/// The modelled network that carries a run in real time.
pub(crate) trait ModelledNetwork: Sync {
    /// Starts the network's time, whose time 0 is `zero`.
    fn start(&self, zero: Monotonic) -> Result<(), String>;

    /// Stops it. Its self-check is complete afterwards.
    fn stop(&self);

    /// Returns the rows since the last call.
    fn take_rows(&self) -> Vec<Row>;

    /// Returns the warnings for users since the last call.
    fn take_warnings(&self) -> Vec<String>;

    /// Returns the names of the nodes whose interface went down since the last call.
    fn interfaces_down(&self) -> Vec<&str>;

    /// Returns the network's time.
    fn now(&self) -> Option<Instant>;

    /// Returns notes about features that this system does not support.
    fn notes(&self) -> &[String];

    /// Returns the self-check.
    fn health(&self) -> LabHealth;

    /// Returns the error that ended the network, if any.
    fn failed(&self) -> Option<String>;
}

/// Sink that forwards rows to another one, and adds the rows of the lab and of observed access points with each sync.
pub(crate) struct RecordingSink<'a> {
    sink: &'a mut (dyn Sink + Send),
    lab: Option<&'a dyn ModelledNetwork>,
    observed: Option<&'a AccessPoints>,
    /// The loopback interface, which carries a local run. `None` if it can't be monitored.
    loopback: Option<(Links, u32)>,
    /// Reasons why the results of the run are unreliable.
    quality_issues: Vec<QualityIssue>,
}

impl<'a> RecordingSink<'a> {
    /// For a run that neither a lab nor the loopback interface carries.
    pub(crate) const fn new(sink: &'a mut (dyn Sink + Send)) -> Self {
        RecordingSink {
            sink,
            lab: None,
            observed: None,
            loopback: None,
            quality_issues: Vec::new(),
        }
    }

    /// For a run over the loopback interface.
    pub(crate) fn on_loopback(sink: &'a mut (dyn Sink + Send)) -> Self {
        let watched = || Some((Links::watch().ok()?, interface::number("lo").ok()?));
        RecordingSink {
            loopback: watched(),
            ..RecordingSink::new(sink)
        }
    }

    /// For a run during which access points are observed.
    pub(crate) fn observing(sink: &'a mut (dyn Sink + Send), observed: &'a AccessPoints) -> Self {
        RecordingSink {
            observed: Some(observed),
            ..RecordingSink::new(sink)
        }
    }

    /// For a run inside a lab.
    #[cfg(target_os = "linux")]
    pub(crate) fn in_lab(sink: &'a mut (dyn Sink + Send), lab: &'a dyn ModelledNetwork) -> Self {
        RecordingSink {
            lab: Some(lab),
            ..RecordingSink::new(sink)
        }
    }

    /// The observed access points.
    pub(crate) const fn observed(&self) -> Option<&'a AccessPoints> {
        self.observed
    }

    /// The lab that carries the run.
    pub(crate) const fn lab(&self) -> Option<&'a dyn ModelledNetwork> {
        self.lab
    }

    /// Records a quality issue for each interface of the run that another program took down. Call it before the lab is
    /// stopped, because that removes its devices.
    pub(crate) fn check_interfaces(&mut self) {
        if let Some((links, index)) = &self.loopback
            && links.went_down(*index).unwrap_or(false)
        {
            self.quality_issues.push(QualityIssue::InterfaceDown { station: None });
        }
        for name in self.lab.map(|lab| lab.interfaces_down()).unwrap_or_default() {
            let station = Some(name.to_owned());
            self.quality_issues.push(QualityIssue::InterfaceDown { station });
        }
    }

    /// Writes the remaining rows of access points and of the lab, and its self-check.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some(observed) = self.observed {
            observed.end();
        }
        self.sync()?;
        let at = self.lab.and_then(|lab| lab.now()).unwrap_or(Instant::ZERO);
        let mut put = |kind, detail: Detail| {
            self.sink.put(&Row::Event(EventRow {
                station: None,
                workload: None,
                at,
                length: 0,
                kind,
                detail,
            }))
        };
        for issue in std::mem::take(&mut self.quality_issues) {
            put(EventKind::QualityIssue, issue.into())?;
        }
        let Some(lab) = self.lab else {
            return self.sink.sync();
        };
        for note in lab.notes() {
            put(EventKind::Warning, note.clone().into())?;
        }
        put(EventKind::Lab, lab.health().into())?;
        if let Some(cause) = lab.failed() {
            put(EventKind::QualityIssue, QualityIssue::LabStopped { cause }.into())?;
        }
        self.sink.sync()
    }
}

impl Sink for RecordingSink<'_> {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.sink.put(row)
    }

    fn sync(&mut self) -> io::Result<()> {
        for row in self.lab.map(|lab| lab.take_rows()).unwrap_or_default() {
            self.sink.put(&row)?;
        }
        for row in self.observed.map(AccessPoints::take_rows).unwrap_or_default() {
            self.sink.put(&row)?;
        }
        self.sink.sync()
    }
}
