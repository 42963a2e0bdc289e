//! The helper's other side: asks it, and hears what it tells.

mod heard;

use crate::error::LabError;
use crate::init::message::{Answer, Request};
use crate::program::Ended;
use netburn_linux::pass;
use std::io;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use heard::Heard;

/// How long the helper may take for anything. Devices are made in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The helper process.
#[derive(Debug)]
pub(crate) struct Helper {
    control: UnixStream,
    answers: Receiver<(Answer, Vec<OwnedFd>)>,
    heard: Arc<Heard>,
    process: Child,
    reader: Option<JoinHandle<()>>,
    /// Asks every [`PULSE`] whether it is there. It ends with the other end of this.
    pulse: Option<(Sender<()>, JoinHandle<()>)>,
}

/// It is asked this often whether it is there.
const PULSE: Duration = Duration::from_millis(250);
/// It may take so long to end; then it is killed. It is stopped, or something else keeps it.
const LEAVE: Duration = Duration::from_secs(2);

impl Helper {
    /// Starts it, as `command`; returns it with what it says of itself: whether it is in a user namespace, and what it can't do.
    /// `warn` is called when it doesn't answer any more.
    pub(crate) fn start(
        mut command: Command,
        warn: impl FnMut(String) + Send + 'static,
    ) -> Result<(Helper, bool, Vec<String>), LabError> {
        let (here, there) = pass::pair().map_err(LabError::Start)?;
        let process = command
            .stdin(Stdio::from(there))
            .stdout(Stdio::null())
            .spawn()
            .map_err(LabError::Start)?;
        // The command still holds the other end.
        drop(command);
        let control = UnixStream::from(here);
        let (tell, answers) = channel();
        let heard = Arc::new(Heard::default());
        let reader = std::thread::Builder::new().name("helper".to_owned()).spawn({
            let (control, heard) = (control.try_clone().map_err(LabError::Start)?, Arc::clone(&heard));
            move || listen(&control, &tell, &heard)
        });
        let mut helper = Helper {
            control,
            answers,
            heard,
            process,
            reader: None,
            pulse: None,
        };
        helper.reader = Some(reader.map_err(LabError::Start)?);
        let (user, notes) = match helper.answer() {
            Ok((Answer::Hello(user, notes), _)) => (user, notes),
            Ok(_) => return Err(LabError::Gone("it does not say hello".to_owned())),
            // Before that it does nothing else.
            Err(LabError::Refused { error, .. }) => return Err(LabError::Namespaces(error)),
            Err(error) => return Err(error),
        };
        let (end, ended) = channel();
        let pulse = std::thread::Builder::new().name("pulse".to_owned()).spawn({
            let control = helper.control.try_clone().map_err(LabError::Start)?;
            let heard = Arc::clone(&helper.heard);
            move || watch(&control, &heard, &ended, warn)
        });
        helper.pulse = Some((end, pulse.map_err(LabError::Start)?));
        Ok((helper, user, notes))
    }

    /// The process that isolated itself: its namespaces can be entered.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn heard(&self) -> &Arc<Heard> {
        &self.heard
    }

    /// Asks for something, and waits until it is done.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        files: &[BorrowedFd<'_>],
    ) -> Result<(Answer, Vec<OwnedFd>), LabError> {
        self.tell(request, files)?;
        self.answer()
    }

    /// Asks for something that has no answer.
    pub(crate) fn tell(&self, request: &Request, files: &[BorrowedFd<'_>]) -> Result<(), LabError> {
        pass::send(&self.control, &request.write(), files).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => LabError::Refused {
                what: "say that to the helper".to_owned(),
                error,
            },
            _ => LabError::Gone(error.to_string()),
        })
    }

    fn answer(&mut self) -> Result<(Answer, Vec<OwnedFd>), LabError> {
        match self.answers.recv_timeout(PATIENCE) {
            Ok((Answer::Failed(number, what), _)) => {
                let error = match number {
                    0 => io::Error::other("it is refused"),
                    number => io::Error::from_raw_os_error(number as i32),
                };
                Err(LabError::Refused { what, error })
            }
            Ok(answer) => Ok(answer),
            Err(_) => {
                let how = match self.process.try_wait() {
                    Ok(Some(status)) => status.to_string(),
                    _ => "it does not answer".to_owned(),
                };
                Err(LabError::Gone(how))
            }
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if let Some((end, pulse)) = self.pulse.take() {
            drop(end);
            let _ = pulse.join();
        }
        // It ends when nobody speaks to it any more, and everything that it started with it.
        let _ = self.control.shutdown(Shutdown::Both);
        let began = Instant::now();
        while let Ok(None) = self.process.try_wait() {
            if began.elapsed() > LEAVE {
                // The kernel ends what it started.
                let _ = self.process.kill();
                let _ = self.process.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn listen(control: &UnixStream, tell: &Sender<(Answer, Vec<OwnedFd>)>, heard: &Heard) {
    while let Ok((bytes, files)) = pass::receive(control) {
        if bytes.is_empty() {
            break;
        }
        match Answer::read(&bytes) {
            Some(Answer::Ended(id, how)) => {
                let how = match how {
                    Ok(status) => Ended::Status(status),
                    Err(signal) => Ended::Signal(signal),
                };
                tracing::info!(?how, "a program has ended");
                heard.ended(id, how);
            }
            Some(Answer::Stopped(id)) => {
                tracing::info!("a signal stopped a program");
                heard.stopped(id);
            }
            Some(Answer::Continued(id)) => heard.continued(id),
            Some(Answer::Pulse) => heard.pulse(),
            // Nobody waits for it any more.
            Some(answer) => drop(tell.send((answer, files))),
            None => tracing::debug!("the lab's helper can't be understood"),
        }
    }
    heard.over();
}

/// Asks the helper again and again whether it is there, until `ended` says so.
fn watch(control: &UnixStream, heard: &Heard, ended: &Receiver<()>, mut warn: impl FnMut(String)) {
    let (mut waiting, mut warned) = (false, false);
    while ended.recv_timeout(PULSE) == Err(RecvTimeoutError::Timeout) {
        if !waiting {
            heard.asked();
            if pass::send(control, &Request::Pulse.write(), &[]).is_err() {
                return;
            }
        }
        waiting = !heard.wait_for_pulse(PULSE);
        if waiting && heard.silence() >= heard::SILENT && !warned {
            warned = true;
            warn(
                "the lab's helper process does not answer: it is stopped, or has no processor. Programs can't be started, and \
                 their ends are not seen"
                    .to_owned(),
            );
        }
    }
}
