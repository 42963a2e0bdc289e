//! The helper's other side: asks it, and hears of ends.

use crate::error::LabError;
use crate::init::message::{Answer, Request};
use crate::program::Ended;
use netburn_linux::pass;
use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the helper may take for anything. Devices are made in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The helper process.
#[derive(Debug)]
pub(crate) struct Helper {
    control: UnixStream,
    answers: Receiver<(Answer, Vec<OwnedFd>)>,
    ends: Arc<Ends>,
    process: Child,
    reader: Option<JoinHandle<()>>,
}

/// What has ended, by number.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    state: Mutex<EndsState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct EndsState {
    ended: BTreeMap<u32, Ended>,
    over: bool,
}

impl Ends {
    fn lock(&self) -> MutexGuard<'_, EndsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How number `id` ended; `None` while it runs.
    pub(crate) fn of(&self, id: u32) -> Option<Ended> {
        let state = self.lock();
        let ended = state.ended.get(&id).copied();
        ended.or(state.over.then_some(Ended::WithLab))
    }

    /// Waits until number `id` has ended.
    pub(crate) fn wait(&self, id: u32) -> Ended {
        let mut state = self.lock();
        loop {
            if let Some(ended) = state.ended.get(&id) {
                return *ended;
            }
            if state.over {
                return Ended::WithLab;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Helper {
    /// Starts it, as `command`; returns it with what it says of itself: whether it is in a user namespace, and what it can't do.
    pub(crate) fn start(mut command: Command) -> Result<(Helper, bool, Vec<String>), LabError> {
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
        let ends = Arc::new(Ends::default());
        let reader = std::thread::Builder::new().name("helper".to_owned()).spawn({
            let (control, ends) = (control.try_clone().map_err(LabError::Start)?, Arc::clone(&ends));
            move || listen(&control, &tell, &ends)
        });
        let mut helper = Helper {
            control,
            answers,
            ends,
            process,
            reader: None,
        };
        helper.reader = Some(reader.map_err(LabError::Start)?);
        match helper.answer()? {
            (Answer::Hello(user, notes), _) => Ok((helper, user, notes)),
            _ => Err(LabError::Gone("it does not say hello".to_owned())),
        }
    }

    /// The process that isolated itself: its namespaces can be entered.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn ends(&self) -> &Arc<Ends> {
        &self.ends
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
        // It ends when nobody speaks to it any more, and everything that it started with it.
        let _ = self.control.shutdown(Shutdown::Both);
        let _ = self.process.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn listen(control: &UnixStream, tell: &Sender<(Answer, Vec<OwnedFd>)>, ends: &Ends) {
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
                ends.lock().ended.insert(id, how);
                ends.changed.notify_all();
            }
            // Nobody waits for it any more.
            Some(answer) => drop(tell.send((answer, files))),
            None => tracing::debug!("the lab's helper can't be understood"),
        }
    }
    ends.lock().over = true;
    ends.changed.notify_all();
}
