//! State directory of a controller, which also contains its address for this user's other commands.
//!
//! Only its user can read it. It contains `token`, `runs-token`, `certificate.pem`, `key.pem` and `late/`.
//! While a controller runs, it also contains `controller.sock`, `controller.json` and a lock on
//! `controller.lock`.

use netburn_protocol::join_url::{is_token, new_token};
use netburn_record::sync_folder;
use netburn_traffic::tls::Identity;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(PathBuf);

/// Address of this user's controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerInfo {
    /// Process ID.
    pub process: u32,
    /// Unix socket, if the system has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// Loopback address, if it listens there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loopback: Option<SocketAddr>,
    /// Secret for operators.
    pub secret: String,
}

/// Error of using the state directory.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file can't be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A controller of this user is running.
    #[error("a controller of this user is already running{}", .0.as_ref().map_or(String::new(), |w| format!(": process {}", w.process)))]
    AlreadyRunning(Option<ControllerInfo>),
    /// The stored certificate is invalid.
    #[error("the certificate in {path} is invalid ({reason}); delete it to create a new one", path = path.display())]
    Certificate {
        /// Path of the certificate.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// The environment names no directory.
    #[error("no state directory: set NETBURN_STATE, XDG_STATE_HOME or HOME")]
    NoStateDirectory,
}

/// Lock that makes this process the only controller. Released when the process ends.
#[derive(Debug)]
pub struct StateLock {
    state: State,
    _lock: File,
}

impl State {
    /// Directory of this user: `fleet` in `$NETBURN_STATE`, or in `netburn` in `$XDG_STATE_HOME` or
    /// `~/.local/state`.
    ///
    /// # Errors
    /// [`StateError::NoStateDirectory`] if none of these variables nor `HOME` is set.
    pub fn for_current_user() -> Result<State, StateError> {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = || Some(set("HOME").or_else(|| set("USERPROFILE"))?.join(".local/state"));
        let netburn = set("NETBURN_STATE").or_else(|| {
            Some(
                set("XDG_STATE_HOME")
                    .filter(|path| path.is_absolute())
                    .or_else(home)?
                    .join("netburn"),
            )
        });
        Ok(State(netburn.ok_or(StateError::NoStateDirectory)?.join("fleet")))
    }

    /// Uses this directory.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> State {
        State(path.into())
    }

    /// Path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Locks the directory, creating it if necessary.
    ///
    /// # Errors
    /// [`StateError`] if a controller is running, or the directory can't be used.
    pub fn lock(&self) -> Result<StateLock, StateError> {
        netburn_platform::private_folder::create(&self.0).map_err(|source| self.fault("", source))?;
        let lock = private()
            .create(true)
            .truncate(false)
            .open(self.0.join("controller.lock"));
        let lock = lock.map_err(|source| self.fault("controller.lock", source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StateError::AlreadyRunning(self.controller_info().ok().flatten()));
            }
            Err(TryLockError::Error(source)) => return Err(self.fault("controller.lock", source)),
        }
        Ok(StateLock {
            state: self.clone(),
            _lock: lock,
        })
    }

    /// Address of this user's controller; `None` if none was started, or if it ended normally.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn controller_info(&self) -> Result<Option<ControllerInfo>, StateError> {
        let fault = |source| self.fault("controller.json", source);
        match std::fs::read(self.0.join("controller.json")) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).map_err(|e| fault(e.into()))?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fault(error)),
        }
    }

    fn fault(&self, file: &str, source: io::Error) -> StateError {
        StateError::Io {
            path: self.0.join(file),
            source,
        }
    }

    /// Writes a file that only this user can read. Creates the directory if necessary.
    ///
    /// # Errors
    /// If the directory or the file can't be written.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StateError> {
        netburn_platform::private_folder::create(&self.0).map_err(|source| self.fault(name, source))?;
        self.write(name, bytes)?;
        Ok(self.0.join(name))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StateError> {
        self.write_temp(name, bytes)?;
        self.commit_temp(name)?;
        self.sync();
        Ok(())
    }

    fn write_temp(&self, name: &str, bytes: &[u8]) -> Result<(), StateError> {
        let written = || {
            let mut file = private().create(true).truncate(true).open(self.temp_path(name))?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        written().map_err(|source| self.fault(name, source))
    }

    /// Replaces the file by the new one. Then call [`sync`](Self::sync).
    fn commit_temp(&self, name: &str) -> Result<(), StateError> {
        std::fs::rename(self.temp_path(name), self.0.join(name)).map_err(|source| self.fault(name, source))
    }

    /// Syncs the folder, so that it contains the new files after a power failure. They are in use already, so an error
    /// is only logged.
    fn sync(&self) {
        if let Err(error) = sync_folder(&self.0) {
            let folder = self.0.display();
            tracing::error!(%folder, %error, "can't be synced; after a power failure, the old token may be valid");
        }
    }

    /// Path of a new file before it replaces the old one.
    fn temp_path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.new"))
    }
}

impl StateLock {
    /// Token of the fleet: stored, or a new one.
    ///
    /// # Errors
    /// If it can't be read or created.
    pub fn token(&self) -> Result<String, StateError> {
        self.kept("token")
    }

    /// Token of the dashboard: stored, or a new one. Members do not receive it.
    ///
    /// # Errors
    /// If it can't be read or created.
    pub fn runs_token(&self) -> Result<String, StateError> {
        self.kept("runs-token")
    }

