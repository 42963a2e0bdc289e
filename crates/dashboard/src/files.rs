//! The page: what a browser fetches, embedded.

/// One file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Its path on the server: `/runs/`, or below `/runs/page/`.
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const MODULE: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($kind:ident $path:literal $name:literal,)+) => {
        /// All files.
        pub const FILES: &[File] = &[$(File {
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("../../../web/", $name)),
        }),+];
    };
}

files! {
    HTML "/runs/" "dashboard/index.html",
    CSS "/runs/page/style.css" "dashboard/style.css",
    CSS "/runs/page/shared.css" "shared/style.css",
    SVG "/runs/page/icon.svg" "station/icon.svg",
    MODULE "/runs/page/address.js" "dashboard/address.js",
    MODULE "/runs/page/ask.js" "dashboard/ask.js",
    MODULE "/runs/page/course.js" "dashboard/course.js",
    MODULE "/runs/page/dom.js" "dashboard/dom.js",
    MODULE "/runs/page/figures.js" "dashboard/figures.js",
    MODULE "/runs/page/format.js" "shared/format.js",
    MODULE "/runs/page/list.js" "dashboard/list.js",
    MODULE "/runs/page/live.js" "dashboard/live.js",
    MODULE "/runs/page/page.js" "dashboard/page.js",
    MODULE "/runs/page/run.js" "dashboard/run.js",
    MODULE "/runs/page/theme.js" "shared/theme.js",
}

/// The file at this path.
#[must_use]
pub fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_there_is_is_served_once() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dashboard");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = match name.as_str() {
                "index.html" => "/runs/".to_owned(),
                name => format!("/runs/page/{name}"),
            };
            assert_eq!(FILES.iter().filter(|file| file.path == path).count(), 1, "{path}");
        }
    }
}
