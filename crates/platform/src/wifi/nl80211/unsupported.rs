//! nl80211 on systems other than Linux: it can't be opened.

use super::recording::Kind;
use crate::wifi::Interface;
use netburn_units::Duration;
use std::io;

/// An nl80211 socket. It has no values on this system.
#[derive(Debug)]
pub enum Nl80211 {}

/// Socket for events. It has no values on this system.
#[derive(Debug)]
pub enum Events {}

impl Nl80211 {
    /// Returns an error.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported), always.
    pub fn open() -> io::Result<Nl80211> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Is never called, as all methods below.
    ///
    /// # Errors
    /// None.
    pub fn interfaces(&mut self) -> io::Result<Vec<Interface>> {
        match *self {}
    }

    pub(crate) fn interface(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        match *self {}
    }

    /// Is never called.
    pub fn sample(&mut self, _index: u32) -> Vec<(Kind, Vec<u8>)> {
        match *self {}
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn events(&self) -> io::Result<Events> {
        match *self {}
    }
}

impl Events {
    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn next(&mut self, _within: Duration) -> io::Result<Option<Vec<u8>>> {
        match *self {}
    }
}