    /// Replaces both tokens. Returns the new token of the fleet and of the dashboard.
    ///
    /// # Errors
    /// If they can't be created or stored. Both old tokens then stay valid.
    pub fn new_tokens(&self) -> Result<(String, String), StateError> {
        const NAMES: [&str; 2] = ["token", "runs-token"];
        let state = &self.state;
        let old = std::fs::read(state.0.join(NAMES[0]));
        let renewed = || {
            let mut tokens = [String::new(), String::new()];
            for (name, token) in NAMES.iter().zip(&mut tokens) {
                *token = new_token().map_err(|source| state.fault(name, source))?;
                state.write_temp(name, format!("{token}\n").as_bytes())?;
            }
            state.commit_temp(NAMES[0])?;
            if let Err(error) = state.commit_temp(NAMES[1]) {
                if let Ok(Err(error)) = old.map(|old| state.write(NAMES[0], &old)) {
                    tracing::error!(%error, "the fleet's token changes at the next start");
                }
                return Err(error);
            }
            state.sync();
            let [token, runs] = tokens;
            Ok((token, runs))
        };
        renewed().inspect_err(|_| {
            for name in NAMES {
                let _ = std::fs::remove_file(state.temp_path(name));
            }
        })
    }

    fn kept(&self, name: &str) -> Result<String, StateError> {
        match std::fs::read_to_string(self.state.0.join(name)) {
            Ok(text) if is_token(text.trim()) => Ok(text.trim().to_owned()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.state.fault(name, error)),
            _ => self.renewed(name),
        }
    }

    fn renewed(&self, name: &str) -> Result<String, StateError> {
        let token = new_token().map_err(|source| self.state.fault(name, source))?;
        self.state.write(name, format!("{token}\n").as_bytes())?;
        Ok(token)
    }

    /// Certificate of the controller: stored, or a new one.
    ///
    /// # Errors
    /// If it can't be read, created or stored.
    pub fn identity(&self) -> Result<Identity, StateError> {
        let (chain, key) = (self.state.0.join("certificate.pem"), self.state.0.join("key.pem"));
        let unfit = |error: &dyn std::fmt::Display| StateError::Certificate {
            path: chain.clone(),
            reason: error.to_string(),
        };
        if !chain.exists() {
            let made = Identity::generate_pem(&["netburn".to_owned()]).map_err(|e| unfit(&e))?;
            // The certificate is written last, so its presence implies the key.
            self.state.write("key.pem", made.1.as_bytes())?;
            self.state.write("certificate.pem", made.0.as_bytes())?;
        }
        Identity::from_pem_files(&chain, &key).map_err(|e| unfit(&e))
    }

    /// Path of the Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.state.0.join("controller.sock")
    }

    /// Writes the controller's address for this user's other commands.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn announce(&self, controller_info: &ControllerInfo) -> Result<(), StateError> {
        let text = serde_json::to_vec(controller_info).expect("plain fields become JSON");
        self.state.write("controller.json", &text)
    }

    /// The state directory.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // A command that reads the file before its removal finds no listener, with the same result.
        let _ = std::fs::remove_file(self.state.0.join("controller.json"));
        let _ = std::fs::remove_file(self.socket());
    }
}

/// Options for files that only their user can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_certificate_live_on() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::new(dir.path().join("deep/fleet"));
        let (token, fingerprint) = {
            let lock = state.lock().unwrap();
            (lock.token().unwrap(), lock.identity().unwrap().fingerprint())
        };
        let lock = state.lock().unwrap();
        assert_eq!(lock.token().unwrap(), token);
        assert_eq!(lock.identity().unwrap().fingerprint(), fingerprint);
        let runs = lock.runs_token().unwrap();
        assert_ne!(runs, token);
        let new = lock.new_tokens().unwrap();
        assert!(new.0 != token && new.1 != runs && new.0 != new.1);
        assert_eq!((lock.token().unwrap(), lock.runs_token().unwrap()), new);
    }

    #[test]
    fn both_tokens_are_replaced_or_neither() {
        for (full, other) in [("token", "runs-token"), ("runs-token", "token")] {
            let dir = tempfile::tempdir().unwrap();
            let lock = State::new(dir.path()).lock().unwrap();
            lock.token().unwrap();
            lock.runs_token().unwrap();
            let kept = std::fs::read(dir.path().join(other)).unwrap();
            // A directory that is not empty can't be replaced by a file, even by root.
            std::fs::remove_file(dir.path().join(full)).unwrap();
            std::fs::create_dir_all(dir.path().join(full).join("full")).unwrap();
            let said = lock.new_tokens().unwrap_err().to_string();
            assert!(said.contains(&dir.path().join(full).display().to_string()), "{said}");
            assert_eq!(std::fs::read(dir.path().join(other)).unwrap(), kept, "{full}");
            let new = |name: &str| lock.state().temp_path(name).exists();
            assert!(!new(full) && !new(other), "no leftover secrets");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_state() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = State::new(dir.path().join("fleet"));
        let lock = state.lock().unwrap();
        lock.token().unwrap();
        lock.identity().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(state.path()), 0o700);
        for file in ["token", "key.pem", "certificate.pem"] {
            assert_eq!(mode(&state.path().join(file)), 0o600, "{file}");
        }
    }

    #[test]
    fn a_second_controller_is_rejected_with_the_process_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::new(dir.path());
        let lock = state.lock().unwrap();
        assert_eq!(state.controller_info().unwrap(), None);
        let controller_info = ControllerInfo {
            process: 77,
            socket: None,
            loopback: Some("127.0.0.1:4484".parse().unwrap()),
            secret: "s".to_owned(),
        };
        lock.announce(&controller_info).unwrap();
        assert_eq!(state.controller_info().unwrap(), Some(controller_info));
        let error = state.lock().unwrap_err().to_string();
        assert_eq!(error, "a controller of this user is already running: process 77");
        drop(lock);
        assert_eq!(state.controller_info().unwrap(), None);
        state.lock().unwrap();
    }
}
