//! HTTP connections with visible connection setup.
//!
//! - [`target`] – server and connection options.
//! - [`socket`], [`tls`], [`stream`]: a connection, in cleartext or over TLS. [`meter`]: counters.
//! - [`exchange`] – request, response and observer.
//! - [`head`], `incoming`, [`h1`]: HTTP/1.1. [`h2`]: HTTP/2. `interim`: interim responses of both.
//! - `upload`: content of uploads. `arrival`: what of it has arrived. [`simple`]: single requests. [`mod@post`]: a
//!   single request with content.
//!
//! All types stay on one thread.

pub(crate) mod arrival;
pub mod exchange;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod h1;
pub mod h2;
pub mod head;
pub(crate) mod incoming;
pub(crate) mod interim;
pub mod meter;
pub mod post;
pub mod simple;
pub mod socket;
pub mod stream;
pub mod target;
pub mod tls;
pub(crate) mod upload;

pub use exchange::{ExchangeError, Length, Method, Request, Response, TransferObserver};
pub use meter::{Meter, Total};
pub use post::post;
pub use simple::{Page, RequestError, request};
pub use socket::Socket;
pub use stream::Stream;
pub use target::{Resource, ResponsivenessObjects, Target, Trust};
