//! Data channels of a server: their keys, which all its sockets share.

use super::channel_offer::ChannelOffers;
use super::config::ServerConfig;
use super::random_key;
use crate::consent::fleet::FleetKey;
use netburn_webrtc::{ChannelServer, Identity, Limits, Offers};
use std::io;

/// Keys of the data channels.
pub(crate) struct Channels {
    fleet: FleetKey,
    offers: Offers,
    identity: Identity,
}

impl Channels {
    /// Creates the keys; `None` if the server echoes no datagrams, or is in no fleet.
    pub(crate) fn new(config: &ServerConfig) -> io::Result<Option<Self>> {
        let Some(fleet) = config.fleet.clone().filter(|_| config.datagrams) else {
            return Ok(None);
        };
        Ok(Some(Self {
            fleet,
            offers: Offers::new(&random_key()?),
            identity: Identity::generate().map_err(io::Error::other)?,
        }))
    }

    /// The data channels of one socket.
    pub(crate) fn server(&self) -> ChannelServer {
        ChannelServer::new(
            self.offers.clone(),
            self.identity.clone(),
            Limits::default(),
            std::time::Instant::now(),
        )
    }

    /// The offers of data channels at this UDP port.
    pub(crate) fn offers(self, port: u16) -> ChannelOffers {
        ChannelOffers {
            key: self.fleet,
            offers: self.offers,
            certificate: self.identity.fingerprint(),
            port,
        }
    }
}
