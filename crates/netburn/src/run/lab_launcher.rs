//! A fleet run inside a lab: agents at the stations, a server, and rows of the lab in the same record.

use super::screen::Screen;
use netburn_lab::{Lab, LabProcess, ProcessExit, Program, address};
use netburn_linux::links::Links;
use netburn_linux::{Monotonic, interface};
use netburn_network::Endpoint;
use netburn_record::{Detail, Environment, EventKind, EventRow, QualityIssue, Recorder, Role, Row, Sink};
use netburn_report::sanitise::sanitise;
use netburn_run_control::join::{INHERITED, VARIABLE};
use netburn_run_control::{Child, Join, Launcher, Phase, Watch};
use netburn_units::{Duration, Instant};
use std::fs::OpenOptions;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Starts processes inside a lab: the server in the server's namespace, each agent at the station of its name.
pub(super) struct LabLauncher<'a> {
    lab: &'a Lab,
    program: PathBuf,
}

impl<'a> LabLauncher<'a> {
    pub(super) fn new(lab: &'a Lab, program: &Path) -> Self {
        LabLauncher {
            lab,
            program: program.to_owned(),
        }
    }
}

impl Launcher for LabLauncher<'_> {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        let (end, arguments) = match join.role {
            Role::Agent => (self.lab.endpoint(&join.name).map_err(io::Error::other)?, &["agent"][..]),
            Role::Server => (Endpoint::Server, &["serve", "--join"][..]),
        };
        let (ours, theirs) = UnixStream::pair()?;
        let join = Join {
            url: INHERITED.to_owned(),
            ..join.clone()
        };
        let words = arguments.iter().map(Into::into);
        let program = Program {
            arguments: std::iter::once(self.program.clone().into_os_string())
                .chain(words)
                .collect(),
            environment: vec![(VARIABLE.into(), join.to_text().into())],
            files: [
                OwnedFd::from(theirs),
                OwnedFd::from(OpenOptions::new().write(true).open("/dev/null")?),
                io::stderr().as_fd().try_clone_to_owned()?,
            ],
            own_group: true,
        };
        let process = self.lab.spawn(end, program).map_err(io::Error::other)?;
        Ok(Box::new(LabChild {
            process,
            control: Some(ours),
        }))
    }

    fn server(&self) -> Option<IpAddr> {
        Some(IpAddr::V4(address::v4(Endpoint::Server)))
    }
}

/// Process of an agent or of the server inside a lab.
struct LabChild {
    process: LabProcess,
    control: Option<UnixStream>,
}

impl Child for LabChild {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> Option<String> {
        self.process.ended().map(|ended| match ended {
            ProcessExit::Status(status) => format!("exit status {status}"),
            ProcessExit::Signal(signal) => format!("killed by signal {signal}"),
            ProcessExit::LabClosed => "the lab has ended".to_owned(),
        })
    }

    fn kill(&mut self) {
        self.process.signal(9);
        self.process.wait();
    }

    fn control(&mut self) -> Option<UnixStream> {
        self.control.take()
    }
}

/// Starts the network of the lab with the baseline of the run.
pub(super) struct LabStarter<'a> {
    screen: Screen,
    lab: Option<&'a Lab>,
    begun: bool,
    baseline: bool,
}

impl<'a> LabStarter<'a> {
    pub(super) fn new(screen: Screen, lab: Option<&'a Lab>) -> Self {
        LabStarter {
            screen,
            lab,
            begun: false,
            baseline: false,
        }
    }
}

impl Watch for LabStarter<'_> {
    fn phase(&mut self, phase: Phase, left: Duration) {
        self.baseline |= phase == Phase::Baseline;
        self.screen.phase(phase, left);
    }

    fn tick(&mut self, now: Instant) {
        // The first tick comes with the start command, 300 ms before the first packet.
        if self.baseline
            && !self.begun
            && let Some(lab) = self.lab
        {
            self.begun = true;
            let zero = Monotonic::from_nanos(Monotonic::now().as_nanos() - now.as_nanos());
            if let Err(error) = lab.start(zero) {
                self.screen.warn(&error.to_string());
            }
        }
        if let Some(lab) = self.lab {
            warn(lab, &mut self.screen);
        }
        self.screen.tick(now);
    }

    fn warn(&mut self, text: &str) {
        self.screen.warn(text);
    }
}

/// Prints the new warnings of a lab.
pub(super) fn warn(lab: &Lab, screen: &mut Screen) {
    for text in lab.take_warnings() {
        screen.warn(&format!("warning: {}", sanitise(&text)));
    }
}

/// Sink that forwards rows to the recorder, and adds the rows of the lab with each sync.
pub(super) struct RecordingSink<'a> {
    recorder: &'a mut Recorder,
    lab: Option<&'a Lab>,
    /// The loopback interface, which carries a local run. `None` if it can't be monitored.
    loopback: Option<(Links, u32)>,
    /// Reasons why the results of the run are unreliable.
    quality_issues: Vec<QualityIssue>,
}

impl<'a> RecordingSink<'a> {
    pub(super) fn new(recorder: &'a mut Recorder, environment: Environment, lab: Option<&'a Lab>) -> Self {
        let watched = || Some((Links::watch().ok()?, interface::number("lo").ok()?));
        RecordingSink {
            recorder,
            lab,
            loopback: (environment == Environment::Local).then(watched).flatten(),
            quality_issues: Vec::new(),
        }
    }

    /// Records a quality issue for each interface of the run that another program took down. Call it before the lab is
    /// stopped, because that removes its devices.
    pub(super) fn check_interfaces(&mut self) {
        if let Some((links, index)) = &self.loopback
            && links.went_down(*index).unwrap_or(false)
        {
            self.quality_issues.push(QualityIssue::InterfaceDown { station: None });
        }
        for name in self.lab.map(Lab::interfaces_down).unwrap_or_default() {
            let station = Some(name.to_owned());
            self.quality_issues.push(QualityIssue::InterfaceDown { station });
        }
    }

    /// Writes the remaining rows of the lab and its self-check.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.sync()?;
        let at = self.lab.and_then(|lab| lab.snapshots().0).unwrap_or(Instant::ZERO);
        let mut put = |kind, detail: Detail| {
            self.recorder.put(&Row::Event(EventRow {
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
            return self.recorder.sync();
        };
        for note in lab.notes() {
            put(EventKind::Warning, note.clone().into())?;
        }
        put(EventKind::Lab, lab.health().into())?;
        if let Some(cause) = lab.failed() {
            put(EventKind::QualityIssue, QualityIssue::LabStopped { cause }.into())?;
        }
        self.recorder.sync()
    }
}

impl Sink for RecordingSink<'_> {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.recorder.put(row)
    }

    fn sync(&mut self) -> io::Result<()> {
        for row in self.lab.map(Lab::take_rows).unwrap_or_default() {
            self.recorder.put(&row)?;
        }
        self.recorder.sync()
    }
}
