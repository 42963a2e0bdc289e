//! The documentation as a site: every page of `docs/` and the pages beside it as HTML, with a search.
//!
//! The site needs no server and no network. [`file()`] returns one file of it, [`paths()`] all of their paths.
//! `netburn ui` serves the site, and `netburn generate site` writes it.
//!
//! Modules, from the top:
//!
//! - `site`: the files, each made when it is asked for.
//! - `page`: a page in HTML, and its sections for the search.
//! - `anchor`: the anchors of headings.
//! - `pages`: the list of the sources, which a test writes.

mod anchor;
mod page;
mod pages;
mod site;

pub use page::PLAYGROUND;
pub use site::{File, INDEX, file, paths};
