//! A round of the fleet inside a lab: its participants at the stations and at the server, the lab's rows beside theirs.

use super::screen::Screen;
use netburn_fleet::join::{INHERITED, VARIABLE};
use netburn_fleet::{Child, Join, Launcher, Phase, Watch};
use netburn_lab::{Lab, LabProcess, ProcessExit, Program, address};
use netburn_linux::links::Links;
use netburn_linux::{Monotonic, interface};
use netburn_network::Endpoint;
use netburn_record::{Environment, EventKind, EventRow, Recorder, Role, Row, Sink};
use netburn_report::sanitise::sanitise;
use netburn_units::{Duration, Instant};
use std::fs::OpenOptions;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Starts participants inside a lab: the server at its server, each agent at the station of its name.
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
        let guest = self.lab.spawn(end, program).map_err(io::Error::other)?;
        Ok(Box::new(LabChild {
            guest,
            control: Some(ours),
        }))
    }

    fn server(&self) -> Option<IpAddr> {
        Some(IpAddr::V4(address::v4(Endpoint::Server)))
    }
}

/// A participant inside a lab.
struct LabChild {
    guest: LabProcess,
    control: Option<UnixStream>,
}

impl Child for LabChild {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> Option<String> {
        self.guest.ended().map(|ended| match ended {
            ProcessExit::Status(status) => format!("exit status {status}"),
            ProcessExit::Signal(signal) => format!("killed by signal {signal}"),
            ProcessExit::LabClosed => "the lab has ended".to_owned(),
        })
    }

    fn kill(&mut self) {
        self.guest.signal(9);
        self.guest.wait();
    }

    fn control(&mut self) -> Option<UnixStream> {
        self.control.take()
    }
}

/// Lets the lab's network begin with the baseline, as soon as the round says when that is.
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
        // The first comes with the word to start, 300 ms before the first packet.
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

/// Says what went wrong in a lab since it was last said.
pub(super) fn warn(lab: &Lab, screen: &mut Screen) {
    for text in lab.take_warnings() {
        screen.warn(&format!("warning: {}", sanitise(&text)));
    }
}

/// The recorder, and with each sync what the lab has seen.
pub(super) struct RecordingSink<'a> {
    recorder: &'a mut Recorder,
    lab: Option<&'a Lab>,
    /// What carries a run on this machine, where that can be watched.
    loopback: Option<(Links, u32)>,
    /// Why no figure can be believed, as far as it is known.
    doubts: Vec<String>,
}

impl<'a> RecordingSink<'a> {
    pub(super) fn new(recorder: &'a mut Recorder, environment: Environment, lab: Option<&'a Lab>) -> Self {
        let watched = || Some((Links::watch().ok()?, interface::number("lo").ok()?));
        RecordingSink {
            recorder,
            lab,
            loopback: (environment == Environment::Local).then(watched).flatten(),
            doubts: Vec::new(),
        }
    }

    /// Looks whether an interface that carries the run went down. netburn takes none down, and no network does: what carries
    /// the run was taken away. To be called before the lab is stopped, for then its devices go.
    pub(super) fn look_at_interfaces(&mut self) {
        if let Some((links, index)) = &self.loopback
            && links.went_down(*index).unwrap_or(false)
        {
            let text = "the loopback interface was taken down during the run";
            self.doubts.push(text.to_owned());
        }
        for name in self.lab.map(Lab::interfaces_down).unwrap_or_default() {
            self.doubts
                .push(format!("the interface of {name} was taken down during the run"));
        }
    }

    /// The rest of what the lab has seen, and what it says of its own work.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.sync()?;
        let at = self.lab.and_then(|lab| lab.snapshots().0).unwrap_or(Instant::ZERO);
        let mut say = |kind, text| {
            self.recorder.put(&Row::Event(EventRow {
                station: None,
                workload: None,
                at,
                length: 0,
                kind,
                text,
            }))
        };
        for doubt in std::mem::take(&mut self.doubts) {
            say(EventKind::QualityIssue, doubt)?;
        }
        let Some(lab) = self.lab else {
            return self.recorder.sync();
        };
        for note in lab.notes() {
            say(EventKind::Warning, note.clone())?;
        }
        let health = serde_json::to_string(&lab.health()).map_err(io::Error::other)?;
        say(EventKind::Lab, health)?;
        if let Some(why) = lab.failed() {
            say(
                EventKind::QualityIssue,
                format!("the lab stopped carrying packets: {why}"),
            )?;
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
