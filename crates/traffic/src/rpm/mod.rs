//! `netburn rpm`: the client of a responsiveness test (draft-ietf-ippm-responsiveness-09) over HTTP/2 and TLS.
//!
//! [`find`] requests the configuration, checks it, and determines whether the server consents to load tests. [`run`]
//! drives a [`Workload`](netburn_workload::Workload) that is a responsiveness test. The [`Report`] is the result.
//!
//! - [`options`] – parameters. [`configuration`]: the server's document, which is not trusted.
//! - [`site`] – a server that was checked.
//! - `session`: the tests.
//! - [`report`] – results as text and as JSON.

pub mod configuration;
pub mod options;
pub mod report;
mod session;
pub mod site;

pub use configuration::{ConfigurationError, Urls};
pub use options::{Load, Options};
pub use report::{Report, TestReport};
pub use session::run;
pub use site::{RpmError, Site, find};
