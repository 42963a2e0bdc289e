//! Systems without nl80211.

use std::io;

/// A conversation with nl80211, which only Linux has.
#[derive(Debug)]
pub struct Nl80211(());

/// Events of nl80211, which only Linux has.
#[derive(Debug)]
pub struct Events(());

impl Nl80211 {
    /// Opens it.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn open() -> io::Result<Nl80211> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Every Wi-Fi interface.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn interfaces(&mut self) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// One interface.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn interface(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The stations that an interface sees.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn stations(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The channels that an interface has surveyed.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn survey(&mut self, _index: u32) -> io::Result<Vec<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A second conversation, in which the kernel tells what happens.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn events(&self) -> io::Result<Events> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Events {
    /// The next datagram.
    ///
    /// # Errors
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn next(&mut self, _within: netburn_units::Duration) -> io::Result<Option<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
