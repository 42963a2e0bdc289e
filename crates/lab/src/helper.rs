//! Connection to the helper process: sends requests and receives replies and events.

mod process_events;

use crate::error::{LabError, Requirement};
use crate::init::message::{Answer, Request, decode, encode};
use netburn_lab_kernel::scm_rights;
use std::io;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use process_events::ProcessEvents;

/// Timeout of a reply. The helper creates a device within milliseconds.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Handle of the helper process.
#[derive(Debug)]
pub(crate) struct Helper {
    control: UnixStream,
    answers: Receiver<(Answer, Vec<OwnedFd>)>,
    process_events: Arc<ProcessEvents>,
    process: Child,
    reader: Option<JoinHandle<()>>,
    /// Thread that sends a ping every [`PING_INTERVAL`]. It ends when the sender is dropped.
    pulse: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Interval between pings.
const PING_INTERVAL: Duration = Duration::from_millis(250);
/// Time in which a helper that has closed its socket exits.
const EXITING: Duration = Duration::from_millis(200);
/// Time after which a helper that does not exit is killed. It may be stopped by a signal.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

impl Helper {
    /// Starts the helper with `command`. Returns the handle, whether the helper runs in a user namespace, and notes
    /// about unavailable features. `warn` is called when the helper stops responding.
    pub(crate) fn start(
        mut command: Command,
        warn: impl FnMut(String) + Send + 'static,
    ) -> Result<(Helper, bool, Vec<String>), LabError> {
        let start = |error| LabError::starting(error, LabError::Start);
        let (here, there) = scm_rights::pair().map_err(LabError::Start)?;
        let process = command
            .stdin(Stdio::from(there))
            .stdout(Stdio::null())
            .spawn()
            .map_err(start)?;
        // The command still owns the other end of the socket.
        drop(command);
        let control = UnixStream::from(here);
        let (tell, answers) = channel();
        let process_events = Arc::new(ProcessEvents::default());
        let reader = std::thread::Builder::new().name("helper".to_owned()).spawn({
            let (control, process_events) = (
                control.try_clone().map_err(LabError::Start)?,
                Arc::clone(&process_events),
            );
            move || read_loop(&control, &tell, &process_events)
        });
        let mut helper = Helper {
            control,
            answers,
            process_events,
            process,
            reader: None,
            pulse: None,
        };
        helper.reader = Some(reader.map_err(start)?);
        let (user, notes) = match helper.answer() {
            Ok((Answer::Hello(user, notes), _)) => (user, notes),
            Ok(_) => return Err(LabError::HelperExited("unexpected reply".to_owned())),
            // The helper isolates itself before any other operation.
            Err(LabError::Operation { error, .. }) => return Err(LabError::starting(error, LabError::Namespaces)),
            Err(error) => return Err(error),
        };
        let (end, ended) = channel();
        let pulse = std::thread::Builder::new().name("pulse".to_owned()).spawn({
            let control = helper.control.try_clone().map_err(LabError::Start)?;
            let process_events = Arc::clone(&helper.process_events);
            move || ping_loop(&control, &process_events, &ended, warn)
        });
        helper.pulse = Some((end, pulse.map_err(start)?));
        Ok((helper, user, notes))
    }

    /// Returns the id of the isolated process, whose namespaces other processes can enter.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn process_events(&self) -> &Arc<ProcessEvents> {
        &self.process_events
    }

    /// Sends a request and waits for its reply.
    pub(crate) fn request(
        &mut self,
        request: &Request,
        files: &[BorrowedFd<'_>],
    ) -> Result<(Answer, Vec<OwnedFd>), LabError> {
        self.send(request, files)?;
        self.answer()
    }

    /// Sends a request that has no reply.
    pub(crate) fn send(&self, request: &Request, files: &[BorrowedFd<'_>]) -> Result<(), LabError> {
        scm_rights::send(&self.control, &encode(request), files).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => LabError::Operation {
                needs: Requirement::Other,
                what: "send a request to the helper".to_owned(),
                error,
            },
            _ => LabError::HelperExited(error.to_string()),
        })
    }

    fn answer(&mut self) -> Result<(Answer, Vec<OwnedFd>), LabError> {
        match self.answers.recv_timeout(REPLY_TIMEOUT) {
            Ok((Answer::Failed(number, needs, what), _)) => {
                let error = match number {
                    0 => io::Error::other("rejected"),
                    number => io::Error::from_raw_os_error(number),
                };
                Err(LabError::Operation { needs, what, error })
            }
            Ok(answer) => Ok(answer),
            Err(_) => {
                let status = self.exit_status();
                Err(LabError::HelperExited(
                    status.unwrap_or_else(|| "no response".to_owned()),
                ))
            }
        }
    }
}

impl Helper {
    /// Returns the exit status, for which it waits a short time: the kernel closes the socket before the process ends.
    fn exit_status(&mut self) -> Option<String> {
        let began = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status.to_string()),
                Ok(None) if began.elapsed() < EXITING => std::thread::sleep(Duration::from_millis(1)),
                _ => return None,
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
        // The helper exits when its socket is closed, and with it all processes that it started.
        let _ = self.control.shutdown(Shutdown::Both);
        let began = Instant::now();
        while let Ok(None) = self.process.try_wait() {
            if began.elapsed() > EXIT_TIMEOUT {
                // The kernel kills the processes of the helper's PID namespace.
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

fn read_loop(control: &UnixStream, tell: &Sender<(Answer, Vec<OwnedFd>)>, process_events: &ProcessEvents) {
    while let Ok((bytes, files)) = scm_rights::receive(control) {
        if bytes.is_empty() {
            break;
        }
        match decode(&bytes) {
            Some(Answer::Ended(id, exit)) => {
                tracing::info!(?exit, "a program has exited");
                process_events.ended(id, exit);
            }
            Some(Answer::Stopped(id)) => {
                tracing::info!("a signal stopped a program");
                process_events.stopped(id);
            }
            Some(Answer::Continued(id)) => process_events.continued(id),
            Some(Answer::Pulse) => process_events.pulse(),
            // The request may have timed out.
            Some(answer) => drop(tell.send((answer, files))),
            None => tracing::debug!("invalid message from the helper"),
        }
    }
    process_events.over();
}

/// Sends pings to the helper until `ended` is disconnected.
fn ping_loop(control: &UnixStream, process_events: &ProcessEvents, ended: &Receiver<()>, mut warn: impl FnMut(String)) {
    let (mut waiting, mut warned) = (false, false);
    while ended.recv_timeout(PING_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if !waiting {
            process_events.asked();
            if scm_rights::send(control, &encode(&Request::Pulse), &[]).is_err() {
                return;
            }
        }
        waiting = !process_events.wait_for_pulse(PING_INTERVAL);
        if waiting && process_events.silence() >= process_events::SILENCE_THRESHOLD && !warned {
            warned = true;
            warn(
                "the lab's helper process does not respond: it is stopped or gets no processor time. Programs can't be \
                 started, and their exits are not reported"
                    .to_owned(),
            );
        }
    }
}
