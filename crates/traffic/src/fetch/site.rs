//! Inspection of a URL before it is fetched repeatedly.

use super::options::Options;
use super::permission::{self, Permission};
use super::reach::{reach, trust};
use super::{FetchError, Url};
use crate::client::{Method, RequestError, Resource, Target, request};
use netburn_units::ByteSize;
use std::net::SocketAddr;
use std::time::Duration;

/// Maximum number of redirects.
pub const MAX_REDIRECTS: usize = 5;
/// Timeout of one response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum content in bytes that is read to determine a size that is not declared.
const MAX_CONTENT: usize = 16 << 20;

/// Properties of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// URL to fetch, after redirects.
    pub url: Url,
    /// Number of redirects.
    pub redirects: usize,
    /// Server and resource to request.
    pub target: Target,
    /// Size of the content, or of the upload; the basis of a rate. 16 MiB for longer content without a declared length.
    pub size: ByteSize,
    /// Permission for a load test.
    pub permission: Permission,
}

/// Resolves the host name, requests the URL once, follows redirects, and determines the permission.
///
/// # Errors
/// [`FetchError`] when there is nothing to fetch.
pub async fn find(options: &Options) -> Result<Site, FetchError> {
    let local = tokio::task::LocalSet::new();
    local.run_until(find_here(options)).await
}

async fn find_here(options: &Options) -> Result<Site, FetchError> {
    let mut url = options.url.clone();
    for redirects in 0..=MAX_REDIRECTS {
        let (target, looked) = look(&url, options).await?;
        let location = match looked.location {
            Some(location) if (300..400).contains(&looked.status) => location,
            _ => {
                // A resource for POST need not support GET.
                if options.post.is_none() && !(200..300).contains(&looked.status) {
                    return Err(FetchError::Status(url, looked.status));
                }
                let permission = permission::check(&target).await;
                let size = options.post.unwrap_or(ByteSize::from_bytes(looked.size.max(1)));
                return Ok(Site {
                    url,
                    redirects,
                    target,
                    size,
                    permission,
                });
            }
        };
        url = url
            .join(&location)
            .map_err(|error| FetchError::Redirect(url.clone(), error))?;
    }
    Err(FetchError::TooManyRedirects(url))
}

struct Looked {
    status: u16,
    location: Option<String>,
    size: u64,
}

/// Requests the URL once, from the first address of the host that answers.
async fn look(url: &Url, options: &Options) -> Result<(Target, Looked), FetchError> {
    let found = reach(url, &url.host, url.port, async |address| {
        let target = target(url, address, options);
        let looked = ask(&target, &url.path, options.post.is_some()).await?;
        Ok((target, looked))
    });
    Ok(found.await?)
}

/// Requests the head only if that is sufficient, otherwise the content as well.
async fn ask(target: &Target, path: &str, posts: bool) -> Result<Looked, RequestError> {
    let head = request(target, Method::Head, path, 0, TIMEOUT).await;
    match head {
        Ok(page)
            if posts
                || page.response.location.is_some()
                || page.response.is_success() && page.response.declared.is_some() =>
        {
            Ok(Looked {
                status: page.response.status,
                location: page.response.location,
                size: page.response.declared.unwrap_or(0),
            })
        }
        Err(error @ RequestError::Dial(_)) => Err(error),
        // Some servers do not support HEAD.
        _ => {
            let page = request(target, Method::Get, path, MAX_CONTENT, TIMEOUT).await?;
            Ok(Looked {
                status: page.response.status,
                location: page.response.location,
                size: page.response.declared.unwrap_or(page.response.content),
            })
        }
    }
}

fn target(url: &Url, address: SocketAddr, options: &Options) -> Target {
    Target {
        host: url.host.clone(),
        http: options.http,
        tls: url.secure.then(|| trust(options.insecure)),
        resource: match options.post {
            Some(size) => Resource::Post(url.path.clone(), size),
            None => Resource::Get(url.path.clone()),
        },
        ..Target::new(address)
    }
}
