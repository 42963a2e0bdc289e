//! One HTTP connection at a time, dialling visible.
//!
//! - [`target`]: what is spoken to, and how.
//! - [`socket`], [`tls`], [`stream`]: a connection, in clear or over TLS. [`meter`]: what it moves.
//! - [`exchange`]: what is asked, and what is told while the answer comes.
//! - [`head`], [`h1`]: HTTP/1.1. [`h2`]: HTTP/2.
//! - `upload`: the content of uploads. [`simple`]: one question by itself.
//!
//! Everything here stays on one thread.

pub mod exchange;
#[doc(hidden)]
pub mod fuzz;
pub mod h1;
pub mod h2;
pub mod head;
pub mod meter;
pub mod simple;
pub mod socket;
pub mod stream;
pub mod target;
pub mod tls;
pub(crate) mod upload;

pub use exchange::{ExchangeError, Length, Method, Request, Response, TransferObserver};
pub use meter::{Meter, Total};
pub use simple::{Page, RequestError, request};
pub use socket::Socket;
pub use stream::Stream;
pub use target::{Resource, Target, Trust};
