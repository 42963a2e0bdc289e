//! Stub of nl80211 for systems other than Linux.

use std::io;

/// An nl80211 socket. It has no values on this system.
#[derive(Debug)]
pub struct Nl80211(());

/// Socket for events. It has no values on this system.
#[derive(Debug)]
pub struct Events(());

impl Nl80211 {
    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn open() -> io::Result<Nl80211> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn interfaces(&mut self) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn interface(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn stations(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn survey(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn events(&self) -> io::Result<Events> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Events {
    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn next(&mut self, _within: netburn_units::Duration) -> io::Result<Option<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
