//! The SSH client of a connection, with its output as messages.

use super::Client;
use netburn_deploy::ssh::{SshError, quoted};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The program that answers on the access point.
const PROGRAM: &str = include_str!("../observe.sh");
/// Most parts of output that wait. A writer that is faster than the reader has to wait.
const MAX_WAITING: usize = 16;
/// Longest kept text of the client's messages in bytes.
const MAX_COMPLAINT: usize = 4096;

/// Time for the client to end.
const END_LIMIT: Duration = Duration::from_millis(500);
/// Time for the client to print why it failed.
const COMPLAINT_LIMIT: Duration = Duration::from_secs(1);

/// A running SSH client. It ends with this value.
#[derive(Debug)]
pub(super) struct Channel {
    child: Child,
    /// `None` while it ends.
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    complaint: Arc<Mutex<Vec<u8>>>,
    errors: JoinHandle<()>,
}

/// Part of the output of a connection.
pub(super) enum Part {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Channel {
    /// Starts the client. The command is short, because some servers limit its length: it reads the program from its input.
    pub(super) fn open(client: &Client, word: &str) -> Result<Channel, SshError> {
        // Bytes are read one by one, so that the shell reads the requests behind the program.
        let read = format!("eval \"$(dd bs=1 count={} 2>/dev/null)\"", PROGRAM.len());
        let mut command = client(&format!("exec sh -c {} netburn {word}", quoted(&read)))?;
        // Messages of the client are read.
        command
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => SshError::NotInstalled,
            _ => SshError::Failed(error),
        })?;
        let input = child.stdin.take();
        let (tell, output) = sync_channel(MAX_WAITING);
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&complaint);
        std::thread::spawn(move || forward(stdout, &tell));
        let errors = std::thread::spawn(move || keep(stderr, &kept));
        Ok(Channel {
            child,
            input,
            output,
            complaint,
            errors,
        })
    }

    /// Sends the program to the shell.
    pub(super) fn send_program(&mut self) -> std::io::Result<()> {
        self.write(PROGRAM.as_bytes())
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &str) -> std::io::Result<()> {
        self.write(format!("{request}\n").as_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let Some(input) = &mut self.input else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        input.write_all(bytes)?;
        input.flush()
    }

    /// Waits for output.
    pub(super) fn receive(&mut self, limit: Duration) -> Part {
        match self.output.recv_timeout(limit) {
            Ok(bytes) => Part::Bytes(bytes),
            Err(RecvTimeoutError::Timeout) => Part::Nothing,
            Err(RecvTimeoutError::Disconnected) => Part::End,
        }
    }

    /// The messages that the client printed last. Waits a moment for their end.
    pub(super) fn messages(&mut self) -> String {
        let until = Instant::now() + COMPLAINT_LIMIT;
        while !self.errors.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let kept = self.complaint.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        String::from_utf8_lossy(&kept).into_owned()
    }
}

/// The last line of messages about a failure.
pub(super) fn complaint(messages: &str) -> Option<String> {
    let line = messages.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let plain = line.chars().filter(|c| !c.is_control());
    Some(plain.take(200).collect::<String>().trim_end_matches('.').to_owned())
}

impl Drop for Channel {
    /// The shell ends with its input, and the client with the shell.
    fn drop(&mut self) {
        self.input = None;
        let until = Instant::now() + END_LIMIT;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            // A client that waits for room in the pipe could not end.
            let _ = self.output.recv_timeout(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(mut from: impl Read, to: &SyncSender<Vec<u8>>) {
    let mut bytes = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.send(bytes[..count].to_vec()).is_err() {
            return;
        }
    }
}

/// Keeps the end of a text.
fn keep(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let mut kept = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.extend_from_slice(&bytes[..count]);
        let extra = kept.len().saturating_sub(MAX_COMPLAINT);
        kept.drain(..extra);
    }
}
