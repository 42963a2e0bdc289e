//! A server of responsiveness tests: its configuration, checked before any load.

use super::configuration::{ConfigurationError, MAX_SIZE, Urls};
use super::options::Options;
use crate::client::tls::Handshake;
use crate::client::{Method, Page, Resource, ResponsivenessObjects, Target, request};
use crate::fetch::reach::{ReachError, reach, trust};
use crate::fetch::{Permission, Url, permission};
use netburn_scenario::plan::Http;
use netburn_workload::responsiveness::ConfigError;
use std::time::Duration;

/// Timeout of one response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of the small object that are read.
const MAX_SMALL: usize = 16;

/// A server whose configuration was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// URL of the configuration.
    pub url: Url,
    /// URLs of the test.
    pub urls: Urls,
    /// Server to connect to, and the objects of the test.
    pub target: Target,
    /// TLS handshake with the server.
    pub handshake: Handshake,
    /// Permission for a load test.
    pub permission: Permission,
}

/// Error of a responsiveness test.
#[derive(Debug, thiserror::Error)]
pub enum RpmError {
    /// The URL of the configuration has no TLS.
    #[error("{0}: found http://, expected https://")]
    Cleartext(Url),
    /// A parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] ConfigError),
    /// The host can't be reached.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The server redirects. The draft forbids this.
    #[error("{url}: found status {status}, a redirect to {location}, expected status 200")]
    Redirect {
        /// Requested URL.
        url: Url,
        /// Status.
        status: u16,
        /// Location.
        location: String,
    },
    /// The server answers with another status.
    #[error("{0}: found status {1}, expected 200")]
    Status(Url, u16),
    /// The configuration is invalid.
    #[error("{0}: {1}")]
    Configuration(Url, #[source] Box<ConfigurationError>),
    /// The small object has another length.
    #[error("{0}: found {1} bytes, expected the small object of 1 byte")]
    Small(Url, String),
    /// An operating system error on this machine.
    #[error("can't measure on this machine: {0}")]
    Machine(#[from] std::io::Error),
}

impl RpmError {
    /// Returns whether the server's certificate was rejected.
    #[must_use]
    pub fn is_certificate(&self) -> bool {
        matches!(self, RpmError::Reach(error) if error.is_certificate())
    }

    /// Returns whether the configuration has another host or port, which an option permits.
    #[must_use]
    pub fn is_other_host(&self) -> bool {
        let RpmError::Configuration(_, error) = self else {
            return false;
        };
        matches!(**error, ConfigurationError::OtherHost { .. })
    }

    /// Returns whether the input is invalid, rather than the network or the server.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, RpmError::Cleartext(_) | RpmError::Parameter(_))
    }
}

/// Requests the configuration and the small object once, checks them, and determines the permission.
///
/// # Errors
/// [`RpmError`] when no test is possible.
pub async fn find(options: &Options) -> Result<Site, RpmError> {
    options.tests()?;
    let local = tokio::task::LocalSet::new();
    local.run_until(find_here(options)).await
}

async fn find_here(options: &Options) -> Result<Site, RpmError> {
    let url = &options.url;
    if !url.secure {
        return Err(RpmError::Cleartext(url.clone()));
    }
    let (first, page) = fetch(url, &url.host, url.port, options, MAX_SIZE).await?;
    let content = checked(url, &page)?;
    if page.cut {
        return Err(RpmError::Configuration(url.clone(), ConfigurationError::TooLong.into()));
    }
    let urls = Urls::parse(content, url, options.allow_other_host)
        .map_err(|error| RpmError::Configuration(url.clone(), error.into()))?;
    let small = Url {
        host: urls.host.clone(),
        port: urls.port,
        path: urls.small.clone(),
        ..url.clone()
    };
    let (target, page) = match &urls.endpoint {
        Some((host, port)) => fetch(&small, host, *port, options, MAX_SMALL).await?,
        None if (&small.host, small.port) == (&url.host, url.port) => {
            let page = request(&first, Method::Get, &small.path, MAX_SMALL, TIMEOUT).await;
            (first, page.map_err(|error| ReachError::Request(small.clone(), error))?)
        }
        None => fetch(&small, &small.host, small.port, options, MAX_SMALL).await?,
    };
    let content = checked(&small, &page)?;
    if content.len() != 1 || page.cut {
        let more = if page.cut { "more than " } else { "" };
        return Err(RpmError::Small(small, format!("{more}{}", content.len())));
    }
    let handshake = page.handshake.expect("the site was reached over TLS");
    let permission = permission::check(&target).await;
    let objects = ResponsivenessObjects {
        authority: match urls.port {
            443 => urls.host.clone(),
            port => format!("{}:{port}", urls.host),
        },
        small: urls.small.clone(),
        large: urls.large.clone(),
        upload: urls.upload.clone(),
    };
    Ok(Site {
        url: url.clone(),
        urls,
        target: Target {
            resource: Resource::Responsiveness(Box::new(objects)),
            ..target
        },
        handshake,
        permission,
    })
}

/// Requests `url` from the first address of `host` that answers.
async fn fetch(
    url: &Url,
    host: &str,
    port: u16,
    options: &Options,
    limit: usize,
) -> Result<(Target, Page), ReachError> {
    let found = reach(url, host, port, async |address| {
        let target = Target {
            host: url.host.clone(),
            http: Http::H2,
            tls: Some(trust(options.insecure)),
            ..Target::new(address)
        };
        let page = request(&target, Method::Get, &url.path, limit, TIMEOUT).await?;
        Ok((target, page))
    });
    found.await
}

/// Returns the content of a response with status 200.
fn checked<'a>(url: &Url, page: &'a Page) -> Result<&'a [u8], RpmError> {
    let response = &page.response;
    match (response.status, &response.location) {
        (200, _) => Ok(&page.content),
        (status @ 300..400, Some(location)) => Err(RpmError::Redirect {
            url: url.clone(),
            status,
            location: location.chars().take(100).collect(),
        }),
        (status, _) => Err(RpmError::Status(url.clone(), status)),
    }
}
