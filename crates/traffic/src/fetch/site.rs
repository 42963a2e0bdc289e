//! Finding out what there is at a URL before it is fetched again and again.

use super::options::Options;
use super::permission::{self, Permission};
use super::{FetchError, Url};
use crate::client::{Method, RequestError, Resource, Target, Trust, request};
use netburn_units::ByteSize;
use std::net::SocketAddr;
use std::time::Duration;

/// So many redirects are followed, before the fetching begins.
pub const MAX_REDIRECTS: usize = 5;
/// How long one answer may take here.
const PATIENCE: Duration = Duration::from_secs(10);
/// Content without a declared length is taken up to here to find its size.
const MOST_CONTENT: usize = 16 << 20;

/// What there is at a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The URL that is fetched: where the redirects ended.
    pub url: Url,
    /// How many redirects were followed.
    pub redirects: usize,
    /// Where it is, and what is asked there.
    pub target: Target,
    /// The content's size, or what is sent; what a rate is kept by. Of content without a declared length that is
    /// longer than 16 MiB, 16 MiB.
    pub size: ByteSize,
    /// Whether it may be burned without asking.
    pub permission: Permission,
}

/// Looks up the URL's host, asks once, follows redirects, and finds out whether the server agrees.
///
/// # Errors
/// When there is nothing to fetch.
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
                // A page that takes POST needn't answer GET.
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

/// Asks once, at the first address of the host that answers.
async fn look(url: &Url, options: &Options) -> Result<(Target, Looked), FetchError> {
    let mut last = FetchError::Lookup(url.host.clone(), "no address".into());
    for address in addresses(url).await? {
        let target = target(url, address, options);
        match ask(&target, &url.path, options.post.is_some()).await {
            Ok(looked) => return Ok((target, looked)),
            Err(error) => last = FetchError::Request(url.clone(), error),
        }
    }
    Err(last)
}

/// The head alone where that says all, else the content too.
async fn ask(target: &Target, path: &str, posts: bool) -> Result<Looked, RequestError> {
    let head = request(target, Method::Head, path, 0, PATIENCE).await;
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
        // Some servers know no HEAD.
        _ => {
            let page = request(target, Method::Get, path, MOST_CONTENT, PATIENCE).await?;
            Ok(Looked {
                status: page.response.status,
                location: page.response.location,
                size: page.response.declared.unwrap_or(page.response.content),
            })
        }
    }
}

async fn addresses(url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
    let found = tokio::net::lookup_host((url.bare_host(), url.port)).await;
    let mut addresses: Vec<SocketAddr> = found
        .map_err(|error| FetchError::Lookup(url.host.clone(), error.to_string()))?
        .collect();
    addresses.dedup();
    Ok(addresses)
}

fn target(url: &Url, address: SocketAddr, options: &Options) -> Target {
    Target {
        host: url.host.clone(),
        http: options.http,
        tls: match (url.secure, options.insecure) {
            (false, _) => None,
            (true, false) => Some(Trust::SystemRoots),
            (true, true) => Some(Trust::Any),
        },
        resource: match options.post {
            Some(size) => Resource::Post(url.path.clone(), size),
            None => Resource::Get(url.path.clone()),
        },
        ..Target::new(address)
    }
}
